"""Inputs made from a provider's own types with Hypothesis."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from extensor.contract import Json, JsonObject
from extensor.contract.paths import Path
from extensor.types import model
from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.mutate import Mutation, mutations
from extensor_conformance.names import Names
from extensor_conformance.places import Place, allows, places, with_value
from extensor_conformance.values import Maker, rule_for

if TYPE_CHECKING:
    from extensor_conformance.draw import Source
    from extensor_conformance.kind import Kind

__all__ = ["Change", "Mutation", "Placement", "change", "collect", "fillings", "mutations", "placements", "valid"]

T = TypeVar("T")
MARKER: JsonObject = {"$unknown": {}}
_BYTES = 8192
"""The choices of one example; what does not fit is given up, and other bytes are tried."""
_TRIES = 20
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Change:
    """A body that differs from another in one property."""

    properties: JsonObject
    path: Path
    """Below the properties."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A body with an unknown marker in one place."""

    properties: JsonObject
    path: Path
    """Of the marker, below the properties."""
    replaced: Json
    """What stood there."""


def collect(
    plan: Callable[[Draw], T], *, seed: int, count: int, names: Names, canaries: Canaries, plain: bool = True
) -> list[T]:
    """Call `plan` with up to `count` different draws, the simplest first if `plain`.

    Each draw depends on the seed and its own index alone, so that asking for more changes none. An example that makes
    the same choices as an earlier one is left out. What `plan` raises is let out.
    """
    made: list[T] = []
    seen: set[bytes] = set()
    for index in range(count):
        drawn, result = _example(plan, f"{seed}:{index}", names, canaries, plain=plain and index == 0)
        if drawn is not None and drawn not in seen:
            seen.add(drawn)
            made.append(result)
    return made


def _example(
    plan: Callable[[Draw], T], seed: str, names: Names, canaries: Canaries, *, plain: bool
) -> tuple[bytes | None, Any]:
    """The choices of an example, ``None`` when none could be made, and what `plan` made of them."""
    target, current = _target()
    result: list[T] = []

    def run(source: "Source") -> None:
        result[:] = [plan(Draw(source, names, canaries))]

    for attempt in range(_TRIES):
        first = plain and attempt == 0
        buffer = bytes(_BYTES) if first else hashlib.shake_256(f"{seed}:{attempt}".encode()).digest(_BYTES)
        with _ONE_AT_A_TIME:
            current[:] = [run]
            try:
                drawn = target(buffer)
            finally:
                current.clear()
        if drawn is not None:
            return drawn, result[0]
    return None, None


@cache
def _target() -> "tuple[Callable[[bytes], bytes | None], list[Callable[[Source], None]]]":
    """Hypothesis driven by bytes: the same bytes give the same choices, whatever was drawn before or is imported."""
    from hypothesis import given, settings, strategies

    current: list[Callable[[Source], None]] = []

    @strategies.composite
    def example(draw: "Source") -> None:
        current[0](draw)

    @settings(database=None, deadline=None)
    @given(example())
    def run(_: None) -> None:
        pass

    target: Callable[[bytes], bytes | None] = run.hypothesis.fuzz_one_input  # pyright: ignore[reportFunctionMemberAccess]
    return target, current


def valid(draw: Draw, kind: "Kind", *, full: bool = False) -> JsonObject:
    """See `Kind.valid`."""
    made = Maker(draw, kind, full=full).value(kind.type.body, ())
    assert isinstance(made, dict)
    return made


def change(draw: Draw, kind: "Kind", properties: JsonObject) -> Change | None:
    """See `Kind.change`."""
    free = list(_changeable(kind, properties))
    visible = [item for item in free if not item.hidden] or free
    if not visible:
        return None
    for _ in range(_TRIES):
        place = draw.choice(visible)
        value = _another(draw, kind, place)
        if value is not None:
            body = with_value(properties, place.path, value[0])
            assert isinstance(body, dict)
            return Change(body, place.path)
    return None


def _changeable(kind: "Kind", properties: JsonObject) -> Iterator[Place]:
    """Places that may change, and optional properties that may be added: nothing that names, is fixed or is whole.

    A property is never taken away, since what is absent is left as it is; so an object changes by what is in it.
    """
    identity = kind.identity
    for place in places(kind, properties):
        if place.naming or place.immutable:
            continue
        if place.path and not place.told and not isinstance(place.type, model.ObjectType):
            yield place
        if isinstance(place.type, model.ObjectType):
            for key, item in place.type.properties.items():
                path = (*place.path, key)
                absent = isinstance(place.value, dict) and key not in place.value
                fixed = item.read_only or item.immutable or any(named[: len(path)] == path for named in identity)
                if absent and not fixed and rule_for(kind.fixture.overrides, path).get("omit") is not True:
                    hidden = place.hidden or item.write_only or item.calculated
                    yield Place(path, _ABSENT, item.type, item.type, item, hidden=hidden, secret=place.secret)


_ABSENT: Json = {"": "absent"}


def _another(draw: Draw, kind: "Kind", place: Place) -> tuple[Json] | None:
    """Another valid value for a place; ``None`` when there seems to be none."""
    for _ in range(4):
        value = Maker(draw, kind).value(place.declared, place.path, secret=place.secret)
        if not same(value, place.value) and (place.value is not None or value is not None):
            return (value,)
    return None


def same(one: Json, other: Json) -> bool:
    """Whether two wire values are equal: numbers by value, which no boolean is."""
    from extensor_conformance.compare import differences

    return not differences(one, other)


def placements(kind: "Kind", properties: JsonObject, *, identifiers: bool = False) -> Iterator[Placement]:
    """See `Kind.placements`."""
    identity = kind.identity
    for place in places(kind, properties):
        holds = place.naming or any(named[: len(place.path)] == place.path for named in identity)
        if place.path and (identifiers or not holds):
            body = with_value(properties, place.path, dict(MARKER))
            assert isinstance(body, dict)
            yield Placement(body, place.path, place.value)


def fillings(draw: Draw, kind: "Kind", placement: Placement) -> tuple[JsonObject, JsonObject] | None:
    """See `Kind.fillings`."""
    original = with_value(placement.properties, placement.path, placement.replaced)
    assert isinstance(original, dict)
    place = next((item for item in places(kind, original) if item.path == placement.path), None)
    if place is None or place.told:
        return None
    value = _another(draw, kind, place)
    if value is None or not allows(place.declared, value[0]):
        return None
    other = with_value(original, placement.path, value[0])
    assert isinstance(other, dict)
    return original, other


def renamed(draw: Draw, kind: "Kind", properties: JsonObject) -> JsonObject:
    """See `Kind.renamed`."""
    body: Json = properties
    for place in places(kind, properties):
        if place.naming and isinstance(place.value, str | int) and not isinstance(place.value, bool):
            body = with_value(body, place.path, Maker(draw, kind).value(place.declared, place.path))
    assert isinstance(body, dict)
    return body
