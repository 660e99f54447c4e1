"""Messages out of bytes and back: lines of JSON, or LSP's `Content-Length` headers (P-CONN-02, P-CONN-03).

A reader never holds more than one message of the allowed size: what is longer is reported and skipped while it
arrives. Whatever comes, reading goes on with the next message that can be recognised.
"""

import re
from typing import Literal, NamedTuple

Framing = Literal["lines", "headers"]
"""A line of JSON ended by 0x0A, or a `Content-Length` header block as in LSP."""

MAX_HEADER_BYTES = 8 * 1024
"""One message's header block; a longer one is broken."""

EXCERPT_BYTES = 4 * 1024
"""How much of the head and of the tail of a refused message is kept."""


class Oversized(NamedTuple):
    """A message above the limit, skipped. `length` in bytes, where announced; head and tail are what was kept."""

    length: int | None
    head: bytes
    tail: bytes


class Broken(NamedTuple):
    """Bytes that are no frame, skipped. `excerpt` holds the first of them."""

    reason: str
    excerpt: bytes


Frame = bytes | Oversized | Broken
"""A message's bytes, or what came instead of one."""


def write_frame(message: bytes, framing: Framing) -> bytes:
    """The frame of a message. A message in lines framing must not hold 0x0A; JSON of `codec.encode` never does."""
    if framing == "lines":
        return message + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)


