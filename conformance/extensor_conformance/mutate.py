"""Bodies with one fault, each with the paths and codes that a refusal may name."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extensor.contract import ErrorCode, Json, JsonObject, decode_unknowns, format_path
from extensor.contract.paths import Path
from extensor.types import model
from extensor.types.leaves import readable_pattern
from extensor.types.validate import validate
from extensor_conformance.draw import Draw
from extensor_conformance.places import Place, allows, places, with_value, without_value
from extensor_conformance.values import ANYWHERE, Maker

if TYPE_CHECKING:
    from extensor_conformance.kind import Kind

MOST = 60
"""Mutations of one body; of more, as large types have, a part that is spread over all is taken."""
NO_SUCH = "noSuchProperty"
_LONGEST = 100_000
"""A bound on lengths beyond this is not tried."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A body with one fault."""

    properties: JsonObject
    path: Path
    """Of the fault, below the properties."""
    paths: tuple[str, ...]
    """JSONPaths that an error may name: the place itself, or its parent when something is missing there."""
    codes: tuple[str, ...]
    """Codes that an error may carry."""
    note: str
    """For people: ``without $.properties.name``."""
    fault: str = ""
    """``missing``, ``type``, ``word``, ``bound``, ``length``, ``pattern``, ``extra`` or ``readOnly``."""


@dataclass(frozen=True, slots=True)
class _Idea:
    """A mutation that is not made yet."""

    fault: str
    path: Path
    note: str
    make: Callable[[], Json]
    """The mutated body."""
    codes: tuple[str, ...] = (ErrorCode.INVALID_PROPERTY,)
    parent: bool = False


