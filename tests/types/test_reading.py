"""Reading packages of types, whole, old, foreign and broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extensor.errors import OperationFailed, TypesError
from extensor.types import (
    AnyType,
    ArrayType,
    BooleanType,
    DiscriminatedObjectType,
    Flag,
    IntegerType,
    NullType,
    ObjectType,
    StringLiteralType,
    StringType,
    TypeIndex,
    UnionType,
    same_type,
)

PACKAGES = ["baselines/foo", "baselines/http", "kubernetes/v1.33.0", "microsoftgraph/v1.0"]


def index_with(types: list[Any], resources: dict[str, Any] | None = None, **rest: Any) -> TypeIndex:
    resources = {"a@1": {"$ref": "types.json#/0"}} if resources is None else resources
    return TypeIndex.from_files(json.dumps({"resources": resources, **rest}), {"types.json": json.dumps(types)})


def resource(body: int = 1, **rest: Any) -> dict[str, Any]:
    return {"$type": "ResourceType", "name": "a@1", "body": {"$ref": f"#/{body}"}, **rest}


EMPTY = {"$type": "ObjectType", "name": "a", "properties": {}}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_was_read_and_written_reads_the_same(shared: Path, package: str) -> None:
    read = TypeIndex.read_directory(shared / "data/types" / package)
    read.check()
    written = read.write()
    again = TypeIndex.from_files(*written)

    assert set(again.resources) == set(read.resources)
    assert all(same_type(read.resources[name], again.resources[name]) for name in read.resources)
    assert again.settings == read.settings
    for one, other in ((read.config_type, again.config_type), (read.fallback, again.fallback)):
        assert one is other is None or (one is not None and other is not None and same_type(one, other))
    assert len(again.namespace_functions) == len(read.namespace_functions)
    assert all(map(same_type, again.namespace_functions, read.namespace_functions))
    assert again.write() == written


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_of_a_foreign_package_is_lost(shared: Path, package: str) -> None:
    """Each resource's types, unfolded side by side as JSON, are what the files say."""
    folder = shared / "data/types" / package
    index_text = (folder / "index.json").read_text()
    ours, files = TypeIndex.read_directory(folder).write()
    theirs = _Files({path: (folder / path).read_text() for path in _paths(json.loads(index_text))})
    written, mine_by_name = _Files(files), json.loads(ours)["resources"]

    for name, ref in json.loads(index_text)["resources"].items():
        mine = mine_by_name[name]
        assert _differences(theirs, ref["$ref"], written, mine["$ref"]) == []


def _paths(index: Any) -> set[str]:
    text = json.dumps(index)
    return {part.split('"')[-1] for part in text.split("#/") if part.endswith("types.json")}


class _Files(dict[str, list[Any]]):
    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__({path: json.loads(text) for path, text in texts.items()})


def _differences(left: _Files, left_ref: str, right: _Files, right_ref: str) -> list[str]:
    found: list[str] = []
    seen: set[tuple[str, str]] = set()
    waiting = [(left_ref, right_ref)]

    def look(one: Any, other: Any, here: tuple[str, str], place: str) -> None:
        if isinstance(one, dict) and isinstance(one.get("$ref"), str):
            pair = tuple(
                ref if not ref.startswith("#") else file.split("#")[0] + ref
                for ref, file in zip((one["$ref"], other["$ref"]), here, strict=True)
            )
            waiting.append(pair)  # type: ignore[arg-type]
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.get("$type") == "ResourceType":
                scopes = ("scopeType", "flags", "readOnlyScopes", "readableScopes", "writableScopes")
                one, other = ({k: v for k, v in item.items() if k not in scopes} for item in (one, other))
            if one.keys() != other.keys():
                found.append(f"{place}: {one.keys() ^ other.keys()}")
            for key in one.keys() & other.keys():
                look(one[key], other[key], here, f"{place}/{key}")
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for n, (a, b) in enumerate(zip(one, other, strict=True)):
                look(a, b, here, f"{place}/{n}")
        elif one != other:
            found.append(f"{place}: {one!r} {other!r}")

    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        (lf, ln), (rf, rn) = (ref.split("#/") for ref in pair)
        look(left[lf][int(ln)], right[rf][int(rn)], pair, pair[0])
    return found


