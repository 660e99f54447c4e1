"""The id of a message of which only both ends were kept."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.rpc.pending import find_id

ids = st.integers() | st.text(max_size=20)
bodies = st.recursive(
    st.text() | st.integers() | st.just('","id":7}'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(ids, bodies, st.booleans(), st.booleans())
def test_an_id_among_the_first_or_as_the_last_member_is_found(id: Any, body: Any, first: bool, ascii: bool) -> None:  # noqa: A002
    members = [("jsonrpc", "2.0"), ("id", id), ("method", "m"), ("params", {"id": "not this", "body": body})]
    if not first:
        members = [members[0], members[3], members[1]]
    text = json.dumps(dict(members), ensure_ascii=ascii).encode(errors="replace")
    if b"?" not in text:
        assert find_id(text[:4096], text[-4096:]) == id


@given(bodies)
def test_an_id_inside_another_member_is_not_taken(body: Any) -> None:
    text = json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"id": 5, "body": body}}).encode()
    assert find_id(text, text[-4096:]) is None


@pytest.mark.parametrize(
    "text",
    [b"", b"xxxx", b"[1,2]", b'{"id":', b'{"id":1', b'{"id":true,"a":1}', b'{"id":[1],"a":1}', b'{"id":1e999,"a":1}'],
)
def test_what_shows_no_id_has_none(text: bytes) -> None:
    assert find_id(text, text) is None
