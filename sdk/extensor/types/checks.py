"""A type as a tree of closures that check a value.

Parts are compiled when a value first reaches them, so that cycles end and a large schema costs only what is used.
"""

from collections.abc import Callable
from functools import partial

from extensor.contract.codes import ErrorCode
from extensor.contract.json import Json
from extensor.types import leaves, model
from extensor.types.findings import (
    Check,
    Found,
    Mode,
    accept,
    count,
    listed,
    meant,
    one,
    under,
    without_unknowns,
    wrong,
)
from extensor.types.leaves import scalar_of


def check_of(type_: model.Type, mode: Mode) -> Check:
    """The check of a type; object types keep theirs, so that all who refer to one share it."""
    if not isinstance(type_, model.ObjectType | model.DiscriminatedObjectType):
        return _compile(type_, mode)
    key = f"check {mode.given:d}{mode.unknown:d}{mode.naming:d}"
    made: Check | None = type_.facts.get(key)
    if made is None:
        made = type_.facts[key] = _compile(type_, mode)
    return made


def _compile(type_: model.Type, mode: Mode) -> Check:
    match type_:
        case model.AnyType():
            return accept if mode.unknown else without_unknowns
        case model.NullType():
            return leaves.null(mode)
        case model.BooleanType():
            return leaves.boolean(mode)
        case model.IntegerType():
            return leaves.integer(type_, mode)
        case model.NumberType():
            return leaves.number(type_, mode)
        case model.StringType():
            return leaves.text(type_, mode)
        case model.StringLiteralType():
            return leaves.words([type_.value], mode, sensitive=type_.sensitive)
        case model.UnionType():
            return _union(type_, mode)
        case model.ArrayType():
            return _array(type_, mode)
        case model.ObjectType():
            return _naming(type_, mode) if mode.naming else _object(type_, mode)
        case model.DiscriminatedObjectType():
            return _naming(_shared(type_), mode) if mode.naming else _discriminated(type_, mode)
        case _:
            raise TypeError(f"no value has the type {type_!r}")


def _later(type_: model.Type, mode: Mode, put: Callable[[Check], None]) -> Check:
    """A check that compiles itself when first used and hands the result to `put`, to be used from then on."""
    if not isinstance(type_, _DEEP):
        return _compile(type_, mode)

    def first(value: Json, /) -> Found | None:
        made = check_of(type_, mode)
        put(made)
        return made(value)

    return first


_DEEP = (model.ObjectType, model.DiscriminatedObjectType, model.ArrayType, model.UnionType)


def _union(type_: model.UnionType, mode: Mode) -> Check:
    literals = [item for item in type_.elements if isinstance(item, model.StringLiteralType)]
    if literals and len(literals) == len(type_.elements):
        return leaves.words([item.value for item in literals], mode, sensitive=any(item.sensitive for item in literals))
    elements = type_.elements
    checks: list[Check] = []
    for item in elements:
        checks.append(_later(item, mode, partial(checks.__setitem__, len(checks))))
    expected = " or ".join(dict.fromkeys(_described(item) for item in elements)) or "nothing"

    def check(value: Json, /) -> Found | None:
        closest: Found | None = None
        for item, test in zip(elements, checks, strict=True):
            found = test(value)
            if found is None:
                return None
            if fits_kind(value, item) and (closest is None or len(found) < len(closest)):
                closest = found
        return closest if closest is not None else wrong(value, expected, mode)

    return check


def fits_kind(value: Json, type_: model.Type) -> bool:
    """Whether a value is of the JSON kind that a type describes."""
    match type_:
        case model.AnyType() | model.UnionType():
            return True
        case model.NullType():
            return value is None
        case model.BooleanType():
            return isinstance(value, bool)
        case model.StringType() | model.StringLiteralType():
            return isinstance(value, str)
        case model.IntegerType() | model.NumberType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case model.ArrayType():
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _described(item: model.Type) -> str:
    match item:
        case model.StringType():
            return "a text"
        case model.StringLiteralType():
            return "a secret word" if item.sensitive else f"'{item.value}'"
        case model.IntegerType():
            return "a whole number"
        case model.NumberType():
            return "a number"
        case model.BooleanType():
            return "a boolean"
        case model.NullType():
            return "null"
        case model.ArrayType():
            return "an array"
        case model.UnionType():
            return " or ".join(_described(element) for element in item.elements)
        case model.AnyType():
            return "any value"
        case _:
            return "an object"


def _array(type_: model.ArrayType, mode: Mode) -> Check:
    checks: list[Check] = []
    checks.append(_later(type_.item_type, mode, partial(checks.__setitem__, 0)))
    scalar = scalar_of(type_.item_type)
    least, most = type_.min_length, type_.max_length

    def check(value: Json, /) -> Found | None:
        if type(value) is not list:
            return wrong(value, "an array", mode)
        found: Found | None = None
        if least is not None and len(value) < least:
            found = one(ErrorCode.INVALID_PROPERTY, f"must hold at least {count(least, 'item')}")
        elif most is not None and len(value) > most:
            found = one(ErrorCode.INVALID_PROPERTY, f"must hold at most {count(most, 'item')}")
        for index, item in enumerate(value):
            if type(item) is scalar:
                continue
            inner = checks[0](item)
            if inner is not None:
                found = under(index, inner, found)
        return found

    return check