def test_kubernetes_names_a_resource_by_its_metadata(shared: Path) -> None:
    index = TypeIndex.read_directory(shared / "data/types/kubernetes/v1.33.0")
    assert len(index.resources) == 81
    assert index.settings is not None
    assert (index.settings.name, index.settings.version, index.settings.is_singleton) == ("Kubernetes", "1.33.0", True)
    assert isinstance(index.config_type, DiscriminatedObjectType)
    assert list(index.config_type.variants) == ["Managed", "Custom"]
    assert set(index.config_type.variants["Custom"].properties) == {"namespace", "context", "clusterType", "kubeconfig"}
    fallback = index.resource("example.com/Widget@v1")
    assert fallback.name == "example.com/Widget@v1"
    assert fallback.body is index.resource("example.com/Gadget@v2").body


def test_a_types_file_is_read_when_a_type_in_it_is_asked_for(shared: Path) -> None:
    folder = shared / "data/types/kubernetes/v1.33.0"
    read: list[str] = []

    def reader(path: str) -> str:
        read.append(path)
        return (folder / path).read_text()

    index = TypeIndex.read((folder / "index.json").read_text(), reader)
    assert read == []
    first = index.resource("apps/Deployment@v1")
    assert index.resource("APPS/deployment@v1") is first
    assert index.resource("kubernetes:apps/Deployment@v1") is first
    assert read == ["apps/v1/types.json"]


def test_versions_are_exact_and_the_near_ones_are_told() -> None:
    index = index_with([resource(), EMPTY], settings={"name": "x", "version": "1.0.0"})
    for asked, told in (("a@2", "there is a@1"), ("b@1", "did you mean a@1"), ("nonsense", "name@version")):
        with pytest.raises(OperationFailed, match=told) as caught:
            index.resource(asked)
        assert caught.value.failure.code == "UnknownResourceType"
        assert caught.value.failure.faults[0].path == "$.type"


@pytest.mark.parametrize(
    ("fields", "readable", "writable"),
    [
        ({"readableScopes": 0, "writableScopes": 0}, (0, True), (0, True)),
        ({"readableScopes": 8, "writableScopes": 0}, (8, True), (0, False)),
        ({"readableScopes": 0, "writableScopes": 8}, (0, False), (8, True)),
        ({"scopeType": 0, "flags": 0}, (31, True), (31, True)),
        ({"scopeType": 8}, (8, True), (8, True)),
        ({"scopeType": 8, "readOnlyScopes": 4, "flags": 0}, (12, True), (8, True)),
        ({"scopeType": 8, "flags": 1}, (8, True), (0, False)),
        ({}, (31, True), (31, True)),
    ],
)
def test_old_and_new_scope_fields_say_where_a_type_can_be_read_and_written(
    fields: dict[str, int], readable: tuple[int, bool], writable: tuple[int, bool]
) -> None:
    found = index_with([resource(**fields), EMPTY]).resource("a@1")
    assert (found.readable_scopes, found.readable) == readable
    assert (found.writable_scopes, found.writable) == writable


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((1, "Any"), AnyType),
        ((2, "Null"), NullType),
        ((3, "Bool"), BooleanType),
        ((4, "Int"), IntegerType),
        ((5, "String"), StringType),
        ((6, "Object"), ObjectType),
        ((7, "Array"), ArrayType),
        ((8, "ResourceRef"), StringType),
    ],
)
def test_built_in_types_are_understood_as_number_and_as_go_writes_them(kinds: tuple[Any, ...], expected: type) -> None:
    for kind in kinds:
        body = {"$type": "ObjectType", "properties": {"p": {"type": {"$ref": "#/2"}, "flags": 0}}}
        index = index_with([resource(), body, {"$type": "BuiltInType", "kind": kind}])
        assert isinstance(index.resource("a@1").body, ObjectType)
        assert type(index.resource("a@1").body.properties["p"].type) is expected  # type: ignore[union-attr]


def test_what_the_go_writer_does_differently_is_read() -> None:
    function = {
        "$type": "ResourceFunctionType",
        "name": "f",
        "resourceType": "a",
        "apiVersion": "1",
        "output": {"$ref": "#/1"},
    }
    body = {"$type": "ObjectType", "properties": {"p": {"type": {"$ref": "#/3"}}}}
    index = index_with(
        [resource(), body, function, {"$type": "StringLiteralType", "value": "v", "sensitive": True}],
        resourceFunctions={"a": {"1": {"f": {"$ref": "types.json#/2"}}}},
    )
    assert [item.name for item in index.resource_functions["a"]["1"]] == ["f"]
    found = index.resource("a@1").body
    assert isinstance(found, ObjectType)
    assert found.name == ""
    assert found.properties["p"].flags == Flag.NONE
    again = TypeIndex.from_files(*index.write())
    assert same_type(again.resource_functions["a"]["1"][0], index.resource_functions["a"]["1"][0])


