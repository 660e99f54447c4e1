"""Cutting a stream into frames, as strict as the protocol (P-CONN-02 to P-CONN-06), and wrapping frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Framing: TypeAlias = Literal["lines", "headers"]

MAX_FRAME = 64 * 1024 * 1024
"""A frame above this is not kept; what is left of it is passed over."""
_SHOWN = 4096


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes that are no frame."""

    data: bytes
    reason: str


def frame(data: bytes, framing: Framing) -> bytes:
    """One JSON text, framed."""
    if framing == "lines":
        return data + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


class Framer:
    """Feed it what was read, in any cuts; it gives whole frames and what is none."""

    def __init__(self, framing: Framing, max_frame: int = MAX_FRAME) -> None:
        self._framing: Framing = framing
        self._buffer = bytearray()
        self._scanned = 0
        self._wanted: int | None = None
        self._skipping = False
        self._max = max_frame

    def feed(self, data: bytes) -> Iterator[bytes | Garbage]:
        """What became whole."""
        self._buffer += data
        yield from self._lines() if self._framing == "lines" else self._headers()

    def end(self) -> Iterator[Garbage]:
        """No more will come."""
        rest = bytes(self._buffer[:_SHOWN])
        self._buffer.clear()
        if rest and not self._skipping:
            yield Garbage(rest, "the stream ends inside a frame")

    def _lines(self) -> Iterator[bytes | Garbage]:
        start = 0
        while True:
            at = self._buffer.find(b"\n", max(start, self._scanned))
            if at < 0:
                break
            line = bytes(self._buffer[start:at])
            start = at + 1
            if self._skipping:
                self._skipping = False
            elif line.strip():
                yield line
            else:
                yield Garbage(line + b"\n", "an empty line")
        if start:
            del self._buffer[:start]
        self._scanned = len(self._buffer)
        if len(self._buffer) > self._max:
            if not self._skipping:
                yield Garbage(bytes(self._buffer[:_SHOWN]), f"a line of more than {self._max} bytes")
            self._skipping = True
            self._buffer.clear()
            self._scanned = 0

    def _headers(self) -> Iterator[bytes | Garbage]:
        while self._buffer:
            if self._wanted is None:
                end = self._buffer.find(b"\r\n\r\n")
                if end < 0:
                    if len(self._buffer) > _SHOWN:
                        yield Garbage(bytes(self._buffer[:_SHOWN]), "no headers where a frame should begin")
                        self._buffer.clear()
                    return
                head = bytes(self._buffer[:end])
                del self._buffer[: end + 4]
                wanted = _length(head)
                if wanted is None or wanted > self._max:
                    yield Garbage(head[:_SHOWN], "headers without a usable Content-Length")
                    continue
                self._wanted = wanted
            if len(self._buffer) < self._wanted:
                return
            body = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            self._wanted = None
            yield body


def _length(head: bytes) -> int | None:
    for line in head.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length" and value.strip().isdigit():
            return int(value.strip())
    return None
