"""The places in a body, each with what its type says about it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extensor.contract import Json, JsonObject, decode_unknowns
from extensor.contract.paths import Path
from extensor.types import model
from extensor.types.checks import check_of, fits_kind
from extensor.types.findings import Mode
from extensor_conformance.values import ANYWHERE

if TYPE_CHECKING:
    from extensor_conformance.kind import Kind

_PREVIEW = Mode(given=True, unknown=True)


@dataclass(frozen=True, slots=True)
class Place:
    """One value in a body; the body itself has the empty path."""

    path: Path
    value: Json
    type: model.Type
    """No union, and for a discriminated object the variant that the value is."""
    declared: model.Type
    """As the type says it."""
    item: model.Property | None = None
    """The property that it is; ``None`` for the body, array items and what only `additional_properties` allow."""
    discriminator: str | None = None
    """The property of this object that tells its variant."""
    naming: bool = False
    """It is part of what names the resource."""
    immutable: bool = False
    """It, or what it is in, may not change."""
    hidden: bool = False
    """It, or what it is in, is write-only or calculated."""
    secret: bool = False
    told: bool = False
    """It is itself a discriminator."""


def places(kind: "Kind", properties: JsonObject) -> Iterator[Place]:
    """Every place in a body that its type describes, outer ones first, in the order of the document."""
    identity = kind.identity

    def walk(place: Place) -> Iterator[Place]:
        yield place
        type_, value = place.type, place.value
        if isinstance(type_, model.ObjectType) and isinstance(value, dict):
            for key, inner in value.items():
                item = type_.properties.get(key)
                declared = item.type if item is not None else type_.additional_properties
                if declared is not None:
                    yield from walk(below(place, key, inner, declared, item))
        elif isinstance(type_, model.ArrayType) and isinstance(value, list):
            for index, inner in enumerate(value):
                yield from walk(below(place, index, inner, type_.item_type, None))

    def below(outer: Place, step: str | int, value: Json, declared: model.Type, item: model.Property | None) -> Place:
        path = (*outer.path, step)
        made = _place(path, value, declared)
        return replace(
            made,
            item=item,
            naming=outer.naming or path in identity,
            immutable=outer.immutable or (item is not None and item.immutable),
            hidden=outer.hidden or (item is not None and (item.write_only or item.calculated)),
            secret=made.secret or outer.secret,
            told=outer.discriminator is not None and outer.discriminator == step,
        )

    return walk(_place((), properties, kind.type.body))


def _place(path: Path, value: Json, declared: model.Type) -> Place:
    type_ = declared
    while isinstance(type_, model.UnionType):
        type_ = _element(type_, value)
    discriminator = None
    if isinstance(type_, model.DiscriminatedObjectType):
        discriminator = type_.discriminator
        told = value.get(discriminator) if isinstance(value, dict) else None
        type_ = type_.variants.get(told, type_) if isinstance(told, str) else type_
    secret = isinstance(type_, model.StringType | model.StringLiteralType | model.ObjectType) and type_.sensitive
    return Place(path, value, type_, declared, discriminator=discriminator, secret=secret)


def _element(union: model.UnionType, value: Json) -> model.Type:
    likely = [item for item in union.elements if fits_kind(value, item)]
    if len(likely) > 1:
        decoded = decode_unknowns(value)
        likely = [item for item in likely if check_of(item, _PREVIEW)(decoded) is None] or likely
    return likely[0] if likely else model.AnyType()


def allows(type_: model.Type, value: Json) -> bool:
    """Whether a known wire value is one of a type's."""
    return check_of(type_, _PREVIEW)(decode_unknowns(value)) is None


def with_value(value: Json, path: Path, new: Json) -> Json:
    """A copy of a body in which the value at a path is another; only what lies around it is copied."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [with_value(item, rest, new) if index == step else item for index, item in enumerate(value)]
    if isinstance(value, dict):
        inner = with_value(value.get(step), rest, new)  # pyright: ignore[reportArgumentType]
        return {**value, step: inner}  # pyright: ignore[reportReturnType]
    return new


def without_value(value: Json, path: Path) -> Json:
    """A copy of a body without what stands at a path, which is not the whole; as it is when nothing stands there."""
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        if rest:
            return [without_value(item, rest) if index == step else item for index, item in enumerate(value)]
        return [item for index, item in enumerate(value) if index != step]
    if isinstance(value, dict) and step in value:
        if rest:
            return {key: without_value(item, rest) if key == step else item for key, item in value.items()}
        return {key: item for key, item in value.items() if key != step}
    return value


def picked(body: JsonObject, paths: Iterable[Path]) -> JsonObject:
    """The parts of a body that stand at these paths, nested as they are there; null and absent ones are left out."""
    made: JsonObject = {}
    for path in paths:
        value: Json = body
        for step in path:
            value = value.get(str(step)) if isinstance(value, dict) else None
        if value is not None:
            at = made
            for step in path[:-1]:
                at = at.setdefault(str(step), {})
            at[str(path[-1])] = value
    return made


def flagged(body: model.Body) -> tuple[Path, ...]:
    """Paths of calculated and write-only properties that lie inside arrays, maps and variants; ``*`` is any step.

    Those with one fixed path are in the `Shape`.
    """
    return tuple(dict.fromkeys(path for path in _flagged(body, (), ()) if ANYWHERE in path))


def _flagged(type_: model.Type, path: Path, above: tuple[int, ...]) -> Iterator[Path]:
    if id(type_) in above or len(above) > 12:
        return
    inside = (*above, id(type_))
    match type_:
        case model.ObjectType():
            for key, item in type_.properties.items():
                if item.calculated or item.write_only:
                    yield (*path, key)
                else:
                    yield from _flagged(item.type, (*path, key), inside)
            if type_.additional_properties is not None:
                yield from _flagged(type_.additional_properties, (*path, ANYWHERE), inside)
        case model.DiscriminatedObjectType():
            for variant in type_.variants.values():
                yield from _flagged(variant, path, inside)
        case model.ArrayType():
            yield from _flagged(type_.item_type, (*path, ANYWHERE), inside)
        case model.UnionType():
            for element in type_.elements:
                yield from _flagged(element, path, inside)
        case _:
            pass