def test_references_may_cross_files_and_form_cycles() -> None:
    one = {**EMPTY, "properties": {"b": {"type": {"$ref": "sub/b.json#/0"}, "flags": 0}}}
    other = {**EMPTY, "name": "b", "properties": {"a": {"type": {"$ref": "a.json#/1"}, "flags": 0}}}
    files = {"a.json": json.dumps([resource(), one]), "sub/b.json": json.dumps([other])}
    index = TypeIndex.from_files(json.dumps({"resources": {"a@1": {"$ref": "./a.json#/0"}}}), files)
    first = index.resource("a@1").body
    assert isinstance(first, ObjectType)
    second = first.properties["b"].type
    assert isinstance(second, ObjectType)
    assert second.properties["a"].type is first
    again = TypeIndex.from_files(*index.write()).resource("a@1")
    assert same_type(again, index.resource("a@1"))


def test_a_chain_of_types_may_be_longer_than_the_stack_is_deep() -> None:
    chain = [{"$type": "ArrayType", "itemType": {"$ref": f"#/{n + 3}"}} for n in range(5000)]
    body = {**EMPTY, "properties": {"p": {"type": {"$ref": "#/2"}, "flags": 0}}}
    index = index_with([resource(), body, *chain, {"$type": "StringType"}])
    index.check()
    assert same_type(TypeIndex.from_files(*index.write()).resource("a@1"), index.resource("a@1"))


def test_variants_hold_the_base_properties_unless_they_have_their_own() -> None:
    def prop(n: int, flags: int = 0) -> dict[str, Any]:
        return {"type": {"$ref": f"#/{n}"}, "flags": flags}

    types = [
        resource(),
        {
            "$type": "DiscriminatedObjectType",
            "name": "d",
            "discriminator": "kind",
            "baseProperties": {"Size": prop(3), "text": prop(3)},
            "elements": {"one": {"$ref": "#/2"}},
        },
        {**EMPTY, "properties": {"size": prop(4, 1)}},
        {"$type": "StringType"},
        {"$type": "IntegerType"},
    ]
    found = index_with(types).resource("a@1").body
    assert isinstance(found, DiscriminatedObjectType)
    one = found.variants["one"].properties
    assert set(one) == {"text", "size", "kind"}
    assert isinstance(one["kind"].type, StringLiteralType)
    assert one["kind"].required


def test_the_last_words_of_a_description_are_marks() -> None:
    body = {
        **EMPTY,
        "properties": {
            "a": {"type": {"$ref": "#/2"}, "flags": 0, "description": "Where it is. (immutable)"},
            "b": {"type": {"$ref": "#/2"}, "flags": 2, "description": "(calculated) (immutable)"},
            "c": {"type": {"$ref": "#/2"}, "flags": 0, "description": "Not (immutable) at all"},
        },
    }
    found = index_with([resource(), body, {"$type": "StringType"}]).resource("a@1").body
    assert isinstance(found, ObjectType)
    assert [(p.description, p.immutable, p.calculated) for p in found.properties.values()] == [
        ("Where it is.", True, False),
        (None, True, True),
        ("Not (immutable) at all", False, False),
    ]


def _index(**change: Any) -> Callable[[], TypeIndex]:
    return lambda: index_with([resource(), EMPTY], **change)


def _types(*types: Any) -> Callable[[], TypeIndex]:
    return lambda: index_with([resource(), *types])


def _with(item: dict[str, Any]) -> Callable[[], TypeIndex]:
    return _types({**EMPTY, "properties": {"p": item}}, {"$type": "StringType"})


