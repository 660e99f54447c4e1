"""The process's two streams: results on stdout, progress and errors on stderr.

A stream whose reader has gone (``| head``) is not an error: what is written to it from then on is dropped, and the
command's exit code still says how the work ended.
"""

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from extensor.contract.json import Json

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What a terminal acts on, turns of direction included, but for tabs and line ends."""
_ERASE = "\r\x1b[2K"
_CODES = {"red": "31", "green": "32", "orange": "33", "blue": "34", "purple": "35", "gray": "90", "bold": "1"}


def printable(text: str) -> str:
    """The text with control characters written as escapes, so that a provider's message cannot steer a terminal."""
    return _STEERING.sub(lambda match: _escape(match[0]), text)


def quoted(text: str) -> str:
    """The text as JSON writes it between its quotes, all on one line."""
    inner = json.dumps(text, ensure_ascii=False)[1:-1]
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", inner)


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}"


class Console:
    """Where a command writes. One a process; `environ` decides about colour, the streams about liveliness."""

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour_out = not plain and _is_terminal(out)
        self.colour_err = not plain and _is_terminal(err)
        self.lively = environ.get("TERM") != "dumb" and _is_terminal(err)
        """Whether stderr is a terminal that can show a status line that changes."""
        self._status = ""

    def out(self, text: str) -> None:
        """Write a result and a line's end to stdout."""
        self._erase()
        self._write(self._out, text + "\n")

    def document(self, value: "Json") -> None:
        """Write the one JSON document of ``--output json`` to stdout, in UTF-8 whatever the locale."""
        self._erase()
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        try:
            raw = text.encode()
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8; its \u escape is JSON all the same
            raw = (json.dumps(value, indent=2) + "\n").encode()
        buffer = getattr(self._out, "buffer", None)
        if buffer is None:
            self._write(self._out, raw.decode())
            return
        try:
            self._out.flush()
            buffer.write(raw)
            buffer.flush()
        except OSError:
            _let_go(self._out)

    def line(self, text: str) -> None:
        """Write a line to stderr; the status line stays below it."""
        self._write(self._err, f"{_ERASE if self._status else ''}{text}\n{self._status}")

    def status(self, text: str) -> None:
        """Show a text as the status line, cut to the terminal's width. Does nothing where there is no terminal."""
        if not self.lively:
            return
        width = shutil.get_terminal_size().columns
        text = text if len(text) < width else f"{text[: max(width - 2, 0)]}…"
        if text != self._status:
            self._status = text
            self._write(self._err, _ERASE + text)

    def clear(self) -> None:
        """Take the status line away."""
        self._erase()

    def flush(self) -> None:
        """Hand over what is still buffered, so that a reader who has gone is met here and not at exit."""
        for stream in (self._out, self._err):
            self._write(stream, "")

    def paint(self, text: str, colour: str, *, out: bool = False) -> str:
        """The text in a colour, for stderr or for stdout, where that is a terminal."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if (self.colour_out if out else self.colour_err) else text

    def _erase(self) -> None:
        if self._status:
            self._status = ""
            self._write(self._err, _ERASE)

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            self._write(stream, text.encode(encoding, "backslashreplace").decode(encoding))
        except OSError:
            _let_go(stream)


def process_console() -> Console:
    """The console of this process."""
    return Console(sys.stdout or _nowhere(), sys.stderr or _nowhere(), os.environ)


def _nowhere() -> TextIO:
    """In place of a stream that the process was started without (``>&-``)."""
    return io.StringIO()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _let_go(stream: TextIO) -> None:
    """Point a stream whose reader has gone at the null device, so that nothing fails at exit either."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, number)
    finally:
        os.close(null)
