"""The end of what a provider wrote to stderr: bounded, readable at any time, free of known secrets."""

import re
from collections import deque
from collections.abc import Callable

from extensor.contract.redaction import Redactor

MAX_LINES = 40
MAX_LINE_BYTES = 4096
"""A longer line is kept as its beginning; a flood without line ends costs no memory."""
_CUT = b" [...]"
_LAST_WORD = re.compile(rb"[^\s\"',;:=&]*\Z")
"""Left out where a line is cut: half a secret would not be recognised."""


class StderrTail:
    """Takes chunks, keeps the last lines, hands each finished line on."""

    def __init__(self, redactor: Redactor, on_line: Callable[[str], None] | None = None) -> None:
        self._redactor = redactor
        self._on_line = on_line
        self._lines: deque[bytes] = deque(maxlen=MAX_LINES)
        self._open = b""
        self._skipping = False

    def feed(self, chunk: bytes) -> None:
        """Take what was read; any cut will do."""
        *finished, rest = chunk.split(b"\n")
        for piece in finished:
            self._grow(piece)
            self._finish()
        self._grow(rest)

    def end(self) -> None:
        """No more will come: an unfinished last line counts as finished."""
        if self._open:
            self._finish()

    def text(self) -> str:
        """The last lines, unfinished one included, secrets masked; empty when nothing was written."""
        lines = [*self._lines, self._open] if self._open else self._lines
        return self._redactor.text("\n".join(_text(line) for line in lines))

    def _grow(self, piece: bytes) -> None:
        if not piece or self._skipping:
            return
        room = MAX_LINE_BYTES - len(self._open)
        if len(piece) > room:
            self._open = _LAST_WORD.sub(b"", self._open + piece[:room]) + _CUT
            self._skipping = True
        else:
            self._open += piece

    def _finish(self) -> None:
        line, self._open, self._skipping = self._open, b"", False
        self._lines.append(line)
        if self._on_line is not None:
            self._on_line(self._redactor.text(_text(line)))


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "backslashreplace")