class FrameReader:
    """Cuts a byte stream into frames, however it was chunked.

    Without `framing` the first byte that is no blank decides: ``{`` or ``[`` starts lines, others headers. A first
    line that is neither is broken, and the next line decides again. `early` reports an oversized message as soon as it
    is known to be one (a server answers at once), otherwise after its last byte, with its tail (a client looks there
    for the id).
    """

    def __init__(self, max_message_bytes: int, framing: Framing | None = None, *, early: bool = True) -> None:
        self.framing: Framing | None = framing
        self._limit = max_message_bytes
        self._early = early
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._head = b""
        self._tail = b""
        self._announced: int | None = None
        self._body = -1
        self._line = b""
        self._headers: list[bytes] = []
        self._block = 0
        self._hunting = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes, in order."""
        frames: list[Frame] = []
        while data:
            if self.framing == "lines":
                self._lines(data, frames)
                break
            data = self._body_bytes(data, frames) if self._body >= 0 else self._header_bytes(data, frames)
        return frames

    def finish(self) -> list[Frame]:
        """What the end of input leaves: a last line without its end is a message, a cut-off header frame is broken."""
        frames: list[Frame] = []
        if self.framing == "lines":
            if self._skipping:
                self._end_skip(frames)
            else:
                self._add_line(b"".join(self._parts), frames)
        elif self._skipping:
            self._end_skip(frames)
        elif self._body >= 0 or (not self._hunting and (self._headers or self._line.strip())):
            kept = b"".join(self._parts) or b"\n".join([*self._headers, self._line])
            frames.append(Broken("the input ended inside a message", kept[:EXCERPT_BYTES]))
        self._parts, self._size, self._skipping, self._body = [], 0, False, -1
        self._line, self._headers, self._block = b"", [], 0
        return frames

    # lines

    def _lines(self, data: bytes, frames: list[Frame]) -> None:
        if self._parts or self._skipping:
            end = data.find(b"\n")
            if end < 0:
                self._keep_line(data, frames)
                return
            self._keep_line(data[:end], frames)
            if self._skipping:
                self._end_skip(frames)
            else:
                line = b"".join(self._parts)
                self._parts, self._size = [], 0
                self._add_line(line, frames)
            data = data[end + 1 :]
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            self._add_line(line, frames)
        if rest:
            self._keep_line(rest, frames)

    def _add_line(self, line: bytes, frames: list[Frame]) -> None:
        if len(line) > self._limit:
            frames.append(Oversized(None, line[:EXCERPT_BYTES], line[-EXCERPT_BYTES:]))
        elif line and not line.isspace():
            frames.append(line)

    def _keep_line(self, data: bytes, frames: list[Frame]) -> None:
        if self._skipping:
            self._tail = (self._tail + data[-EXCERPT_BYTES:])[-EXCERPT_BYTES:]
            return
        self._parts.append(data)
        self._size += len(data)
        if self._size > self._limit:
            self._begin_skip(b"".join(self._parts), None, frames)

    # skipping

    def _begin_skip(self, start: bytes, length: int | None, frames: list[Frame]) -> None:
        self._skipping = True
        self._announced = length
        self._head = start[:EXCERPT_BYTES]
        self._tail = start[-EXCERPT_BYTES:]
        self._parts, self._size = [], 0
        if self._early:
            frames.append(Oversized(length, self._head, b""))

    def _end_skip(self, frames: list[Frame]) -> None:
        if not self._early:
            frames.append(Oversized(self._announced, self._head, self._tail))
        self._skipping = False
        self._head = self._tail = b""

    # headers

    def _body_bytes(self, data: bytes, frames: list[Frame]) -> bytes:
        take = data[: self._body]
        self._body -= len(take)
        if self._skipping:
            if len(self._head) < EXCERPT_BYTES:
                self._head += take[: EXCERPT_BYTES - len(self._head)]
            self._tail = (self._tail + take[-EXCERPT_BYTES:])[-EXCERPT_BYTES:]
        else:
            self._parts.append(take)
        if self._body == 0:
            self._body = -1
            if self._skipping:
                self._end_skip(frames)
            else:
                frames.append(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))
                self._parts = []
        return data[len(take) :]

    def _header_bytes(self, data: bytes, frames: list[Frame]) -> bytes:
        fresh = not (self._line or self._headers or self._hunting)
        if fresh and (usual := re.match(_USUAL_BLOCK, data)) is not None:
            self._expect(int(usual[1]), data[usual.end() :], frames)
            return data[usual.end() :]
        while data:
            if self.framing is None and not self._line and data[0] in b" \t\r" and not self._headers:
                data = data.lstrip(b" \t\r")
                continue
            if self.framing is None and not self._line and data[0] in _JSON_STARTS:
                if self._headers:
                    self._broken("a header block without its end", b"\n".join(self._headers), frames)
                self.framing = "lines"
                return data
            end = data.find(b"\n")
            if end < 0:
                self._keep_header(data, frames)
                return b""
            line = (self._line + data[:end]).strip()
            self._line = b""
            data = data[end + 1 :]
            if self._header_line(line, data, frames):
                return data
        return b""

    def _keep_header(self, data: bytes, frames: list[Frame]) -> None:
        self._line += data
        if self._block + len(self._line) > MAX_HEADER_BYTES:
            self._broken(_LONG_BLOCK, self._line, frames, hunt=True)
        if self._hunting:
            self._line = self._line[-_HUNT_BYTES:]

    def _header_line(self, line: bytes, rest: bytes, frames: list[Frame]) -> bool:
        """Take one line of a header block; true when a body begins."""
        if self._hunting:
            found = re.search(_LENGTH_AT_END, line)
            if found is None:
                return False
            self._hunting = False
            line = found[0]
        if not line:
            return bool(self._headers) and self._end_block(rest, frames)
        self._block += len(line)
        if self._block > MAX_HEADER_BYTES:
            self._broken(_LONG_BLOCK, line, frames, hunt=True)
        elif re.match(_HEADER, line) is None:
            self._broken("a line that is no header", line, frames)
        else:
            self._headers.append(line)
        return False

    def _end_block(self, rest: bytes, frames: list[Frame]) -> bool:
        block = self._headers
        self.framing = "headers"  # good or not, a block of headers has chosen (P-CONN-03)
        pairs = [line.partition(b":") for line in block]
        lengths = {value.strip() for name, _, value in pairs if name.strip().lower() == b"content-length"}
        if len(lengths) != 1:
            reason = "two Content-Length headers that differ" if lengths else "no Content-Length header"
            self._broken(reason, b"\n".join(block), frames)
            return False
        value = lengths.pop()
        if not value.isdigit() or len(value) > _MAX_LENGTH_DIGITS:
            self._broken("a Content-Length that is no length", b"\n".join(block), frames)
            return False
        self._headers, self._block = [], 0
        self._expect(int(value), rest, frames)
        return True

    def _expect(self, length: int, rest: bytes, frames: list[Frame]) -> None:
        self.framing = "headers"
        if length == 0:
            frames.append(b"")
            return
        self._body = length
        if length > self._limit:
            self._skipping = True
            self._announced = length
            self._head = self._tail = b""
            if self._early:
                frames.append(Oversized(length, rest[: min(length, EXCERPT_BYTES)], b""))

    def _broken(self, reason: str, excerpt: bytes, frames: list[Frame], *, hunt: bool = False) -> None:
        if not self._hunting:
            frames.append(Broken(reason, excerpt[:EXCERPT_BYTES]))
        # Before the first good message the framing is still open, and the next line may decide it.
        self._hunting = hunt or self.framing is not None
        self._headers, self._block = [], 0


_JSON_STARTS = b"{["
_HUNT_BYTES = 64
_MAX_LENGTH_DIGITS = 15
_LONG_BLOCK = f"a header block of more than {MAX_HEADER_BYTES} bytes"
_USUAL_BLOCK = rb"Content-Length: ([0-9]{1,15})\r\n\r\n"
_HEADER = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:"
_LENGTH_AT_END = rb"(?i:content-length)[ \t]*:[ \t]*[0-9]{1,15}$"