def mutations(draw: Draw, kind: "Kind", properties: JsonObject) -> Iterator[Mutation]:
    """See `Kind.mutations`. Each is one by the reference validation, which finds a fault there and nowhere else."""
    ideas = [idea for place in _apart(places(kind, properties)) for idea in _ideas(draw, kind, properties, place)]
    if len(ideas) > MOST:
        start = draw.integer(0, len(ideas) - 1)
        ideas = [ideas[(start + index * len(ideas) // MOST) % len(ideas)] for index in range(MOST)]
    before = _faults(kind, properties)
    for idea in ideas:
        body = idea.make()
        places_ = [idea.path, idea.path[:-1]] if idea.parent else [idea.path]
        paths = tuple(format_path(("properties", *path)) for path in places_)
        new = _faults(kind, body) - before
        if isinstance(body, dict) and new and new <= {(path, code) for path in paths for code in idea.codes}:
            yield Mutation(body, idea.path, paths, idea.codes, f"{idea.note} {paths[0]}", idea.fault)


def _apart(found: Iterable[Place]) -> Iterator[Place]:
    """The places without the third and later of those that differ by an index alone."""
    seen: Counter[Path] = Counter()
    for place in found:
        likes = tuple(ANYWHERE if isinstance(step, int) else step for step in place.path)
        seen[likes] += 1
        if seen[likes] <= 2:
            yield place


def _faults(kind: "Kind", body: Json) -> set[tuple[str | None, str]]:
    found = validate(decode_unknowns(body), kind.type, purpose="save")
    return {(fault.path, fault.code) for fault in found}


def _ideas(draw: Draw, kind: "Kind", body: JsonObject, place: Place) -> Iterator[_Idea]:
    if isinstance(place.type, model.ObjectType) and isinstance(place.value, dict):
        yield from _object_ideas(draw, kind, body, place, place.type, place.value)
    if not place.path:
        return

    def put(value: Json) -> Callable[[], Json]:
        return lambda: with_value(body, place.path, value)

    wrong = _wrong_value(draw, place)
    if wrong is not None:
        codes = (ErrorCode.INVALID_PROPERTY,) if wrong[0] is not None else _NULL
        yield _Idea("type", place.path, f"{_kind(wrong[0])} at", put(wrong[0]), codes)
    for fault, value, note in _bound_faults(draw, place):
        if not allows(place.declared, value):
            yield _Idea(fault, place.path, note, put(value))


_NULL = (ErrorCode.INVALID_PROPERTY, ErrorCode.MISSING_PROPERTY)


def _object_ideas(
    draw: Draw, kind: "Kind", body: JsonObject, place: Place, type_: model.ObjectType, value: JsonObject
) -> Iterator[_Idea]:
    for key, item in type_.properties.items():
        path = (*place.path, key)
        if item.required and key in value and not item.read_only:
            codes = (ErrorCode.MISSING_PROPERTY, ErrorCode.INVALID_PROPERTY)
            yield _Idea("missing", path, "without", _dropping(body, path), codes, parent=True)
        if item.read_only and key not in value:
            given = Maker(draw, kind).value(item.type, path)
            if given is not None:
                yield _Idea("readOnly", path, "given", _putting(body, path, given), (ErrorCode.READ_ONLY_PROPERTY,))
    if type_.additional_properties is None and NO_SUCH not in type_.properties:
        extra: Json = draw.canaries.fresh() if place.secret else draw.choice(("text", 7, True))
        path = (*place.path, NO_SUCH)
        codes = (ErrorCode.UNKNOWN_PROPERTY, ErrorCode.INVALID_PROPERTY)
        yield _Idea("extra", path, "extra", _putting(body, path, extra), codes)


def _dropping(body: JsonObject, path: Path) -> Callable[[], Json]:
    return lambda: without_value(body, path)


def _putting(body: JsonObject, path: Path, value: Json) -> Callable[[], Json]:
    return lambda: with_value(body, path, value)


def _wrong_value(draw: Draw, place: Place) -> tuple[Json] | None:
    """A value of another JSON kind, when there is one that the type does not allow."""
    text = draw.canaries.fresh() if place.secret else "not this"
    others: list[Json] = [[text], {"wrong": text}, True, 7, 1.5, text]
    if place.item is None or place.item.required:
        others.append(None)
    wrong = [value for value in others if _kind(value) != _kind(place.value) and not allows(place.declared, value)]
    return (draw.choice(wrong),) if wrong else None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case float() if not value.is_integer():
            return "a number with a fraction"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "an array"
        case _:
            return "an object"


def _bound_faults(draw: Draw, place: Place) -> Iterator[tuple[str, Json, str]]:
    """Values of the right kind that the type does not allow: the fault, the value, and words for people."""
    type_, value = place.type, place.value
    match type_:
        case model.StringLiteralType():
            yield "word", f"not-{'this' if type_.sensitive else type_.value}", "another word at"
        case model.IntegerType():
            if type_.min_value is not None:
                yield "bound", type_.min_value - 1, "too small a number at"
            if type_.max_value is not None:
                yield "bound", type_.max_value + 1, "too large a number at"
        case model.NumberType():
            yield from _number_faults(type_)
        case model.StringType() if isinstance(value, str):
            yield from _text_faults(draw, type_, value)
        case model.ArrayType() if isinstance(value, list):
            if type_.min_length:
                yield "length", value[: type_.min_length - 1], "too few items at"
            if type_.max_length is not None and value and type_.max_length < _LONGEST:
                many = [*value, *([value[-1]] * (type_.max_length + 1 - len(value)))]
                yield "length", many, "too many items at"
        case _:
            pass


def _number_faults(type_: model.NumberType) -> Iterator[tuple[str, Json, str]]:
    for low in (type_.min_value, type_.above):
        if low is not None:
            yield "bound", low - 1, "too small a number at"
    for high in (type_.max_value, type_.below):
        if high is not None:
            yield "bound", high + 1, "too large a number at"


def _text_faults(draw: Draw, type_: model.StringType, value: str) -> Iterator[tuple[str, Json, str]]:
    if type_.min_length:
        yield "length", value[: type_.min_length - 1], "too short a text at"
    if type_.max_length is not None and type_.max_length < _LONGEST:
        yield "length", value + "x" * (type_.max_length + 1 - len(value)), "too long a text at"
    pattern = readable_pattern(type_.pattern)
    if pattern is not None:
        low, high = type_.min_length or 0, type_.max_length
        tried = (f"{value[:-1]}!", f"!{value[1:]}", f"{value}!", f"!{value}", f"{value} ", " " * max(low, 1), "~" * low)
        fitting = [
            text
            for text in tried
            if len(text) >= low and (high is None or len(text) <= high) and pattern.search(text) is None
        ]
        if fitting:
            yield "pattern", draw.choice(fitting), "against the pattern at"