@pytest.mark.reported("O13")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (_index(resources={"note@": {"$ref": "types.json#/0"}}), "index.json#/resources/note@: .*name@version"),
        (_index(resources={"note@1@2": {"$ref": "types.json#/0"}}), "index.json#/resources/note@1@2: .*name@version"),
        (_index(resources={"note": {"$ref": "types.json#/0"}}), "index.json#/resources/note: .*name@version"),
        (
            _index(resources={"a@1": {"$ref": "types.json#/7"}}),
            "index.json#/resources/a@1: there is no type 7 in types.json",
        ),
        (_index(resources={"a@1": {"$ref": "types.json#/1"}}), "index.json#/resources/a@1: refers to .* ObjectType"),
        (_index(resources={"b@1": {"$ref": "types.json#/0"}}), "index.json#/resources/b@1: refers to .*'a@1'"),
        (_index(resources={"a@1": {"$ref": "other.json#/0"}}), "other.json: .*not among the type files"),
        (_index(resources={"a@1": {"$ref": "#/0"}}), "index.json#/resources/a@1: expected a reference"),
        (
            _index(resources={"a@1": {"$ref": "types.json#/0"}, "A@1": {"$ref": "types.json#/0"}}),
            "A@1: the same type as 'a@1'",
        ),
        (_index(resources=[]), "index.json#/resources: expected an object"),
        (_index(settings={"name": "x"}), "index.json#/settings/version: is required"),
        (_index(settings={"name": "x", "version": "1", "isSingleton": 1}), "isSingleton: expected a boolean"),
        (
            _index(settings={"name": "x", "version": "1", "configurationType": {"$ref": "types.json#/0"}}),
            "index.json#/settings/configurationType: refers to .*ResourceType",
        ),
        (_index(fallbackResourceType={"$ref": "types.json#/1"}), "fallbackResourceType: refers to"),
        (_types({"$type": "Wrong"}), r"types.json#/1/\$type: there is no kind of type 'Wrong'"),
        (_types(3), "types.json#/1: expected an object"),
        (_with({"type": {"$ref": "#/9"}, "flags": 0}), "types.json#/1/properties/p/type: there is no type 9"),
        (_with({"flags": 0}), "types.json#/1/properties/p/type: expected a reference"),
        (_with({"type": {"$ref": "#/2"}, "flags": 64}), "types.json#/1/properties/p/flags: expected"),
        (_with({"type": {"$ref": "#/2"}, "description": 3}), "p/description: expected a text"),
        (_types({"$type": "BuiltInType", "kind": 99}), "types.json#/1/kind: there is no built-in type 99"),
        (
            lambda: index_with([resource(readableScopes=1), EMPTY]),
            "types.json#/0: needs readableScopes",
        ),
        (
            lambda: index_with([resource(readableScopes=1, writableScopes=1, scopeType=1), EMPTY]),
            "types.json#/0: mixes old and new scope fields",
        ),
        (
            lambda: index_with([resource(2), EMPTY, {"$type": "StringType"}]),
            "types.json#/0/body: refers to .*StringType",
        ),
        (lambda: TypeIndex.from_files('{\n "resources": }', {}), "index.json, line 2, column 15: not JSON"),
        (
            lambda: TypeIndex.from_files('{"resources": {"a@1": {"$ref": "t.json#/0"}}}', {"t.json": "[1,"}),
            "t.json, line 1, column 4: not JSON",
        ),
    ],
)
def test_a_broken_package_is_refused_with_file_and_position(make: Callable[[], TypeIndex], told: str) -> None:
    with pytest.raises(TypesError, match=told):
        make().check()


def test_a_broken_type_is_refused_each_time_it_is_asked_for() -> None:
    index = _with({"type": {"$ref": "#/9"}, "flags": 0})()
    for _ in range(2):
        with pytest.raises(TypesError, match="there is no type 9"):
            index.resource("a@1")


def test_a_folder_without_an_index_is_refused_and_files_outside_it_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(TypesError, match=r"index\.json: cannot be read"):
        TypeIndex.read_directory(tmp_path)
    (tmp_path / "types.json").write_text(json.dumps([resource(), EMPTY]))
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "index.json").write_text(json.dumps({"resources": {"a@1": {"$ref": "../types.json#/0"}}}))
    with pytest.raises(TypesError, match="outside the folder"):
        TypeIndex.read_directory(inner).resource("a@1")


def test_types_that_differ_anywhere_are_not_the_same() -> None:
    one = ObjectType("a", {})
    assert same_type(one, ObjectType("a", {}))
    assert not same_type(one, ObjectType("b", {}))
    assert not same_type(UnionType([StringType()]), UnionType([StringType(), NullType()]))
    assert not same_type(ArrayType(StringType()), ArrayType(StringType(sensitive=True)))
