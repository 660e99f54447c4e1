"""Which keys maps lose, as far as a type tells maps from objects."""

import pytest

from extensor.contract import Unknown
from extensor.types import (
    AnyType,
    ArrayType,
    DiscriminatedObjectType,
    IntegerType,
    NullType,
    ObjectType,
    Property,
    StringType,
    UnionType,
    shape_of,
)

TEXT = StringType()
TAGS = ObjectType("tags", {}, TEXT)
CLOSED = ObjectType("closed", {"x": Property(TEXT), "y": Property(TEXT)})
OPEN = ObjectType("open", {"x": Property(TEXT)}, AnyType())
AUTH = DiscriminatedObjectType(
    "auth",
    "kind",
    {"tags": Property(TAGS)},
    {"key": ObjectType("key", {"x": Property(TEXT)}, TEXT), "user": ObjectType("user", {"z": Property(TEXT)}, TEXT)},
)


def lost(type_, before, after):
    """What a property of that type loses."""
    body = ObjectType("body", {"p": Property(type_)})
    return {path[1:] for path in shape_of(body).lost_keys({"p": before}, {"p": after})}


@pytest.mark.parametrize(
    ("type_", "before", "after", "expected"),
    [
        (TAGS, {"a": "1", "b": "2"}, {"a": "3"}, {("b",)}),
        (TAGS, {"a": "1", "n": None}, {}, {("a",)}),
        (TAGS, {"a": "1"}, None, set()),
        (TAGS, {"a": "1"}, Unknown(), set()),
        (TAGS, {"a": "1", "b": "2"}, {"a": Unknown()}, {("b",)}),
        (TAGS, None, {}, set()),
        (CLOSED, {"x": "1", "y": "2", "stray": "3"}, {"x": "1"}, set()),
        (OPEN, {"x": "1", "a": {"b": 1}}, {}, {("a",)}),
        (OPEN, {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, set()),
        (AnyType(), {"a": "1"}, {}, set()),
        (ObjectType("of objects", {}, CLOSED), {"a": {"x": "1", "y": "2"}, "b": {}}, {"a": {"x": "1"}}, {("b",)}),
        (ObjectType("of maps", {}, TAGS), {"a": {"b": "1", "c": "2"}}, {"a": {"b": "1"}}, {("a", "c")}),
        (ArrayType(TAGS), [{"a": "1"}, {"b": "1"}], [{}, {"b": "1"}], {(0, "a")}),
        (ArrayType(TAGS), [{"a": "1"}, {"b": "1"}], [{}], set()),
        (AUTH, {"kind": "key", "x": "1", "a": "2"}, {"kind": "key"}, {("a",)}),
        (AUTH, {"kind": "key", "tags": {"a": "1"}}, {"kind": "user", "tags": {}}, {("tags", "a")}),
        (AUTH, {"kind": "key", "x": "1", "z": "2", "a": "3"}, {"kind": "user"}, {("a",)}),
        (AUTH, {"x": "1", "a": "3"}, {"kind": Unknown()}, {("a",)}),
        (UnionType([NullType(), UnionType([TEXT, TAGS])]), {"a": "1"}, {}, {("a",)}),
        (UnionType([TAGS, CLOSED]), {"a": "1", "x": "2"}, {"a": "1"}, {("x",)}),
        (UnionType([TAGS, CLOSED]), {"x": "1", "y": "2"}, {"x": "1"}, set()),
        (UnionType([TAGS, AnyType()]), {"a": "1"}, {}, set()),
        (UnionType([TAGS, ObjectType("numbers", {}, IntegerType())]), {"a": "1", "b": 2}, {}, {("a",), ("b",)}),
    ],
)
def test_a_map_loses_the_keys_that_it_is_shown_without(type_, before, after, expected) -> None:
    assert lost(type_, before, after) == expected


def test_a_type_that_holds_itself_is_followed_as_deep_as_the_bodies_go() -> None:
    tree = ObjectType("tree", {"tags": Property(TAGS)})
    tree.additional_properties = UnionType([tree, TEXT])
    before = {"a": {"b": {"tags": {"k": "1"}, "c": "x"}}}
    assert lost(tree, before, {"a": {"b": {"tags": {}}}}) == {("a", "b", "tags", "k"), ("a", "b", "c")}


def test_the_body_itself_can_hold_keys() -> None:
    assert shape_of(OPEN).lost_keys({"x": "1", "a": "2"}, {}) == {("a",)}
