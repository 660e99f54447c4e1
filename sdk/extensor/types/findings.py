"""What a check finds, how it is gathered on the way out, and the words in which it is told.

No message quotes a given value, since it may be a secret.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from extensor.contract.codes import ErrorCode
from extensor.contract.data import json_kind
from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.types.suggest import nearest

Found: TypeAlias = list[tuple[str, str, list[str | int]]]
"""Code, message, and the steps of the path from the place outwards."""

Check: TypeAlias = Callable[[Json], Found | None]
"""Answers ``None`` for a good value, so that a body without faults builds no list and no path."""

UNKNOWN_REFUSED = "is not known yet; unknown values may stand in previews only"
MOST_LISTED = 12


class Mode(NamedTuple):
    """How the rules differ: who gave the body, whether unknowns may stand in it, whether it only names a resource."""

    given: bool
    unknown: bool
    naming: bool = False


def one(code: str, message: str, *steps: str | int) -> Found:
    """A single finding."""
    return [(code, message, list(steps))]


def under(step: str | int, inner: Found, found: Found | None) -> Found:
    """`found` with what was found below `step`."""
    for item in inner:
        item[2].append(step)
    if found is None:
        return inner
    found.extend(inner)
    return found


def wrong(value: Json, expected: str, mode: Mode) -> Found | None:
    """What a value that is not `expected` is told; an unknown one passes in a preview."""
    if type(value) is Unknown:
        return None if mode.unknown else one(ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED, UNKNOWN_REFUSED)
    if value is None:
        return one(ErrorCode.INVALID_PROPERTY, f"null is not allowed here; expected {expected}")
    return one(ErrorCode.INVALID_PROPERTY, f"expected {expected}, got {_kind(value)}")


def _kind(value: Json) -> str:
    if isinstance(value, str):
        return "a text"
    return "a number with a fraction" if isinstance(value, float) and not value.is_integer() else json_kind(value)


def accept(_: Json, /) -> Found | None:
    """Any value will do."""
    return None


def without_unknowns(value: Json, /) -> Found | None:
    """Any value will do, as long as it is known to its depths."""
    kind = type(value)
    if kind is Unknown:
        return one(ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED, UNKNOWN_REFUSED)
    if kind is not dict and kind is not list:
        return None
    found: Found | None = None
    for key, item in value.items() if kind is dict else enumerate(value):
        inner_kind = type(item)
        if inner_kind is dict or inner_kind is list or inner_kind is Unknown:
            inner = without_unknowns(item)
            if inner is not None:
                found = under(key, inner, found)
    return found


def count(n: int, noun: str) -> str:
    """``1 item``, ``2 items``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def listed(values: Iterable[str]) -> str:
    """``one of 'a', 'b'``, not endlessly."""
    names = [f"'{value}'" for value in values]
    if not names:
        return "nothing"
    if len(names) > MOST_LISTED:
        return f"one of {', '.join(names[:MOST_LISTED])} and {len(names) - MOST_LISTED} more"
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def meant(given: str, known: Iterable[str]) -> str:
    """``; did you mean 'name'?``, or nothing."""
    near = nearest(given, known)
    return f"; did you mean '{near}'?" if near is not None else ""
