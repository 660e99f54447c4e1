"""What is left of an expression when a part of it is not known: the text of the rest, known parts filled in."""

from collections.abc import Iterable

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.limits import MAX_EXPRESSION_CHARACTERS
from extensor.template.parser import is_expression, quote

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


def residue(text: str | None) -> Unknown:
    """An unknown for an expression's text without brackets; ``None``, or too long a text, gives one without text."""
    if text is None or len(text) > MAX_EXPRESSION_CHARACTERS - 2:
        return Unknown()
    return Unknown(f"[{text}]")


def inner_text(value: Unknown) -> str | None:
    """The text inside the brackets of an unknown's expression, if it has one."""
    text = value.expression
    return text[1:-1] if text is not None and is_expression(text) else None


def value_text(value: Json) -> str | None:
    """An expression, without brackets, that evaluates to the value; ``None`` if there is none of sensible length."""
    pieces: list[str] = []
    return "".join(pieces) if _write(value, pieces, [MAX_EXPRESSION_CHARACTERS]) else None


def call_text(name: str, arguments: Iterable[Json]) -> str | None:
    """The text of a call with evaluated arguments."""
    texts: list[str] = []
    for argument in arguments:
        text = value_text(argument)
        if text is None:
            return None
        texts.append(text)
    return f"{name}({', '.join(texts)})"


def _write(value: Json, pieces: list[str], room: list[int]) -> bool:
    if type(value) is Unknown:
        text = inner_text(value)
        return text is not None and _put(text, pieces, room)
    if isinstance(value, str):
        return len(value) <= room[0] and _put(quote(value), pieces, room)
    if isinstance(value, bool):
        return _put("true()" if value else "false()", pieces, room)
    if value is None:
        return _put("null()", pieces, room)
    if isinstance(value, int) and _INT32_MIN <= value <= _INT32_MAX:
        return _put(str(value), pieces, room)
    if isinstance(value, int | float):
        return _put(f"json('{value!r}')", pieces, room)
    if isinstance(value, list):
        return _write_call("createArray(", value, pieces, room)
    if isinstance(value, dict):
        return _write_call("createObject(", (part for pair in value.items() for part in pair), pieces, room)
    text = getattr(value, "text", None)
    return text is not None and _put(text(), pieces, room)


def _write_call(opening: str, items: Iterable[Json], pieces: list[str], room: list[int]) -> bool:
    if not _put(opening, pieces, room):
        return False
    for position, item in enumerate(items):
        if position and not _put(", ", pieces, room):
            return False
        if not _write(item, pieces, room):
            return False
    return _put(")", pieces, room)


def _put(text: str | None, pieces: list[str], room: list[int]) -> bool:
    if text is None or len(text) > room[0]:
        return False
    room[0] -= len(text)
    pieces.append(text)
    return True
