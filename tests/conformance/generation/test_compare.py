"""The rule by which two bodies are equal."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from extensor_conformance.compare import differences, is_marker

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_equals_its_copy(value: Any) -> None:
    assert differences(value, json.loads(json.dumps(value))) == []


@given(VALUES, VALUES)
def test_order_of_the_two_decides_nothing(one: Any, other: Any) -> None:
    forth, back = differences(one, other), differences(other, one)
    assert [row.path for row in forth] == [row.path for row in back]
    assert [row.cells for row in forth] == [row.cells[::-1] for row in back]


@given(st.lists(VALUES, max_size=5), st.randoms(use_true_random=False))
def test_sets_are_equal_in_any_order_and_lists_are_not(items: list[Any], random: Any) -> None:
    mixed = random.sample(items, len(items))
    assert differences({"a": items}, {"a": mixed}, unordered=[("a",)]) == []
    assert bool(differences({"a": [*items, "odd"]}, {"a": ["odd", *items]})) == ([*items, "odd"] != ["odd", *items])


@given(st.dictionaries(st.text(max_size=3), VALUES, min_size=1), VALUES)
def test_what_lies_below_an_ignored_path_is_passed_over(body: dict[str, Any], other: Any) -> None:
    key = next(iter(body))
    assert differences(body, {**body, key: other}, ignore=[(key,)]) == []


def test_numbers_are_equal_by_value_and_no_boolean_is_a_number() -> None:
    assert differences({"a": 1, "b": [2.0]}, {"a": 1.0, "b": [2]}) == []
    assert [row.path for row in differences({"a": 1, "b": [0]}, {"a": True, "b": [False]})] == [
        "$.properties.a",
        "$.properties.b[0]",
    ]


def test_sets_tell_what_each_has_alone_and_compare_their_items_by_the_same_rule() -> None:
    one = {"items": [{"id": 1, "at": "x"}, {"id": 2}, {"id": 2}]}
    other = {"items": [{"id": 2}, {"id": True}, {"id": 1.0, "at": "y"}]}
    ignore = [("items", "*", "at")]
    (row,) = differences(one, other, ignore=ignore, unordered=[("items",)])
    assert row.path == "$.properties.items"
    assert row.cells == ('[{"id": 2}]', '[{"id": true}]')


def test_nested_paths_are_told_exactly() -> None:
    rows = differences({"a": {"b.c": [{"d": 1}]}}, {"a": {"b.c": [{"d": 2}]}, "e": None})
    assert [(row.path, row.cells) for row in rows] == [
        ("$.properties.a['b.c'][0].d", ("1", "2")),
        ("$.properties.e", ("(absent)", "null")),
    ]


def test_a_marker_is_an_object_with_that_member_alone() -> None:
    assert is_marker({"$unknown": {}})
    assert is_marker({"$unknown": {"expression": "[x]"}})
    assert not is_marker({"$unknown": {}, "more": 1})
    assert not is_marker({"$$unknown": {}})
    assert not is_marker("$unknown")
