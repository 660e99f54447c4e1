"""A JSON document that people wrote: read with its faults named by place."""

import json
import math
from typing import Any, NoReturn, cast

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.errors import TemplateError
from extensor.template.limits import INT_MAX, INT_MIN, MAX_DEPTH, MAX_TEMPLATE_BYTES
from extensor.template.refusal import nearest
from extensor.template.values import kind_of


class _Repeated(dict[str, Any]):
    """An object in which a name stands twice."""

    name: str = ""


def fail(path: Path, message: str) -> NoReturn:
    """Raise a `TemplateError` for a place."""
    raise TemplateError(message, format_path(path))


def read_document(content: str | bytes | JsonObject, *, what: str, source: str | None = None) -> JsonObject:
    """The object a text holds, or a parsed object checked in the same way.

    Refused with a `TemplateError`: text that is not UTF-8 or not JSON (with line and column), a document that is no
    object or too large or too deep, a name that stands twice in one object, NaN, integers beyond 64 bits, half
    characters.
    """
    place = f"{what} {source}" if source else f"the {what}"
    value = content if isinstance(content, dict) else _parse(content, place)
    if not isinstance(value, dict):
        raise TemplateError(f"{place} must be a JSON object, not {kind_of(value)}", "$")
    _check(value)
    if _may_hold_halves(content):
        _refuse_half_characters(value, ())
    return value


def _may_hold_halves(content: str | bytes | JsonObject) -> bool:
    if isinstance(content, bytes):
        return b"\\ud" in content.lower()
    return isinstance(content, str) and "\\ud" in content.lower()


def _refuse_half_characters(value: Json, path: Path) -> None:
    """Half of a character, an escape from ``\\ud800`` to ``\\udfff`` without its other half, has no UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            fail(path, "the text holds half of a character, a lone surrogate escape; write the whole character")
    elif isinstance(value, dict):
        for name, item in value.items():
            _refuse_half_characters(name, path)
            _refuse_half_characters(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            _refuse_half_characters(item, (*path, at))


def _parse(content: str | bytes, place: str) -> Json:
    if len(content) > MAX_TEMPLATE_BYTES:
        raise TemplateError(f"{place} is larger than {MAX_TEMPLATE_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content.removeprefix("\ufeff")
        return json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise TemplateError(f"{place} is not UTF-8 text: byte {error.start} is wrong") from None
    except json.JSONDecodeError as error:
        raise TemplateError(f"{place} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise TemplateError(f"{place} nests deeper than {MAX_DEPTH} levels") from None


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        repeated = _Repeated(members)
        names = [name for name, _ in pairs]
        repeated.name = next(name for name in names if names.count(name) > 1)
        return repeated
    return members


def _integer(digits: str) -> int | float:
    # A number that is too large becomes infinity here, and is reported with its place by the check that follows.
    return int(digits) if len(digits) <= 20 else math.inf


def _constant(_name: str) -> float:
    return math.inf


def _check(value: JsonObject) -> None:
    pending: list[tuple[Json, Path]] = [(value, ())]
    while pending:
        one, path = pending.pop()
        if isinstance(one, dict):
            if type(one) is _Repeated:
                fail((*path, one.name), "this name stands twice in one object; keep one of them")
            if len(path) >= MAX_DEPTH:
                fail(path, f"the document nests deeper than {MAX_DEPTH} levels")
            for key, item in one.items():
                if not isinstance(key, str):
                    fail(path, "names are strings")
                if not isinstance(item, str):
                    pending.append((item, (*path, key)))
        elif isinstance(one, list):
            if len(path) >= MAX_DEPTH:
                fail(path, f"the document nests deeper than {MAX_DEPTH} levels")
            pending.extend((item, (*path, at)) for at, item in enumerate(one) if not isinstance(item, str))
        elif isinstance(one, bool) or one is None:
            continue
        elif isinstance(one, int):
            if not INT_MIN <= one <= INT_MAX:
                fail(path, "the integer does not fit into 64 bits")
        elif isinstance(one, float):
            if not math.isfinite(one):
                fail(path, "the number is not finite, or an integer that does not fit into 64 bits")
        else:
            fail(path, f"{type(one).__name__} is no JSON value")


def an_object(value: Json, path: Path) -> JsonObject:
    """The value if it is an object."""
    if isinstance(value, dict):
        return cast("JsonObject", value)
    fail(path, f"an object is due here, not {kind_of(value)}")


def an_array(value: Json, path: Path) -> list[Any]:
    """The value if it is an array."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    fail(path, f"an array is due here, not {kind_of(value)}")


def a_text(value: Json, path: Path) -> str:
    """The value if it is a string that is not empty."""
    if isinstance(value, str) and value:
        return value
    fail(path, f"a string is due here, not {'an empty one' if value == '' else kind_of(value)}")


def section(document: JsonObject, name: str, path: Path = ()) -> JsonObject:
    """An optional object member, empty if absent; its names must differ in more than letter case."""
    if document.get(name) is None:
        return {}
    members = an_object(document[name], (*path, name))
    seen: dict[str, str] = {}
    for key in members:
        if key.lower() in seen:
            fail((*path, name, key), f"'{seen[key.lower()]}' has the same name: letter case does not count")
        seen[key.lower()] = key
    return members


def only(members: JsonObject, known: frozenset[str], path: Path) -> None:
    """Refuse members that are not known, with the nearest known name."""
    for name in members:
        if name not in known:
            fail((*path, name), f"this member is not understood; {nearest(name, sorted(known), noun='understood are')}")
