"""Checks of the values that hold no others: texts, numbers, booleans, fixed words."""

import re
from collections.abc import Callable

from extensor.contract.codes import ErrorCode
from extensor.contract.json import Json
from extensor.types import model
from extensor.types.findings import Check, Found, Mode, count, listed, meant, one, wrong


def scalar_of(type_: model.Type) -> type | None:
    """The Python type whose every value fits; ``None`` when a look at the value is needed."""
    match type_:
        case model.StringType(min_length=None, max_length=None, pattern=None):
            return str
        case model.IntegerType(min_value=None, max_value=None):
            return int
        case model.BooleanType():
            return bool
        case _:
            return None


def readable_pattern(text: str | None) -> re.Pattern[str] | None:
    """The pattern, if Python can read it: patterns are .NET's by origin, and another one is left to the provider."""
    try:
        return None if text is None else re.compile(text)
    except re.error:
        return None


def null(mode: Mode) -> Check:
    """Null alone."""
    return _kind(lambda value: value is None, "null", mode)


def boolean(mode: Mode) -> Check:
    """True or false."""
    return _kind(lambda value: value is True or value is False, "a boolean", mode)


def _kind(fits: Callable[[Json], bool], expected: str, mode: Mode) -> Check:
    def check(value: Json, /) -> Found | None:
        return None if fits(value) else wrong(value, expected, mode)

    return check


def text(type_: model.StringType, mode: Mode) -> Check:
    """A text of the right length and form; lengths count code points."""
    least, most, pattern = type_.min_length, type_.max_length, readable_pattern(type_.pattern)

    def check(value: Json, /) -> Found | None:
        if type(value) is not str:
            return wrong(value, "a text", mode)
        if least is not None and len(value) < least:
            return one(ErrorCode.INVALID_PROPERTY, f"must be at least {count(least, 'character')} long")
        if most is not None and len(value) > most:
            return one(ErrorCode.INVALID_PROPERTY, f"must be at most {count(most, 'character')} long")
        if pattern is not None and pattern.search(value) is None:
            return one(ErrorCode.INVALID_PROPERTY, f"must match the pattern {type_.pattern}")
        return None

    return check


def integer(type_: model.IntegerType, mode: Mode) -> Check:
    """A whole number, ``1.0`` too, as in JSON Schema."""
    outside = _outside(type_.min_value, type_.max_value)

    def check(value: Json, /) -> Found | None:
        if type(value) is not int and not (type(value) is float and value.is_integer()):
            return wrong(value, "a whole number", mode)
        return outside(value)

    return check


def number(type_: model.NumberType, mode: Mode) -> Check:
    """A number."""
    outside = _outside(type_.min_value, type_.max_value, type_.above, type_.below)

    def check(value: Json, /) -> Found | None:
        if type(value) is not int and type(value) is not float:
            return wrong(value, "a number", mode)
        return outside(value)

    return check


def _outside(
    least: float | None, most: float | None, above: float | None = None, below: float | None = None
) -> Callable[[float], Found | None]:
    limits = (("at least", least), ("at most", most), ("more than", above), ("less than", below))
    message = f"must be {' and '.join(f'{words} {limit}' for words, limit in limits if limit is not None)}"

    def outside(value: float) -> Found | None:
        if (
            (least is not None and value < least)
            or (most is not None and value > most)
            or (above is not None and value <= above)
            or (below is not None and value >= below)
        ):
            return one(ErrorCode.INVALID_PROPERTY, message)
        return None

    return outside


def words(values: list[str], mode: Mode, *, sensitive: bool) -> Check:
    """One of the given texts; sensitive ones are not told."""
    known = frozenset(values)
    expected = "another word, which is secret" if sensitive else listed(values)

    def check(value: Json, /) -> Found | None:
        if type(value) is not str:
            return wrong(value, expected, mode)
        if value in known:
            return None
        return one(ErrorCode.INVALID_PROPERTY, f"expected {expected}{'' if sensitive else meant(value, values)}")

    return check