def _object(
    type_: model.ObjectType, mode: Mode, elsewhere: Callable[[str], str] | None = None, extra: Check | None = None
) -> Check:
    """`elsewhere` may explain a name that is unknown here; `extra` checks properties that are not named."""
    properties = type_.properties
    checks: dict[str, Check] = {}
    scalars: dict[str, type | None] = {}
    for name, item in properties.items():
        refusal = _refusal(item, mode)
        checks[name] = refusal or _later(item.type, mode, partial(checks.__setitem__, name))
        scalars[name] = None if refusal else scalar_of(item.type)
    required = tuple(name for name, item in properties.items() if item.required and _refusal(item, mode) is None)
    not_null = frozenset(required)
    others: list[Check] = [] if extra is None else [extra]
    any_scalar: type | None = None
    if type_.additional_properties is not None:
        others = []
        others.append(_later(type_.additional_properties, mode, partial(others.__setitem__, 0)))
        any_scalar = scalar_of(type_.additional_properties)

    def check(value: Json, /) -> Found | None:
        if type(value) is not dict:
            return wrong(value, "an object", mode)
        found: Found | None = None
        for name, item in value.items():
            if type(item) is scalars.get(name, any_scalar):
                continue
            test = checks.get(name)
            if test is None:
                if not others:
                    found = under(name, _no_such(name, properties, elsewhere), found)
                    continue
                test = others[0]
            if item is None and name not in not_null:
                continue
            inner = test(item)
            if inner is not None:
                found = under(name, inner, found)
        for name in required:
            if name not in value:
                found = under(name, one(ErrorCode.MISSING_PROPERTY, "is required"), found)
        return found

    return check


def _refusal(item: model.Property, mode: Mode) -> Check | None:
    """The check of a property that may not be given at all, other than as null."""
    if mode.given and item.read_only:
        return _read_only
    return _write_only if not mode.given and item.write_only else None


def _read_only(_: Json, /) -> Found | None:
    return one(ErrorCode.READ_ONLY_PROPERTY, "is read-only: the provider sets it; leave it out")


def _write_only(_: Json, /) -> Found | None:
    return one(ErrorCode.INVALID_PROPERTY, "is write-only and must be left out of a result")


def _no_such(name: str, known: dict[str, model.Property], elsewhere: Callable[[str], str] | None) -> Found:
    told = elsewhere(name) if elsewhere is not None else ""
    return one(ErrorCode.UNKNOWN_PROPERTY, f"there is no such property{told or meant(name, known)}")


def _discriminated(type_: model.DiscriminatedObjectType, mode: Mode) -> Check:
    """The discriminator decides; while it is unknown, or wrong, only what all variants share can be checked."""
    variants, discriminator = type_.variants, type_.discriminator
    homes: dict[str, list[str]] = {}
    for value, variant in variants.items():
        for name in variant.properties:
            homes.setdefault(name, []).append(value)

    def elsewhere(name: str) -> str:
        return f" in this variant; it belongs to {listed(homes[name])}" if name in homes else ""

    checks = {value: _object(variant, mode, elsewhere) for value, variant in variants.items()}
    rest = _object(_shared(type_), mode, extra=accept if mode.unknown else without_unknowns)
    expected = listed(variants)

    def check(value: Json, /) -> Found | None:
        if type(value) is not dict:
            return wrong(value, "an object", mode)
        told = value.get(discriminator)
        if type(told) is str:
            test = checks.get(told)
            if test is not None:
                return test(value)
            fault = one(ErrorCode.INVALID_PROPERTY, f"expected {expected}{meant(told, variants)}")
        elif discriminator not in value:
            fault = one(ErrorCode.MISSING_PROPERTY, f"is required: {expected}")
        else:
            fault = wrong(told, expected, mode)
        found = None if fault is None else under(discriminator, fault, None)
        inner = rest({name: item for name, item in value.items() if name != discriminator})
        if found is not None and inner is not None:
            return found + inner
        return found or inner

    return check


def _shared(type_: model.DiscriminatedObjectType) -> model.ObjectType:
    """The base properties that are the same in every variant."""
    shared: model.ObjectType | None = type_.facts.get("shared")
    if shared is None:
        variants = list(type_.variants.values())
        properties = {
            name: item
            for name, item in type_.base_properties.items()
            if all(variant.properties.get(name) is item for variant in variants)
        }
        shared = type_.facts["shared"] = model.ObjectType(type_.name, properties)
    return shared


def _naming(type_: model.ObjectType, mode: Mode) -> Check:
    """Identifier properties only. An object that holds identifiers of its own is named by those alone."""
    checks: dict[str, Check] = {}
    required: list[str] = []
    whole = mode._replace(naming=False)
    for name, item in type_.properties.items():
        if not item.identifier:
            continue
        inner_mode = mode if _holds_identifiers(item.type) else whole
        checks[name] = _later(item.type, inner_mode, partial(checks.__setitem__, name))
        if item.required:
            required.append(name)

    def check(value: Json, /) -> Found | None:
        if type(value) is not dict:
            return wrong(value, "an object", mode)
        found: Found | None = None
        for name, item in value.items():
            if item is None and name not in required:
                continue
            inner = checks.get(name, without_unknowns)(item)
            if inner is not None:
                found = under(name, inner, found)
        for name in required:
            if name not in value:
                found = under(name, one(ErrorCode.MISSING_PROPERTY, "is required: it names the resource"), found)
        return found

    return check


def _holds_identifiers(type_: model.Type) -> bool:
    if isinstance(type_, model.ObjectType):
        return any(item.identifier for item in type_.properties.values())
    return isinstance(type_, model.DiscriminatedObjectType) and any(
        item.identifier for variant in type_.variants.values() for item in variant.properties.values()
    )
