"""Which properties name a resource, which are hidden, which are left out."""

from pathlib import Path

import pytest

from extensor.contract import Unknown
from extensor.types import (
    AnyType,
    ArrayType,
    DiscriminatedObjectType,
    Flag,
    ObjectType,
    Property,
    StringType,
    TypeIndex,
    UnionType,
    shape_of,
)

SECRET = StringType(sensitive=True)
USER = ObjectType(
    "user",
    {
        "name": Property(StringType(), Flag.REQUIRED | Flag.IDENTIFIER),
        "password": Property(SECRET, Flag.WRITE_ONLY),
        "id": Property(StringType(), Flag.READ_ONLY),
        "since": Property(StringType(), immutable=True),
        "seen": Property(StringType(), Flag.READ_ONLY, calculated=True),
        "home": Property(ObjectType("home", {"key": Property(SECRET), "uid": Property(StringType(), Flag.READ_ONLY)})),
        "keys": Property(ArrayType(ObjectType("key", {"value": Property(SECRET, Flag.WRITE_ONLY)}))),
        "vault": Property(ObjectType("vault", {}, AnyType(), sensitive=True)),
        "either": Property(UnionType([ArrayType(SECRET), ObjectType("e", {}, SECRET)])),
    },
)


def test_the_facts_about_a_type_are_listed_by_path() -> None:
    shape = shape_of(USER)
    assert shape.identifiers == (("name",),)
    assert shape.read_only == (("id",), ("seen",), ("home", "uid"))
    assert shape.write_only == (("password",),)
    assert shape.immutable == (("since",),)
    assert shape.calculated == (("seen",),)
    assert shape.secret == (("password",), ("home", "key"), ("vault",))
    assert shape_of(USER) is shape


def test_secrets_are_masked_wherever_the_type_knows_them_and_the_body_is_left_alone() -> None:
    unknown = Unknown()
    body = {
        "name": "a",
        "password": "p",
        "home": {"key": "k", "uid": "u"},
        "keys": [{"value": "v"}, {"value": None}, {"value": unknown}],
        "vault": {"x": [1]},
        "either": {"a": "s"},
        "stray": "t",
    }
    masked = shape_of(USER).mask(body)
    assert masked["keys"][2]["value"] is unknown
    masked["keys"].pop()
    assert masked == {
        "name": "a",
        "password": "***",
        "home": {"key": "***", "uid": "u"},
        "keys": [{"value": "***"}, {"value": None}],
        "vault": "***",
        "either": {"a": "***"},
        "stray": "t",
    }
    assert shape_of(USER).secrets_in(body) == ["p", "k", "v", {"x": [1]}, "s"]
    assert body["password"] == "p"
    assert shape_of(USER).mask({"either": ["s"]}) == {"either": ["***"]}


def test_what_only_goes_in_or_only_comes_out_is_left_out() -> None:
    body = {"name": "a", "password": "p", "id": "i", "home": {"key": "k", "uid": "u"}, "keys": [{"value": "v"}]}
    assert shape_of(USER).without_write_only(body) == {
        "name": "a",
        "id": "i",
        "home": {"key": "k", "uid": "u"},
        "keys": [{}],
    }
    assert shape_of(USER).without_read_only(body) == {
        "name": "a",
        "password": "p",
        "home": {"key": "k"},
        "keys": [{"value": "v"}],
    }


def test_kubernetes_resources_are_named_inside_their_metadata(shared: Path) -> None:
    shape = shape_of(TypeIndex.read_directory(shared / "data/types/kubernetes/v1.33.0").resource("apps/Deployment@v1"))
    assert shape.identifiers == (("metadata", "name"), ("metadata", "namespace"))
    assert shape.required_identifiers == (("metadata", "name"),)
    body = {"metadata": {"name": "a", "labels": {}}, "spec": {"template": {"metadata": {"name": "b"}}}}
    assert shape.identifiers_of(body) == {"metadata": {"name": "a"}}
    other = {"spec": {}, "metadata": {"namespace": None, "name": "a"}}
    assert shape.identity_of(body) == shape.identity_of(other)
    assert shape.identity_of({"metadata": {"namespace": "x", "name": "a"}}) == shape.identity_of(
        {"metadata": {"name": "a", "namespace": "x"}}
    )


def test_an_object_without_identifiers_of_its_own_names_as_a_whole(shared: Path) -> None:
    shape = shape_of(TypeIndex.read_directory(shared / "data/types/baselines/foo").resource("foo@v1"))
    assert shape.identifiers == (("jkl",),)
    assert shape.identifiers_of({"jkl": {"a": 1}, "abc": "x"}) == {"jkl": {"a": 1}}


@pytest.mark.parametrize("kind", ["password", "key", None])
def test_secrets_in_variants_are_masked_even_while_the_variant_is_unknown(kind: str | None) -> None:
    config = DiscriminatedObjectType(
        "c",
        "kind",
        {"user": Property(StringType())},
        {
            "password": ObjectType("p", {"secret": Property(SECRET)}),
            "key": ObjectType("k", {"secret": Property(SECRET), "file": Property(StringType())}),
        },
    )
    body = {"user": "u", "secret": "s"} if kind is None else {"kind": kind, "user": "u", "secret": "s"}
    assert shape_of(config).mask(body) == {**body, "secret": "***"}


def test_a_type_that_holds_itself_has_a_shape() -> None:
    node = ObjectType("node", {"secret": Property(SECRET), "name": Property(StringType(), Flag.IDENTIFIER)})
    node.properties["next"] = Property(node, Flag.IDENTIFIER)
    shape = shape_of(node)
    assert shape.identifiers[0] == ("name",)
    assert shape.mask({"next": {"next": {"secret": "s"}}}) == {"next": {"next": {"secret": "***"}}}
