"""The rules of validation, one by one; the laws over generated types are in test_laws."""

from pathlib import Path
from typing import Any

import pytest

from extensor.contract import Unknown
from extensor.types import (
    AnyType,
    ArrayType,
    DiscriminatedObjectType,
    Flag,
    IntegerType,
    ObjectType,
    Property,
    StringLiteralType,
    StringType,
    TypeIndex,
    UnionType,
)
from extensor.types.validate import validate

R, RO, WO, ID = Flag.REQUIRED, Flag.READ_ONLY, Flag.WRITE_ONLY, Flag.IDENTIFIER


def thing(**properties: Property) -> ObjectType:
    return ObjectType("thing", properties)


NOTE = thing(
    name=Property(StringType(), R | ID),
    text=Property(StringType(min_length=2), R),
    words=Property(IntegerType(), RO),
    password=Property(StringType(sensitive=True), WO),
    colour=Property(UnionType([StringLiteralType("red"), StringLiteralType("blue")])),
)


def told(body: Any, type_: Any = NOTE, purpose: Any = "save") -> list[tuple[str | None, str]]:
    return [(fault.path, str(fault.code)) for fault in validate(body, type_, purpose=purpose)]


def test_all_faults_are_found_at_once_in_the_order_of_the_document() -> None:
    assert told({"nme": 1, "words": 2, "colour": "rde", "text": ""}) == [
        ("$.properties.nme", "UnknownProperty"),
        ("$.properties.words", "ReadOnlyProperty"),
        ("$.properties.colour", "InvalidProperty"),
        ("$.properties.text", "InvalidProperty"),
        ("$.properties.name", "MissingProperty"),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"Name": 1}, "did you mean 'name'"),
        ({"passwrd": 1}, "did you mean 'password'"),
        ({"colour": "Red"}, "expected one of 'red', 'blue'; did you mean 'red'"),
        ({"text": 1.5}, "expected a text, got a number with a fraction"),
        ({"text": None}, "null is not allowed here"),
        ({"text": "x"}, "at least 2 characters"),
    ],
)
def test_a_message_tells_what_was_meant(body: Any, message: str) -> None:
    assert message in validate({"name": "a", "text": "xx", **body}, NOTE, purpose="save")[0].message


def test_names_are_exact() -> None:
    assert told({"Name": "a", "text": "xx"}) == [
        ("$.properties.Name", "UnknownProperty"),
        ("$.properties.name", "MissingProperty"),
    ]


def test_null_stands_for_a_property_that_is_not_given() -> None:
    assert told({"name": "a", "text": "xx", "words": None, "password": None, "colour": None}) == []
    assert told({"name": None, "text": "xx"}) == [("$.properties.name", "InvalidProperty")]


@pytest.mark.parametrize("purpose", ["get", "delete"])
def test_get_and_delete_ask_for_the_identifiers_alone(purpose: Any) -> None:
    assert told({"name": "a", "text": 1, "words": 2, "nonsense": {}}, purpose=purpose) == []
    assert told({"text": 1}, purpose=purpose) == [("$.properties.name", "MissingProperty")]
    assert told({"name": 1}, purpose=purpose) == [("$.properties.name", "InvalidProperty")]
    assert told({"name": "a", "x": [{"y": Unknown()}]}, purpose=purpose) == [
        ("$.properties.x[0].y", "UnknownValueNotAllowed")
    ]


def test_kubernetes_is_asked_for_the_name_in_the_metadata_only(shared: Path) -> None:
    pod = TypeIndex.read_directory(shared / "data/types/kubernetes/v1.33.0").resource("core/Pod@v1")
    assert told({"metadata": {"name": "a", "labels": 3}, "spec": 4}, pod, "get") == []
    assert told({"metadata": {}}, pod, "get") == [("$.properties.metadata.name", "MissingProperty")]
    assert told({"metadata": {"name": "a", "namespace": 1}}, pod, "get") == [
        ("$.properties.metadata.namespace", "InvalidProperty")
    ]
    assert told({}, pod, "get") == [("$.properties.metadata", "MissingProperty")]
    container = {"name": "c", "image": "nginx", "ports": [{"containerPort": 80}, {"containerPort": "x"}]}
    assert told({"metadata": {"name": "a"}, "spec": {"containers": [container]}}, pod) == [
        ("$.properties.spec.containers[0].ports[1].containerPort", "InvalidProperty")
    ]


