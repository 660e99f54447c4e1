"""How the bodies of a case stand to each other, which is what its judge relies on.

A plan sends one body in several steps, or others that differ from it in one place: a fault, a marker, a property less.
However small the case is made, bodies may come to differ only where they did, and name the same resource, or not, as
they did; and what the note says of a place stays true.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from extensor.contract import Json, JsonObject, format_path, parse_path
from extensor.contract.paths import Path
from extensor_conformance.case import Case
from extensor_conformance.compare import is_marker
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Drop, Parallel, ProbeStep, Step, pick
from extensor_conformance.values import ANYWHERE

Key: TypeAlias = tuple[str, str]
"""Name of a step, and the member of it that holds the body."""

_PLACE = re.compile(r"\$\.properties(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\['(?:[^'\\]|\\.)*'\])+")
_MEMBERS = ("identifiers", "change")


@dataclass(frozen=True, slots=True)
class Part:
    """One body of a case."""

    key: Key
    body: JsonObject
    call: Call | None
    """The call that sends it; ``None`` for what the probe is told."""


def calls_of(step: Step) -> tuple[Call, ...]:
    """The calls that a step makes."""
    match step:
        case Call():
            return (step,)
        case Parallel():
            return step.calls
        case Drop():
            return (step.call,)
        case _:
            return ()


def parts_of(steps: Iterable[Step]) -> list[Part]:
    """All bodies that stand in the steps, in their order."""
    found: list[Part] = []
    for step in steps:
        found += [
            Part((call.name, "properties"), call.properties, call)
            for call in calls_of(step)
            if isinstance(call.properties, dict)
        ]
        if isinstance(step, ProbeStep):
            for member in _MEMBERS:
                value = getattr(step, member)
                if isinstance(value, dict) and value:
                    found.append(Part((step.name, member), value, None))
    return found


def with_parts(step: Step, new: Mapping[Key, Json]) -> Step:
    """The step with other bodies."""

    def edited(call: Call) -> Call:
        key = (call.name, "properties")
        return replace(call, properties=new[key]) if key in new else call

    match step:
        case Call():
            return edited(step)
        case Parallel():
            return replace(step, calls=tuple(map(edited, step.calls)))
        case Drop():
            return replace(step, call=edited(step.call))
        case ProbeStep():
            changes = {member: new[step.name, member] for member in _MEMBERS if (step.name, member) in new}
            return replace(step, **changes) if changes else step  # pyright: ignore[reportArgumentType]
        case _:
            return step


@dataclass(frozen=True, slots=True)
class _Relation:
    """How two bodies of the case as it was stand to each other."""

    apart: tuple[Path, ...]
    """Where they differ."""
    alike: bool | None
    """Whether they name the same resource; ``None`` where nothing can be said."""
    noted: tuple[tuple[bool, bool, bool], ...]
    """For each place of the note: whether the one has it, whether the other has, and whether they are equal there."""


class Ties:
    """Of a case, as it was made."""

    def __init__(self, case: Case, kind: Kind | None) -> None:
        self._kind = kind
        self._first = {part.key: part for part in parts_of(case.steps)}
        self._noted = tuple(places_in(case.plan.note))
        self._known: dict[tuple[Key, Key], _Relation] = {}

    def hold(self, steps: Iterable[Step]) -> bool:
        """Whether the bodies of these steps, some of the case's, stand to each other as they did."""
        parts = parts_of(steps)
        return all(self._holds(one, other) for index, one in enumerate(parts) for other in parts[:index])

    def _holds(self, one: Part, other: Part) -> bool:
        was = self._was(one.key, other.key)
        if one.body != other.body:
            for path in _apart(one.body, other.body, ()):
                if not any(path[: len(place)] == place for place in was.apart):
                    return False
        return self._alike(one, other) == was.alike and self._at_note(one, other) == was.noted

    def _was(self, one: Key, other: Key) -> _Relation:
        found = self._known.get((one, other))
        if found is None:
            first, second = self._first[one], self._first[other]
            places = tuple(_apart(first.body, second.body, ()))
            found = _Relation(places, self._alike(first, second), self._at_note(first, second))
            self._known[one, other] = found
        return found

    def _alike(self, one: Part, other: Part) -> bool | None:
        if self._kind is None or any(part.call is not None and part.call.type is not None for part in (one, other)):
            return None
        return self._kind.identifiers(one.body) == self._kind.identifiers(other.body)

    def _at_note(self, one: Part, other: Part) -> tuple[tuple[bool, bool, bool], ...]:
        found: list[tuple[bool, bool, bool]] = []
        for path in self._noted:
            here, there = list(_at(one.body, path)), list(_at(other.body, path))
            found.append((bool(here), bool(there), _text(here) == _text(there)))
        return tuple(found)


def places_in(text: str) -> Iterator[Path]:
    """The places below the properties that a text names."""
    for match in _PLACE.finditer(text):
        try:
            yield parse_path(match.group())[1:]
        except ValueError:
            continue


def _apart(one: Json, other: Json, path: Path) -> Iterator[Path]:
    """Where two bodies differ, the outermost places; elements of arrays of the same length as ``*``."""
    if isinstance(one, dict) and isinstance(other, dict) and not is_marker(one) and not is_marker(other):
        for key in {**one, **other}:
            if key not in one or key not in other:
                yield (*path, key)
            else:
                yield from _apart(one[key], other[key], (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from _apart(left, right, (*path, ANYWHERE))
    elif _text(one) != _text(other):
        yield path


def _at(value: Json, path: Path) -> Iterator[Json]:
    """The value at a place, if there is one."""
    try:
        yield pick(value, format_path(path))
    except LookupError:
        return


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
