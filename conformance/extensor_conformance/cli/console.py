"""The process's two streams: results on stdout, progress and errors on stderr.

A stream whose reader has gone (``| head``) is not an error: what is written to it from then on is dropped, and the
exit code still says how the work ended.
"""

import io
import os
import re
import shutil
import sys
import threading
from collections.abc import Mapping
from typing import TextIO

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ERASE = "\r\x1b[2K"
_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "gray": "90", "bold": "1"}


def printable(text: str) -> str:
    """The text with control characters written as escapes, so that a provider's words cannot steer a terminal."""
    return _CONTROL.sub(lambda match: _escape(match[0]), text)


def _escape(char: str) -> str:
    return f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}"


class Console:
    """Where a command writes; used from any thread. `environ` decides about colour, the streams about liveliness."""

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour = not plain and _is_terminal(out)
        """Whether stdout takes colours."""
        self.lively = environ.get("TERM") != "dumb" and _is_terminal(err)
        """Whether stderr is a terminal that can show a status line that changes."""
        self.text_to_stderr = False
        """Whether texts for people go to stderr, because stdout holds a document."""
        self._status = ""
        self._lock = threading.RLock()

    def out(self, text: str) -> None:
        """Write a result for people and a line's end, to stdout unless a document goes there."""
        with self._lock:
            self.clear()
            self._write(self._err if self.text_to_stderr else self._out, f"{text}\n")

    def document(self, text: str) -> None:
        """Write a whole document to stdout, in UTF-8 whatever the locale."""
        with self._lock:
            self.clear()
            buffer = getattr(self._out, "buffer", None)
            if buffer is None:
                self._write(self._out, text)
                return
            try:
                self._out.flush()
                buffer.write(text.encode("utf-8", "backslashreplace"))
                buffer.flush()
            except OSError:
                _let_go(self._out)

    def line(self, text: str) -> None:
        """Write a line to stderr; the status line stays below it."""
        with self._lock:
            self._write(self._err, f"{_ERASE if self._status else ''}{text}\n{self._status}")

    def status(self, text: str) -> None:
        """Show a text as the status line, cut to the terminal's width. Does nothing where there is no terminal."""
        if not self.lively:
            return
        width = shutil.get_terminal_size().columns
        text = text if len(text) < width else f"{text[: max(width - 2, 0)]}…"
        with self._lock:
            if text != self._status:
                self._status = text
                self._write(self._err, _ERASE + text)

    def clear(self) -> None:
        """Take the status line away."""
        with self._lock:
            if self._status:
                self._status = ""
                self._write(self._err, _ERASE)

    def flush(self) -> None:
        """Hand over what is still buffered, so that a reader who has gone is met here and not at exit."""
        for stream in (self._out, self._err):
            self._write(stream, "")

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where texts for people go to a terminal."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.colour and not self.text_to_stderr else text

    @property
    def width(self) -> int:
        """Columns of the terminal, 100 where there is none."""
        return shutil.get_terminal_size((100, 24)).columns

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
    return Console(sys.stdout or io.StringIO(), sys.stderr or io.StringIO(), os.environ)


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
