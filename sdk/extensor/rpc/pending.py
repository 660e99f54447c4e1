"""Calls that went out and wait for their answers."""

import re
from collections.abc import Callable

from extensor.contract.json import Json, JsonObject
from extensor.errors import ProtocolViolation, RpcError
from extensor.rpc.requests import MessageId
from extensor.rpc.runtime import Slot


class PendingCalls:
    """Ids given out and the slots that wait for them. `on_violation` hears of answers that belong to no call."""

    def __init__(self, on_violation: Callable[[str], None], quote: Callable[[Json], str]) -> None:
        """`quote` makes the text that may be shown of a message."""
        self._on_violation = on_violation
        self._quote = quote
        self._slots: dict[int, Slot] = {}
        self._labels: dict[int, object] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, slot: Slot, label: object = None) -> int:
        """A new id whose answer goes to `slot`, and which `label` tells apart from others until then."""
        self._last_id += 1
        self._slots[self._last_id] = slot
        if label is not None:
            self._labels[self._last_id] = label
        return self._last_id

    def label(self, id: Json) -> object:  # noqa: A002
        """What a call that waits was labelled with; ``None`` for every other id."""
        return self._labels.get(id) if type(id) is int else None

    def forget(self, id: int) -> bool:  # noqa: A002
        """Nobody waits any more; false when the answer had come."""
        self._labels.pop(id, None)
        return self._slots.pop(id, None) is not None

    def settle(self, message: JsonObject) -> None:
        """Give an answer to its call. A late answer is dropped; one to an id never given out is a violation."""
        slot = self._take(message.get("id"))
        if slot is None:
            if not self._was_given(message.get("id")):
                self._on_violation(f"an answer to no call of ours: {self._quote(message)}")
        elif "error" in message and message["error"] is not None:
            slot.set_exception(self._rpc_error(message["error"]))
        elif "result" in message:
            slot.set_result(message["result"])
        else:
            slot.set_exception(ProtocolViolation(f"an answer without result and error: {self._quote(message)}"))

    def refuse(self, id: MessageId, error: Exception) -> bool:  # noqa: A002
        """Fail the call whose answer cannot be taken; false when there is no such call."""
        slot = self._take(id)
        if slot is not None:
            slot.set_exception(error)
        return slot is not None

    def fail_all(self, make: Callable[[], Exception]) -> None:
        """Fail every call, each with an exception of its own."""
        slots, self._slots = self._slots, {}
        self._labels.clear()
        for slot in slots.values():
            if not slot.done():
                slot.set_exception(make())

    def _take(self, id: Json) -> Slot | None:  # noqa: A002
        if type(id) is not int:
            return None
        if self._labels:
            self._labels.pop(id, None)
        slot = self._slots.pop(id, None)
        return None if slot is None or slot.done() else slot

    def _rpc_error(self, error: Json) -> RpcError:
        if not isinstance(error, dict):
            return RpcError(0, f"an error that is no object: {self._quote(error)}")
        code, message = error.get("code"), error.get("message")
        return RpcError(
            code if type(code) is int else 0, message if isinstance(message, str) else "", error.get("data")
        )

    def _was_given(self, id: Json) -> bool:  # noqa: A002
        return type(id) is int and 0 < id <= self._last_id


_STRING = rb'"(?:[^"\\]|\\.)*"'
_SCALAR = _STRING + rb"|-?[0-9][0-9.eE+-]*|true|false|null"
_MEMBER = rb'(?s)\s*("(?:[^"\\]|\\.)*")\s*:\s*(' + _SCALAR + rb")\s*(?=[,}])"
_ID_AT_END = rb'(?s),\s*"id"\s*:\s*(' + _SCALAR + rb")\s*\}\s*$"


def find_id(head: bytes, tail: bytes) -> MessageId:
    """The id of a message of which only both ends are known; ``None`` when it does not stand there.

    It is looked for among the scalar members at the start of the object, and as its last member.
    """
    from extensor.rpc.codec import CodecError, decode

    found: bytes | None = None
    start = head.lstrip()[:1] == b"{"
    at = head.find(b"{") + 1
    while start and (member := re.match(_MEMBER, head[at:])) is not None:
        if member[1] == b'"id"':
            found = member[2]
            break
        at += member.end() + 1
    if found is None and (end := re.search(_ID_AT_END, tail)) is not None:
        found = end[1]
    if found is None:
        return None
    try:
        value = decode(found)
    except CodecError:
        return None
    return value if type(value) in (int, str, float) else None


def answered_id(frame: bytes) -> MessageId:
    """The id of an answer inside a text that is no message: unreadable, or glued to something; ``None`` otherwise.

    Only what looks like an answer counts, so that a log line that quotes a request is none.
    """
    start = frame.find(b'{"')
    if start < 0:
        return None
    head, tail = frame[start : start + _LOOK_BYTES], frame[-_LOOK_BYTES:]
    if b'"jsonrpc"' not in head + tail or not re.search(_ANSWERS, head + tail) or b'"method"' in head:
        return None
    return find_id(head, tail)


_LOOK_BYTES = 4096
_ANSWERS = rb'"(?:result|error)"\s*:'
