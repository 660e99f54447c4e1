"""Inputs made from a provider's own types with Hypothesis."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from extensor.contract import Json, JsonObject
from extensor.contract.paths import Path
from extensor.types import model
from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.names import Names

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

    from extensor_conformance.kind import Kind

T = TypeVar("T")
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Change:
    """A body that differs from another in one property."""

    properties: JsonObject
    path: Path
    """Below the properties."""


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


@dataclass(frozen=True, slots=True)
class Placement:
    """A body with an unknown marker in one place."""

    properties: JsonObject
    path: Path
    """Of the marker, below the properties."""
    replaced: Json
    """What stood there."""


def collect(plan: Callable[[Draw], T], *, seed: int, count: int, names: Names, canaries: Canaries) -> list[T]:
    """Call `plan` with `count` different draws. The same seed and count give the same choices."""
    from hypothesis import HealthCheck, Phase, given, settings, strategies
    from hypothesis import seed as seeded

    made: list[T] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
    )
    @given(strategies.data())
    def run(data: "DataObject") -> None:
        made.append(plan(Draw(data, names, canaries)))

    with _ONE_AT_A_TIME:
        run()
    return made[:count]


def valid(draw: Draw, kind: "Kind", *, full: bool = False) -> JsonObject:
    """See `Kind.valid`."""
    body = kind.type.body
    variants = body.variants if isinstance(body, model.DiscriminatedObjectType) else None
    table = (draw.choice(list(variants.values())) if variants else body).properties  # pyright: ignore[reportAttributeAccessIssue]
    made: JsonObject = {}
    for name, item in table.items():
        if item.read_only or not (item.required or full or draw.boolean()):
            continue
        made[name] = _value(draw, item)
    return made


def _value(draw: Draw, item: model.Property) -> Json:
    match item.type:
        case model.StringType():
            if item.identifier:
                return draw.names.fresh()
            return draw.canaries.fresh() if item.type.sensitive else draw.text(max_size=20)
        case model.IntegerType():
            low = item.type.min_value if item.type.min_value is not None else -1000
            high = item.type.max_value if item.type.max_value is not None else max(low, 1000)
            return draw.integer(low, high)
        case model.BooleanType():
            return draw.boolean()
        case model.StringLiteralType():
            return item.type.value
        case model.ArrayType():
            return []
        case _:
            return {}


def change(draw: Draw, kind: "Kind", properties: JsonObject) -> Change | None:
    """See `Kind.change`."""
    body = kind.type.body
    if isinstance(body, model.DiscriminatedObjectType):
        return None
    free = [
        name
        for name, item in body.properties.items()
        if isinstance(item.type, model.StringType | model.IntegerType | model.BooleanType)
        and not (item.read_only or item.identifier or item.immutable)
    ]
    if not free:
        return None
    name = draw.choice(free)
    value = _value(draw, body.properties[name])
    return None if value == properties.get(name) else Change({**properties, name: value}, (name,))


def mutations(draw: Draw, kind: "Kind", properties: JsonObject) -> Iterator[Mutation]:
    """See `Kind.mutations`."""
    body = kind.type.body
    if isinstance(body, model.ObjectType):
        for name, item in body.properties.items():
            if item.required and name in properties and not item.identifier:
                left = {key: value for key, value in properties.items() if key != name}
                place = f"$.properties.{name}"
                yield Mutation(left, (name,), (place, "$.properties"), ("MissingProperty",), f"without {place}")


def placements(kind: "Kind", properties: JsonObject, *, identifiers: bool = False) -> Iterator[Placement]:
    """See `Kind.placements`."""
    named = {path[0] for path in kind.shape.identifiers}
    for name, value in properties.items():
        if identifiers or name not in named:
            yield Placement({**properties, name: {"$unknown": {}}}, (name,), value)
