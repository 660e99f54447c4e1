"""Values made from a type: every construct of bicep-types, with the author's overrides."""

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from extensor.contract import Json, JsonObject
from extensor.contract.paths import Path
from extensor.types import model
from extensor.types.leaves import readable_pattern
from extensor_conformance import texts
from extensor_conformance.draw import Draw
from extensor_conformance.texts import Bounds

if TYPE_CHECKING:
    from extensor_conformance.kind import Kind

BUDGET = 150
"""Values in a body, about: beyond it only what is required is given, so that large types stay small bodies."""
DEPTH = 5
"""Levels below which only what is required is given, so that types which contain themselves come to an end."""
MOST_OPTIONAL = 8
ANYWHERE = "*"
"""A step of an override's path that stands for any name or index."""

_EDGES = (0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**53 - 1)
_KEYS = ("alpha", "beta", "with-dash", "app.io/name", "camelCase", "snake_case", "Ключ", "two words", "9")


class Maker:
    """Makes values of a kind for one draw. `full` gives every property that may be given, within the budget."""

    def __init__(self, draw: Draw, kind: "Kind", *, full: bool = False) -> None:
        self._draw = draw
        self._full = full
        self._left = BUDGET
        self._identity = kind.identity
        self._rules = kind.fixture.overrides
        self._sets = frozenset(kind.fixture.unordered)

    def value(self, type_: model.Type, path: Path, *, secret: bool = False) -> Json:
        """A valid value of a type for the place at `path`, below the properties."""
        self._left -= 1
        rule = rule_for(self._rules, path)
        if "value" in rule:
            return copy.deepcopy(rule["value"])
        if "choose" in rule:
            return copy.deepcopy(self._draw.choice(rule["choose"]))
        match type_:
            case model.StringType():
                return self._text(type_, path, rule, secret or type_.sensitive)
            case model.StringLiteralType():
                return type_.value
            case model.IntegerType():
                return self._integer(type_, path, rule)
            case model.NumberType():
                return self._number(type_, rule)
            case model.BooleanType():
                return self._draw.boolean()
            case model.NullType():
                return None
            case model.UnionType():
                return self.value(self._element(type_, path), path, secret=secret)
            case model.ArrayType():
                return self._array(type_, path, rule, secret)
            case model.ObjectType():
                return self._object(type_, path, secret or type_.sensitive)
            case model.DiscriminatedObjectType():
                return self._object(self._variant(type_, path), path, secret)
            case _:
                return self._anything(path, secret)

    def _object(self, type_: model.ObjectType, path: Path, secret: bool) -> JsonObject:
        given = self._given(type_.properties, path)
        made = {
            key: self.value(item.type, (*path, key), secret=secret)
            for key, item in type_.properties.items()
            if key in given
        }
        if type_.additional_properties is not None:
            for key in self._extra_keys(type_):
                if "omit" not in rule_for(self._rules, (*path, key)):
                    made[key] = self.value(type_.additional_properties, (*path, key), secret=secret)
        return made

    def _given(self, properties: Mapping[str, model.Property], path: Path) -> frozenset[str]:
        """The names of the properties that are given: required ones, and a choice of the others."""
        possible = {
            key: item
            for key, item in properties.items()
            if not item.read_only and rule_for(self._rules, (*path, key)).get("omit") is not True
        }
        required = [key for key, item in possible.items() if item.required or self._always((*path, key))]
        optional = [
            key
            for key, item in possible.items()
            if key not in required and not isinstance(item.type, model.NullType) and self._room(item.type, path)
        ]
        if self._full:
            chosen = optional if len(optional) <= self._left else self._draw.some(optional, MOST_OPTIONAL)
        else:
            chosen = self._draw.some(optional, MOST_OPTIONAL) if self._left > 0 else []
        return frozenset((*required, *chosen))

    def _always(self, path: Path) -> bool:
        """Whether the author says so, or the place names the resource, alone or with what is in it."""
        return is_present(self._rules, path) or any(place[: len(path)] == path for place in self._identity)

    def _within_name(self, path: Path) -> bool:
        return any(path[: len(place)] == place for place in self._identity)

    def _room(self, type_: model.Type, path: Path) -> bool:
        return len(path) < DEPTH or not isinstance(
            type_, model.ObjectType | model.DiscriminatedObjectType | model.ArrayType | model.UnionType
        )

    def _extra_keys(self, type_: model.ObjectType) -> list[str]:
        if self._left <= 0:
            return []
        most = 1 if type_.properties else 2
        wanted = self._draw.integer(1 if self._full else 0, most)
        known = {key.lower() for key in type_.properties}
        keys = dict.fromkeys(self._draw.choice(_KEYS) for _ in range(wanted))
        return [key for key in keys if key.lower() not in known]

    def _variant(self, type_: model.DiscriminatedObjectType, path: Path) -> model.ObjectType:
        variants = list(type_.variants.items())
        rule = rule_for(self._rules, (*path, type_.discriminator))
        wanted: Sequence[Json] = [rule["value"]] if "value" in rule else rule.get("choose", ())
        if wanted:
            variants = [item for item in variants if item[0] in wanted] or variants
        if len(path) >= DEPTH:
            return min((variant for _, variant in variants), key=height)
        return self._draw.choice(variants)[1]

    def _element(self, type_: model.UnionType, path: Path) -> model.Type:
        """Null only where nothing else can stand: for a property it means the same as its absence."""
        elements = [item for item in type_.elements if not isinstance(item, model.NullType)] or type_.elements
        if len(path) >= DEPTH:
            return min(elements, key=height)
        return self._draw.choice(elements)

    def _array(self, type_: model.ArrayType, path: Path, rule: JsonObject, secret: bool) -> list[Json]:
        low = max(type_.min_length or 0, int(rule.get("min", 0)))
        known = _least(type_.max_length, rule.get("max"))
        high = low + 3 if known is None else min(known, low + 3)
        if self._left <= 0 or len(path) >= DEPTH:
            high = low
        count = self._draw.integer(max(low, 1) if self._full and high else low, max(low, high))
        made: list[Json] = []
        for index in range(count):
            item = self.value(type_.item_type, (*path, index), secret=secret)
            if not _found_in(item, made) or path not in self._sets or len(made) < low:
                made.append(item)
        return made

    def _text(self, type_: model.StringType, path: Path, rule: JsonObject, secret: bool) -> str:
        low = max(type_.min_length or 0, int(rule.get("min", 0)))
        high = _least(type_.max_length, rule.get("max"))
        pattern = readable_pattern(rule.get("pattern") or type_.pattern)
        bounds = Bounds(low, high, pattern)
        if self._within_name(path):
            return texts.name(self._draw, bounds)
        return texts.canary(self._draw, bounds) if secret else texts.any_text(self._draw, bounds)

    def _integer(self, type_: model.IntegerType, path: Path, rule: JsonObject) -> int:
        low = _most(type_.min_value, rule.get("min"))
        high = _least(type_.max_value, rule.get("max"))
        if self._within_name(path):
            return self._draw.names.between(low, high)
        style = self._draw.integer(0, 9)
        start, end = _window(low, high, 0, 100)
        if style >= 8:
            edges = [edge for edge in (low, high) if edge is not None] or list(_EDGES)
            return self._draw.choice([edge for edge in edges if _inside(edge, low, high)])
        if style >= 6:
            start, end = _window(low, high, -1000, 100_000)
        return self._draw.integer(start, end)

    def _number(self, type_: model.NumberType, rule: JsonObject) -> float:
        lows = [item for item in (type_.min_value, type_.above, rule.get("min")) if item is not None]
        highs = [item for item in (type_.max_value, type_.below, rule.get("max")) if item is not None]
        low = float(max(lows)) if lows else min(0.0, float(min(highs, default=0)) - 100)
        high = float(min(highs)) if highs else max(low, 0.0) + 100
        parts = self._draw.choice((4, 10, 1000, 3))
        share = self._draw.integer(0, parts) / parts
        made = low + (high - low) * share
        open_low = type_.above is not None and made <= type_.above
        open_high = type_.below is not None and made >= type_.below
        return low + (high - low) / 2 if open_low or open_high else made

    def _anything(self, path: Path, secret: bool) -> Json:
        if self._within_name(path):
            return texts.name(self._draw, Bounds())
        if secret:
            return self._draw.canaries.fresh()
        match self._draw.integer(0, 5):
            case 0:
                return texts.any_text(self._draw, Bounds())
            case 1:
                return self._draw.integer(0, 1000)
            case 2:
                return self._draw.boolean()
            case 3:
                return self._draw.integer(1, 999) / 8
            case 4:
                return [texts.any_text(self._draw, Bounds()) for _ in range(self._draw.integer(1, 2))]
            case _:
                return {self._draw.choice(_KEYS): texts.any_text(self._draw, Bounds())}


