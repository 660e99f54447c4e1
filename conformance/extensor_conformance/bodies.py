"""What checks ask about a body and its type: places, leaves, what may differ by design, other bodies like it."""

import copy
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from extensor.contract import Json, JsonObject, format_path, parse_path
from extensor.contract.paths import Path
from extensor.types import model
from extensor_conformance.compare import is_marker
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Plan, Step, Wait
from extensor_conformance.values import ANYWHERE, is_present

if TYPE_CHECKING:
    from extensor_conformance.draw import Draw

T = TypeVar("T")
Planner = TypeVar("Planner", bound=Callable[..., "Iterable[Plan]"])
Test: TypeAlias = Callable[[model.Property], bool]
UNKNOWN: JsonObject = {"$unknown": {}}


class Absent:
    """What `at` gives for a place that is not there."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


def at(value: Json, path: Path) -> Json | Absent:
    """The value at a place below another; `ABSENT` when there is none."""
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def put(value: Json, path: Path, new: Json | Absent) -> Json:
    """A copy with another value at a place; `ABSENT` removes a member. A place without a parent stays missing."""
    made = copy.deepcopy(value)
    if not path:
        return made if isinstance(new, Absent) else copy.deepcopy(new)
    parent = at(made, path[:-1])
    last = path[-1]
    if isinstance(parent, dict):
        if isinstance(new, Absent):
            parent.pop(str(last), None)
        else:
            parent[str(last)] = copy.deepcopy(new)
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent) and not isinstance(new, Absent):
        parent[last] = copy.deepcopy(new)
    return made


def place(path: Path) -> str:
    """A path below the properties as JSONPath."""
    return format_path(("properties", *path))


def below(path: Path, others: Iterable[Path]) -> bool:
    """Whether a path is one of the others or lies below one; ``*`` in those stands for any step."""
    return any(len(other) <= len(path) and _meets(path[: len(other)], other) for other in others)


def among(path: Path, others: Iterable[Path]) -> bool:
    """Whether a path is one of the others; ``*`` in those stands for any step."""
    return any(len(other) == len(path) and _meets(path, other) for other in others)


def _meets(path: Path, pattern: Path) -> bool:
    return path == pattern or all(one in (step, ANYWHERE) for step, one in zip(path, pattern, strict=True))


def read_path(text: object) -> Path | None:
    """A JSONPath in parts; ``None`` for what is none."""
    if not isinstance(text, str):
        return None
    try:
        return parse_path(text)
    except ValueError:
        return None


def table_of(type_: model.Type | None, value: Json = None) -> dict[str, model.Property]:
    """The named properties of an object type: of the variant that `value` is of, of all when it does not tell."""
    if isinstance(type_, model.ObjectType):
        return type_.properties
    if isinstance(type_, model.DiscriminatedObjectType):
        told = value.get(type_.discriminator) if isinstance(value, dict) else None
        variant = type_.variants.get(told) if isinstance(told, str) else None
        if variant is not None:
            return variant.properties
        return {name: item for one in type_.variants.values() for name, item in one.properties.items()}
    return {}


def inner_of(type_: model.Type | None, step: str | int, value: Json = None) -> model.Type | None:
    """The type of a member or an element; ``None`` when the type does not tell."""
    if isinstance(type_, model.ArrayType):
        return type_.item_type if isinstance(step, int) else None
    if isinstance(type_, model.UnionType):
        found = (inner_of(element, step, value) for element in type_.elements)
        return next((one for one in found if one is not None), None)
    item = table_of(type_, value).get(str(step))
    if item is not None:
        return item.type
    return type_.additional_properties if isinstance(type_, model.ObjectType) else None


def properties_on(kind: Kind, path: Path, body: Json = None) -> list[model.Property] | None:
    """The declared properties that a path passes, from the outside in; ``None`` when the type has no such place."""
    type_: model.Type | None = kind.type.body
    found: list[model.Property] = []
    value = body
    for step in path:
        if isinstance(type_, model.AnyType):
            return found
        item = table_of(type_, value).get(str(step)) if isinstance(step, str) else None
        type_ = inner_of(type_, step, value)
        if type_ is None:
            return None
        if item is not None:
            found.append(item)
        deeper = at(value, (step,))
        value = None if isinstance(deeper, Absent) else deeper
    return found


def flagged(kind: Kind, test: Test, *bodies: Json) -> list[Path]:
    """Every place in these bodies of a property that passes the test, those inside arrays, maps and variants too."""
    found: dict[Path, None] = {}
    for body in bodies:
        _flagged(kind.type.body, body, (), test, found)
    return list(found)


def _flagged(type_: model.Type | None, value: Json, path: Path, test: Test, found: dict[Path, None]) -> None:
    if isinstance(type_, model.UnionType):
        for element in type_.elements:
            _flagged(element, value, path, test, found)
    elif isinstance(value, dict) and not is_marker(value):
        table = table_of(type_, value)
        for name, item in value.items():
            known = table.get(name)
            if known is not None and test(known):
                found[*path, name] = None
            else:
                _flagged(inner_of(type_, name, value), item, (*path, name), test, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _flagged(inner_of(type_, index), item, (*path, index), test, found)


def _volatile(item: model.Property) -> bool:
    return item.calculated or item.write_only


def volatile(kind: Kind, *bodies: Json) -> tuple[Path, ...]:
    """What comparisons of these bodies pass over: calculated and write-only places, and the author's random ones."""
    return (*kind.ignored(), *flagged(kind, _volatile, *bodies))


