import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import (
    ContractViolation,
    Unknown,
    UnknownValueError,
    decode_unknowns,
    encode_unknowns,
    find_unknowns,
    format_path,
    has_unknown,
    is_unknown,
)

keys = st.one_of(st.text(max_size=5), st.integers(min_value=1, max_value=4).map(lambda n: "$" * n + "unknown"))
plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
with_unknowns = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5), st.builds(Unknown, st.none() | st.text(max_size=9))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.reported("P01")
@given(plain)
def test_no_plain_value_is_ever_taken_for_an_unknown(value: Any) -> None:
    wire = encode_unknowns(value)
    assert decode_unknowns(json.loads(json.dumps(wire))) == value
    assert not has_unknown(decode_unknowns(wire))


@given(with_unknowns)
def test_every_unknown_arrives_with_its_place_and_expression(value: Any) -> None:
    sent = list(find_unknowns(value))
    arrived = list(find_unknowns(decode_unknowns(json.loads(json.dumps(encode_unknowns(value))))))
    assert [(path, one.expression) for path, one in arrived] == [(path, one.expression) for path, one in sent]
    assert all(one.path == format_path(path) for path, one in arrived)


@pytest.mark.parametrize("content", [None, 1, "x", [], {"expression": 1}, {"expression": "[a()]", "more": 1}, {"x": 1}])
def test_a_marker_with_other_content_is_refused_with_its_place(content: Any) -> None:
    with pytest.raises(ContractViolation) as caught:
        decode_unknowns({"a": [{"$unknown": content}]}, ("properties",))
    assert [fault.path for fault in caught.value.faults] == ["$.properties.a[0]"]


USES: dict[str, Callable[[Any], object]] = {
    "bool": bool,
    "str": str,
    "format": lambda value: f"{value}",
    "int": int,
    "float": float,
    "len": len,
    "list": list,
    "equal": lambda value: value == 1,
    "equal from the left": lambda value: 1 == value,  # noqa: SIM300 - the order is the point
    "not equal": lambda value: value != 1,
    "less": lambda value: value < 1,
    "plus": lambda value: value + 1,
    "plus from the left": lambda value: "a" + value,
    "percent": lambda value: "%s" % value,  # noqa: UP031 - the operator is the point
    "negation": lambda value: -value,
    "index": lambda value: value[0],
    "contains": lambda value: 1 in value,
    "attribute": lambda value: value.name,
    "call": lambda value: value(),
    "join": lambda value: ", ".join(["a", str(value)]),
    "range": lambda value: range(value),
    "open": lambda value: open(value),  # noqa: PTH123, SIM115 - never opens
}


@pytest.mark.reported("P02")
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_using_an_unknown_fails_and_names_the_property(use: Callable[[Any], object]) -> None:
    with pytest.raises(UnknownValueError, match=r"\$\.properties\.name") as caught:
        use(Unknown("[reference('app').id]", "$.properties.name"))
    assert "reference" not in str(caught.value)


def test_an_unknown_can_be_stored_compared_by_identity_and_copied() -> None:
    unknown = Unknown("[x()]", "$.a")
    assert is_unknown(unknown)
    assert {unknown: 1}[unknown] == 1
    again = pickle.loads(pickle.dumps(unknown))
    assert (again.expression, again.path) == ("[x()]", "$.a")
    assert repr(unknown) == "<Unknown at $.a>"


@pytest.mark.reported("P02")
def test_json_refuses_to_write_an_unknown() -> None:
    with pytest.raises(TypeError):
        json.dumps({"a": Unknown()})