def rule_for(rules: Mapping[Path, JsonObject], path: Path) -> JsonObject:
    """The override for a place, empty when there is none."""
    if not rules:
        return {}
    exact = rules.get(path)
    if exact is not None:
        return exact
    for place, rule in rules.items():
        if len(place) == len(path) and all(one in (ANYWHERE, two) for one, two in zip(place, path, strict=True)):
            return rule
    return {}


def is_present(rules: Mapping[Path, JsonObject], path: Path) -> bool:
    """Whether an optional property is never to be left out."""
    return rule_for(rules, path).get("present") is True


def height(type_: model.Type) -> int:
    """How deep the smallest value of a type nests; large for one that cannot end."""
    if isinstance(type_, model.ObjectType | model.DiscriminatedObjectType):
        known: int | None = type_.facts.get("height")
        if known is None:
            type_.facts["height"] = _ENDLESS
            known = type_.facts["height"] = _height(type_)
        return known
    return _height(type_)


_ENDLESS = 10**6


def _height(type_: model.Type) -> int:
    match type_:
        case model.ObjectType():
            return 1 + max(
                (height(item.type) for item in type_.properties.values() if item.required and not item.read_only),
                default=0,
            )
        case model.DiscriminatedObjectType():
            return min((height(variant) for variant in type_.variants.values()), default=1)
        case model.UnionType():
            return min((height(item) for item in type_.elements), default=0)
        case model.ArrayType():
            return 1 + (height(type_.item_type) if type_.min_length else 0)
        case _:
            return 0


def _found_in(item: Json, others: list[Json]) -> bool:
    return any(type(item) is type(other) and item == other for other in others)


def _least(one: int | None, two: Json) -> int | None:
    known = [int(item) for item in (one, two) if item is not None]
    return min(known) if known else None


def _most(one: int | None, two: Json) -> int | None:
    known = [int(item) for item in (one, two) if item is not None]
    return max(known) if known else None


def _inside(value: int, low: int | None, high: int | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _window(low: int | None, high: int | None, start: int, end: int) -> tuple[int, int]:
    """The part of the bounds that is near to a range."""
    span = end - start
    if low is not None and start < low:
        start, end = low, max(low, end) if end >= low else low + span
    if high is not None and end > high:
        start, end = (start, high) if start <= high else (high - span, high)
    if low is not None:
        start = max(start, low)
    return start, max(start, end)