def read_only(kind: Kind, *bodies: Json) -> tuple[Path, ...]:
    """The read-only places in these bodies."""
    return (*kind.shape.read_only, *flagged(kind, lambda item: item.read_only, *bodies))


def is_secret(kind: Kind, path: Path) -> bool:
    """Whether a place holds a value that must not be told."""
    if below(path, kind.shape.secret):
        return True
    return any(_sensitive(item.type) for item in properties_on(kind, path) or [])


def _sensitive(type_: model.Type) -> bool:
    return isinstance(type_, model.StringType | model.StringLiteralType | model.ObjectType) and type_.sensitive


def given(kind: Kind, body: JsonObject) -> list[Path]:
    """The places that a body gives a value as a whole: scalars, arrays, maps; not the objects with named members."""
    found: list[Path] = []
    _given(kind.type.body, body, (), found)
    return found


def _given(type_: model.Type | None, value: Json, path: Path, found: list[Path]) -> None:
    table = table_of(type_, value)
    if not isinstance(value, dict) or not table:
        found.append(path)
        return
    for name, item in value.items():
        if name in table:
            _given(table[name].type, item, (*path, name), found)
        else:
            found.append((*path, name))


def optional(kind: Kind, body: JsonObject) -> list[str]:
    """The top-level properties of a body that may be left out and do not name the resource."""
    table = table_of(kind.type.body, body)
    tag = kind.type.body.discriminator if isinstance(kind.type.body, model.DiscriminatedObjectType) else None
    return [
        name
        for name in body
        if name in table
        and name != tag
        and not (table[name].required or table[name].identifier or table[name].read_only)
        and not is_present(kind.fixture.overrides, (name,))
    ]


def required_part(kind: Kind, body: JsonObject) -> JsonObject:
    """The body without everything that may be left out at its top level."""
    leave = optional(kind, body)
    return {name: item for name, item in body.items() if name not in leave}


# -- bodies that are related -----------------------------------------------------------------------------------------


def changed(draw: "Draw", kind: Kind, body: JsonObject, times: int = 3) -> JsonObject | None:
    """The body after several changes, each in a property that may change; ``None`` when there is nothing to change."""
    made = body
    for _ in range(times):
        change = kind.change(draw, made)
        if change is not None:
            made = change.properties
    return made if made != body else None


def with_identity(kind: Kind, body: JsonObject, other: JsonObject) -> JsonObject:
    """The body under the identity of another."""
    made: Json = body
    for path in kind.identity:
        made = put(made, path, at(other, path))
    assert isinstance(made, dict)
    return made


def others(draw: "Draw", kind: Kind, count: int = 2) -> list[JsonObject]:
    """Bodies from which `other_value` takes what a place may hold too."""
    return [kind.valid(draw, full=True) for _ in range(count)]


def other_value(body: JsonObject, path: Path, bodies: Sequence[JsonObject]) -> JsonObject | None:
    """The body with what another body has at that place; ``None`` when none of them has another value there."""
    present = at(body, path)
    for one in bodies:
        value = at(one, path)
        if not isinstance(value, Absent) and value != present:
            made = put(body, path, value)
            assert isinstance(made, dict)
            return made
    return None


def provider_names(kind: Kind) -> bool:
    """Whether the provider gives resources a part of their names, so that a body alone names none."""
    return any(below(path, kind.shape.read_only) for path in kind.identity)


def text_identity(kind: Kind, body: JsonObject) -> Path | None:
    """The place of an identifier that is a text in this body and may be chosen."""
    for path in kind.identity:
        found = properties_on(kind, path, body)
        if found and isinstance(found[-1].type, model.StringType) and isinstance(at(body, path), str):
            return path
    return None


def named(kind: Kind, body: JsonObject, path: Path, text: str) -> JsonObject | None:
    """The body with another text as an identifier; ``None`` when the type does not allow that text."""
    found = properties_on(kind, path, body)
    type_ = found[-1].type if found else None
    if not isinstance(type_, model.StringType) or not text_fits(type_, text):
        return None
    made = put(body, path, text)
    assert isinstance(made, dict)
    return made


def text_fits(type_: model.StringType, text: str) -> bool:
    """Whether a text keeps a type's bounds; a pattern that Python cannot read is left to the provider."""
    if not (type_.min_length or 0) <= len(text) <= (type_.max_length if type_.max_length is not None else len(text)):
        return False
    if type_.pattern is None:
        return True
    try:
        return re.search(type_.pattern, text) is not None
    except re.error:
        return True


def some(draw: "Draw", items: Sequence[T], most: int) -> list[T]:
    """At most so many of the items, neighbours in a ring from a drawn start, in their order."""
    if len(items) <= most:
        return list(items)
    start = draw.integer(0, len(items) - 1)
    chosen = sorted((start + step * len(items) // most) % len(items) for step in range(most))
    return [items[index] for index in dict.fromkeys(chosen)]


# -- steps ----------------------------------------------------------------------------------------------------------


def window(kind: Kind) -> tuple[Step, ...]:
    """A pause after a change, where the author says that reads may be old for a while."""
    seconds = kind.fixture.consistency_window
    return (Wait(seconds),) if seconds > 0 else ()


def apart(plan: Planner) -> Planner:
    """A check's `plan` whose cases share names: each after the first begins with a pause, where reads may be old.

    What the case before left and the kit removed must not be seen any more.
    """

    @functools.wraps(plan)
    def planned(check: Any, draw: "Draw", kind: Kind) -> Iterable[Plan]:
        pause = window(kind)
        for number, one in enumerate(plan(check, draw, kind)):
            yield one.with_steps(*pause, *one.steps) if number and pause else one

    return planned  # pyright: ignore[reportReturnType]
