"""Text to tokens. Words: names, strings with ``''`` as the only escape, integers, and ``( ) [ ] , .``."""

import re
from typing import NamedTuple

from extensor.template.limits import INT_MAX, INT_MIN
from extensor.template.refusal import Refusal


class Token(NamedTuple):
    """One word. `kind` is ``name``, ``string``, ``integer``, ``end`` or the punctuation mark itself."""

    kind: str
    value: str | int
    start: int
    end: int


_WORD = re.compile(
    r"(?P<space>\s+)|(?P<member>\.\s*[A-Za-z_$][A-Za-z0-9_$-]*)|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|'(?P<string>(?:[^']|'')*)'|(?P<integer>[+-]?[0-9]+)|(?P<mark>[()\[\],.])"
)
_LONGEST_INTEGER = 20


def tokens(text: str, start: int, end: int) -> list[Token]:
    """Every word of ``text[start:end]``, and an ``end``. Raises `Refusal` with the position of what is no word."""
    found: list[Token] = []
    at = start
    while at < end:
        match = _WORD.match(text, at, end)
        if match is None:
            if text[at] == "'":
                raise Refusal(f"the string that begins at character {at} has no closing quote")
            raise Refusal(f"unexpected {text[at]!r} at character {at}")
        kind = match.lastgroup or ""
        at = match.end()
        if kind == "space":
            continue
        if kind == "member":
            word = match.group()[1:].lstrip()
            found.append(Token(".", ".", match.start(), match.start() + 1))
            found.append(Token("name", word, at - len(word), at))
        elif kind == "string":
            found.append(Token("string", match.group("string").replace("''", "'"), match.start(), at))
        elif kind == "integer":
            found.append(Token("integer", _integer(match.group(), match.start()), match.start(), at))
        else:
            word = match.group()
            found.append(Token(word if kind == "mark" else "name", word, match.start(), at))
    found.append(Token("end", "", end, end))
    return found


def _integer(digits: str, at: int) -> int:
    if len(digits.lstrip("+-").lstrip("0")) < _LONGEST_INTEGER:
        value = int(digits)
        if INT_MIN <= value <= INT_MAX:
            return value
    raise Refusal(f"the integer at character {at} does not fit into 64 bits")
