"""Paths to one place in a document: ``$.properties.spec.ports[0].name`` (P-PATH-01)."""

import re
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""A path in parts: a ``str`` names a member, an ``int`` an element."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(0|[1-9][0-9]*)\]|\['((?:[^'\\]|\\.)*)'\]", re.DOTALL)
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_UNESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def format_path(path: Path) -> str:
    """Write a path as normalised JSONPath (RFC 9535, 2.7), names that are plain identifiers after a dot."""
    steps = ["$"]
    for part in path:
        if isinstance(part, int):
            steps.append(f"[{part}]")
        elif _PLAIN.match(part):
            steps.append(f".{part}")
        else:
            steps.append(f"['{_quote(part)}']")
    return "".join(steps)


def parse_path(text: str) -> Path:
    """Read a path back. Raises `ValueError` for anything that is not a path to one place."""
    if not text.startswith("$"):
        raise ValueError(f"a path starts with '$', this one does not: {text!r}")
    parts: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(f"not a path to one place, from character {at}: {text!r}")
        name, index, quoted = step.groups()
        parts.append(name if name is not None else int(index) if index is not None else _unquote(quoted))
        at = step.end()
    return tuple(parts)


def to_pointer(path: Path) -> str:
    """Write a path as a JSON Pointer (RFC 6901), the notation of other hosts' wires."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _quote(name: str) -> str:
    return "".join(_ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char < " " else char) for char in name)


def _unquote(quoted: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if len(code) == 5 else _UNESCAPES.get(code, code)

    return _UNESCAPE.sub(one, quoted)