def test_a_result_shows_read_only_properties_and_no_write_only_ones() -> None:
    body = {"name": "a", "text": "xx", "words": 3}
    assert told(body, purpose="result") == []
    assert told({**body, "password": "p"}, purpose="result") == [("$.properties.password", "InvalidProperty")]
    assert told({**body, "words": "3"}, purpose="result") == [("$.properties.words", "InvalidProperty")]


def test_unknown_values_stand_in_previews_only() -> None:
    body = {"name": Unknown(), "text": "xx"}
    for purpose in ("save", "get", "delete", "config", "result"):
        assert told(body, purpose=purpose) == [("$.properties.name", "UnknownValueNotAllowed")]
    for purpose in ("preview_save", "preview_config", "preview_result"):
        assert told(body, purpose=purpose) == []


SIGN_IN = DiscriminatedObjectType(
    "signIn",
    "method",
    {"tenant": Property(StringType(), R)},
    {
        "password": thing(user=Property(StringType(), R), password=Property(StringType(sensitive=True), R)),
        "certificate": thing(thumbprint=Property(StringType(), R)),
    },
)


@pytest.mark.reported("T23")
def test_a_wrong_variant_is_told_at_the_property() -> None:
    def config(body: Any, purpose: Any = "config") -> list[tuple[str | None, str]]:
        return [
            (fault.path, fault.message) for fault in validate(body, SIGN_IN, purpose=purpose, path=("import", "config"))
        ]

    assert config({"method": "certificate", "tenant": "t", "thumbprint": "x"}) == []
    assert config({"method": "certificate", "tenant": "t", "thumbprint": "x", "password": "p"}) == [
        ("$.import.config.password", "there is no such property in this variant; it belongs to 'password'")
    ]
    assert config({"method": "passwrd", "tenant": "t", "user": "u"}) == [
        ("$.import.config.method", "expected one of 'password', 'certificate'; did you mean 'password'?")
    ]
    assert config({"user": "u"}) == [
        ("$.import.config.method", "is required: one of 'password', 'certificate'"),
        ("$.import.config.tenant", "is required"),
    ]
    assert config({"method": Unknown(), "tenant": 3, "user": Unknown()}, "preview_config") == [
        ("$.import.config.tenant", "expected a text, got a number")
    ]


def test_additional_properties_are_checked_and_named_ones_keep_their_own_rules() -> None:
    open_ = ObjectType("o", {"a": Property(IntegerType()), "b": Property(StringType(), RO)}, StringType())
    assert told({"a": 1, "x": "y", "z": None}, open_) == []
    assert told({"a": "1", "b": "x", "c": 1}, open_) == [
        ("$.properties.a", "InvalidProperty"),
        ("$.properties.b", "ReadOnlyProperty"),
        ("$.properties.c", "InvalidProperty"),
    ]


def test_a_union_tells_about_the_element_of_the_values_kind() -> None:
    union = thing(p=Property(UnionType([StringType(), thing(a=Property(IntegerType(), R))])))
    assert told({"p": {"a": "x"}}, union) == [("$.properties.p.a", "InvalidProperty")]
    assert validate({"p": 3}, union, purpose="save")[0].message == "expected a text or an object, got a number"


def test_a_type_that_holds_itself_checks_to_any_depth_and_says_when_it_is_too_deep() -> None:
    node = thing(value=Property(IntegerType()))
    node.properties["next"] = Property(node)
    body: dict[str, Any] = {"value": "x"}
    for _ in range(100):
        body = {"next": body}
    assert told(body, node) == [("$.properties" + ".next" * 100 + ".value", "InvalidProperty")]
    for _ in range(100_000):
        body = {"next": body}
    assert told(body, node) == [("$.properties", "InvalidProperty")]
    while body:  # taken apart by hand: dropping it at once would recurse in the interpreter
        body = body.get("next", {})


def test_a_pattern_that_python_cannot_read_is_left_to_the_provider() -> None:
    assert told({"p": "x"}, thing(p=Property(StringType(pattern="(?<n>a)(?'m'b)")))) == []


def test_the_body_itself_must_be_an_object() -> None:
    for body in ([], None, "x", 3):
        assert told(body) == [("$.properties", "InvalidProperty")]
    assert told({"p": [{"q": Unknown()}]}, thing(p=Property(ArrayType(AnyType())))) == [
        ("$.properties.p[0].q", "UnknownValueNotAllowed")
    ]
