"""Checking a body against its type: every fault, each with its exact path, at the price of a few dictionary look-ups.

A type becomes a tree of closures, made when first needed and kept with the type. A closure answers ``None`` for a good
value and otherwise what it found, so that a body without faults builds no list and no path. Messages name types, rules
and known names; they never quote a given value, since it may be a secret.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from extensor.contract.codes import ErrorCode
from extensor.contract.data import json_kind
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown
from extensor.types import model
from extensor.types.suggest import nearest

Purpose: TypeAlias = Literal[
    "save", "preview_save", "get", "delete", "config", "preview_config", "result", "preview_result"
]
"""What a body is for. Those of a preview may hold `Unknown` anywhere."""


class _Mode(NamedTuple):
    """How the rules differ: who gave the body, whether unknowns may stand in it, whether it only names a resource."""

    given: bool
    unknown: bool
    naming: bool = False


_MODES: dict[str, _Mode] = {
    "save": _Mode(given=True, unknown=False),
    "config": _Mode(given=True, unknown=False),
    "preview_save": _Mode(given=True, unknown=True),
    "preview_config": _Mode(given=True, unknown=True),
    "get": _Mode(given=True, unknown=False, naming=True),
    "delete": _Mode(given=True, unknown=False, naming=True),
    "result": _Mode(given=False, unknown=False),
    "preview_result": _Mode(given=False, unknown=True),
}

_Found: TypeAlias = list[tuple[str, str, list[str | int]]]
"""Code, message, and the steps of the path from the place outwards."""
_Check: TypeAlias = Callable[[Json], _Found | None]

_UNKNOWN_REFUSED = "is not known yet; unknown values may stand in previews only"
_NULL_REFUSED = "null is not allowed here"


def validate(
    properties: Json,
    type: model.ResourceType | model.Body,
    *,
    purpose: Purpose,
    path: Path = ("properties",),
) -> list[Fault]:
    """Every fault of a decoded body, in the order of the document, what is missing after what is there.

    - ``save``, ``config`` and their previews: required properties are there, read-only ones are not, all else fits its type.
    - ``get``, ``delete``: identifier properties only are looked at, the nested ones too; the others are ignored.
    - ``result``, ``preview_result``: as the provider shows it, read-only properties included and write-only ones left out.

    Property names are exact. Null stands for a property that is not given, unless it is required. Codes:
    ``MissingProperty``, ``UnknownProperty``, ``ReadOnlyProperty``, ``InvalidProperty``, ``UnknownValueNotAllowed``.
    """
    body = type.body if isinstance(type, model.ResourceType) else type
    check: _Check | None = body.facts.get(purpose)
    if check is None:
        check = body.facts[purpose] = _compile(body, _MODES[purpose])
    try:
        found = check(properties)
    except RecursionError:
        return [Fault(ErrorCode.INVALID_PROPERTY, "is nested too deeply", format_path(path))]
    if found is None:
        return []
    return [Fault(code, message, format_path((*path, *reversed(steps)))) for code, message, steps in found]


def _compile(type_: model.Type, mode: _Mode) -> _Check:
    match type_:
        case model.AnyType():
            return _accept if mode.unknown else _without_unknowns
        case model.NullType():
            return _kind(lambda value: value is None, "null", mode)
        case model.BooleanType():
            return _kind(lambda value: value is True or value is False, "a boolean", mode)
        case model.IntegerType():
            return _integer(type_, mode)
        case model.NumberType():
            return _number(type_, mode)
        case model.StringType():
            return _string(type_, mode)
        case model.StringLiteralType():
            return _literals([type_.value], mode, type_.sensitive)
        case model.UnionType():
            return _union(type_, mode)
        case model.ArrayType():
            return _array(type_, mode)
        case model.ObjectType():
            return _naming(type_, mode) if mode.naming else _object(type_, mode)
        case model.DiscriminatedObjectType():
            return _discriminated(type_, mode)
        case _:
            raise TypeError(f"no value has the type {type_!r}")


def _later(type_: model.Type, mode: _Mode) -> _Check:
    """Compile a part when a value first reaches it: cycles end, and what is never used costs nothing."""
    if type(type_) not in _DEEP:
        return _compile(type_, mode)
    if isinstance(type_, model.ObjectType | model.DiscriminatedObjectType):
        facts, key = type_.facts, _key(mode)
    else:
        facts, key = dict[str, Any](), "check"

    def check(value: Json) -> _Found | None:
        made: _Check | None = facts.get(key)
        if made is None:
            made = facts[key] = _compile(type_, mode)
        return made(value)

    return check


_DEEP = {model.ObjectType, model.DiscriminatedObjectType, model.ArrayType, model.UnionType}


def _key(mode: _Mode) -> str:
    return f"check {mode.given:d}{mode.unknown:d}{mode.naming:d}"


def _accept(_: Json) -> _Found | None:
    return None


def _without_unknowns(value: Json) -> _Found | None:
    kind = type(value)
    if kind is str or (kind is not dict and kind is not list and kind is not Unknown):
        return None
    return _scan(value)


def _scan(value: Json) -> _Found | None:
    if type(value) is Unknown:
        return _one(ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED, _UNKNOWN_REFUSED)
    found: _Found = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if type(item) is dict or type(item) is list or type(item) is Unknown:
            _under(key, _scan(item), found)
    return found or None


def _one(code: str, message: str, *steps: str | int) -> _Found:
    return [(code, message, list(steps))]


def _under(step: str | int, inner: _Found | None, found: _Found) -> None:
    """Add what was found below `step`."""
    if inner is not None:
        for item in inner:
            item[2].append(step)
        found.extend(inner)


def _wrong(value: Json, expected: str, mode: _Mode) -> _Found | None:
    """What a value of the wrong kind is told."""
    if type(value) is Unknown:
        return None if mode.unknown else _one(ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED, _UNKNOWN_REFUSED)
    if value is None:
        return _one(ErrorCode.INVALID_PROPERTY, f"{_NULL_REFUSED}; expected {expected}")
    return _one(ErrorCode.INVALID_PROPERTY, f"expected {expected}, got {_kind_of(value)}")


def _kind_of(value: Json) -> str:
    if isinstance(value, str):
        return "a text"
    return "a number with a fraction" if isinstance(value, float) and not value.is_integer() else json_kind(value)


def _kind(fits: Callable[[Json], bool], expected: str, mode: _Mode) -> _Check:
    def check(value: Json) -> _Found | None:
        return None if fits(value) else _wrong(value, expected, mode)

    return check


def _string(type_: model.StringType, mode: _Mode) -> _Check:
    least, most, pattern = type_.min_length, type_.max_length, readable_pattern(type_.pattern)
    if least is None and most is None and pattern is None:

        def plain(value: Json) -> _Found | None:
            return None if type(value) is str else _wrong(value, "a text", mode)

        return plain

    def check(value: Json) -> _Found | None:
        if type(value) is not str:
            return _wrong(value, "a text", mode)
        if least is not None and len(value) < least:
            return _one(ErrorCode.INVALID_PROPERTY, f"must be at least {_count(least, 'character')} long")
        if most is not None and len(value) > most:
            return _one(ErrorCode.INVALID_PROPERTY, f"must be at most {_count(most, 'character')} long")
        if pattern is not None and pattern.search(value) is None:
            return _one(ErrorCode.INVALID_PROPERTY, f"must match the pattern {type_.pattern}")
        return None

    return check


def readable_pattern(text: str | None) -> re.Pattern[str] | None:
    """Patterns are .NET's by origin; one that Python cannot read is left to the provider."""
    try:
        return None if text is None else re.compile(text)
    except re.error:
        return None


def _integer(type_: model.IntegerType, mode: _Mode) -> _Check:
    least, most = type_.min_value, type_.max_value
    bounds = _bounds(least, most)

    def check(value: Json) -> _Found | None:
        if type(value) is not int and not (type(value) is float and value.is_integer()):
            return _wrong(value, "a whole number", mode)
        if (least is not None and value < least) or (most is not None and value > most):
            return _one(ErrorCode.INVALID_PROPERTY, bounds)
        return None

    return check


def _number(type_: model.NumberType, mode: _Mode) -> _Check:
    least, most = type_.min_value, type_.max_value
    bounds = _bounds(least, most)

    def check(value: Json) -> _Found | None:
        if type(value) is not int and type(value) is not float:
            return _wrong(value, "a number", mode)
        if (least is not None and value < least) or (most is not None and value > most):
            return _one(ErrorCode.INVALID_PROPERTY, bounds)
        return None

    return check


def _bounds(least: float | None, most: float | None) -> str:
    words = (f"at least {least}" if least is not None else "", f"at most {most}" if most is not None else "")
    return f"must be {' and '.join(word for word in words if word)}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _literals(values: list[str], mode: _Mode, sensitive: bool = False) -> _Check:
    known = frozenset(values)
    listed = "a secret word" if sensitive else _listed(values)

    def check(value: Json) -> _Found | None:
        if type(value) is str:
            if value in known:
                return None
            return _one(ErrorCode.INVALID_PROPERTY, f"expected {listed}{'' if sensitive else _meant(value, values)}")
        return _wrong(value, listed, mode)

    return check


def _listed(values: "list[str] | Mapping[str, Any]") -> str:
    names = [f"'{value}'" for value in values]
    if len(names) > 12:
        return f"one of {', '.join(names[:12])} and {len(names) - 12} more"
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}" if names else "nothing"


def _meant(given: str, known: "list[str] | Mapping[str, Any]") -> str:
    near = nearest(given, known)
    return f"; did you mean '{near}'?" if near is not None else ""


def _union(type_: model.UnionType, mode: _Mode) -> _Check:
    words = [item for item in type_.elements if isinstance(item, model.StringLiteralType)]
    if words and len(words) == len(type_.elements):
        return _literals([item.value for item in words], mode, any(item.sensitive for item in words))
    checks = [(item, _later(item, mode)) for item in type_.elements]
    expected = " or ".join(dict.fromkeys(_described(item) for item in type_.elements)) or "nothing"

    def check(value: Json) -> _Found | None:
        if type(value) is Unknown:
            return _wrong(value, expected, mode)
        closest: _Found | None = None
        for item, one in checks:
            found = one(value)
            if found is None:
                return None
            if _same_kind(item, value) and (closest is None or _deeper(found, closest)):
                closest = found
        return closest if closest is not None else _wrong(value, expected, mode)

    return check


def _deeper(found: _Found, than: _Found) -> bool:
    return len(found) < len(than)


def _same_kind(item: model.Type, value: Json) -> bool:
    match item:
        case model.StringType() | model.StringLiteralType():
            return isinstance(value, str)
        case model.IntegerType() | model.NumberType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case model.ArrayType():
            return isinstance(value, list)
        case model.ObjectType() | model.DiscriminatedObjectType():
            return isinstance(value, dict)
        case _:
            return isinstance(item, model.UnionType)


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


def _array(type_: model.ArrayType, mode: _Mode) -> _Check:
    one = _later(type_.item_type, mode)
    least, most = type_.min_length, type_.max_length

    def check(value: Json) -> _Found | None:
        if type(value) is not list:
            return _wrong(value, "an array", mode)
        found: _Found = []
        if least is not None and len(value) < least:
            found.append((ErrorCode.INVALID_PROPERTY, f"must hold at least {_count(least, 'item')}", []))
        if most is not None and len(value) > most:
            found.append((ErrorCode.INVALID_PROPERTY, f"must hold at most {_count(most, 'item')}", []))
        for index, item in enumerate(value):
            inner = one(item)
            if inner is not None:
                _under(index, inner, found)
        return found or None

    return check


def _object(
    type_: model.ObjectType, mode: _Mode, elsewhere: Callable[[str], str] | None = None, extra: _Check | None = None
) -> _Check:
    """`elsewhere` may explain a name that is unknown here; `extra` stands for additional properties."""
    properties = type_.properties
    checks: dict[str, _Check] = {}
    plain: set[str] = set()
    for name, item in properties.items():
        checks[name] = _property(item, mode)
        if type(item.type) is model.StringType and _is_plain(item.type) and not (mode.given and item.read_only):
            plain.add(name)
    if not mode.given:
        plain -= {name for name, item in properties.items() if item.write_only}
    required = tuple(name for name, item in properties.items() if _must_be_given(item, mode))
    if type_.additional_properties is not None:
        extra = _optional(_later(type_.additional_properties, mode))

    def check(value: Json) -> _Found | None:
        if type(value) is not dict:
            return _wrong(value, "an object", mode)
        found: _Found | None = None
        for name, item in value.items():
            if name in plain and type(item) is str:
                continue
            one = checks.get(name, extra)
            if one is None:
                message = _no_such(name, properties, elsewhere)
                inner: _Found | None = [(ErrorCode.UNKNOWN_PROPERTY, message, [])]
            else:
                inner = one(item)
            if inner is not None:
                if found is None:
                    found = []
                _under(name, inner, found)
        for name in required:
            if name not in value:
                if found is None:
                    found = []
                found.append((ErrorCode.MISSING_PROPERTY, "is required", [name]))
        return found

    return check


def _is_plain(type_: model.StringType) -> bool:
    return type_.min_length is None and type_.max_length is None and type_.pattern is None


def _must_be_given(item: model.Property, mode: _Mode) -> bool:
    return item.required and not (item.read_only if mode.given else item.write_only)


def _property(item: model.Property, mode: _Mode) -> _Check:
    if mode.given and item.read_only:
        return _refuse(ErrorCode.READ_ONLY_PROPERTY, "is read-only: the provider sets it; leave it out")
    if not mode.given and item.write_only:
        return _refuse(ErrorCode.INVALID_PROPERTY, "is write-only and must be left out of a result")
    check = _later(item.type, mode)
    return check if item.required else _optional(check)


def _refuse(code: str, message: str) -> _Check:
    def check(value: Json) -> _Found | None:
        return None if value is None else _one(code, message)

    return check


def _optional(check: _Check) -> _Check:
    def optional(value: Json) -> _Found | None:
        return None if value is None else check(value)

    return optional


def _no_such(name: str, known: Mapping[str, Any], elsewhere: Callable[[str], str] | None) -> str:
    told = elsewhere(name) if elsewhere is not None else ""
    return f"there is no such property{told or _meant(name, known)}"


def _discriminated(type_: model.DiscriminatedObjectType, mode: _Mode) -> _Check:
    """The discriminator decides; while it is unknown, or wrong, only what all variants share can be checked."""
    variants, discriminator = type_.variants, type_.discriminator
    if mode.naming:
        return _naming(_shared(type_), mode)
    homes: dict[str, list[str]] = {}
    for value, variant in variants.items():
        for name in variant.properties:
            homes.setdefault(name, []).append(value)

    def elsewhere(name: str) -> str:
        return f" in this variant; it belongs to {_listed(homes[name])}" if name in homes else ""

    checks = {value: _object(variant, mode, elsewhere) for value, variant in variants.items()}
    rest = _object(_shared(type_), mode, extra=_accept if mode.unknown else _without_unknowns)
    expected = _listed(variants)

    def check(value: Json) -> _Found | None:
        if type(value) is not dict:
            return _wrong(value, "an object", mode)
        told = value.get(discriminator)
        if type(told) is str:
            one = checks.get(told)
            if one is not None:
                return one(value)
            found = _one(ErrorCode.INVALID_PROPERTY, f"expected {expected}{_meant(told, variants)}", discriminator)
        elif discriminator not in value:
            found = _one(ErrorCode.MISSING_PROPERTY, f"is required: {expected}", discriminator)
        else:
            found = _wrong(told, expected, mode) or []
            for item in found:
                item[2].append(discriminator)
        found.extend(rest(value) or ())
        return found or None

    return check


def _shared(type_: model.DiscriminatedObjectType) -> model.ObjectType:
    """The base properties alone, as they are in every variant."""
    shared: model.ObjectType | None = type_.facts.get("shared")
    if shared is None:
        variants = list(type_.variants.values())
        shared = type_.facts["shared"] = model.ObjectType(
            type_.name,
            {
                name: item
                for name, item in type_.base_properties.items()
                if all(variant.properties.get(name) is item for variant in variants)
            },
        )
    return shared


def _naming(type_: model.ObjectType, mode: _Mode) -> _Check:
    """Identifier properties only. An object that holds identifiers of its own is named by those alone."""
    checks: dict[str, _Check] = {}
    required: list[str] = []
    for name, item in type_.properties.items():
        if not item.identifier:
            continue
        check = _later(item.type, mode if _holds_identifiers(item.type) else mode._replace(naming=False))
        checks[name] = check if item.required else _optional(check)
        if item.required:
            required.append(name)

    def check(value: Json) -> _Found | None:
        if type(value) is not dict:
            return _wrong(value, "an object", mode)
        found: _Found = []
        for name, item in value.items():
            inner = checks.get(name, _without_unknowns)(item)
            if inner is not None:
                _under(name, inner, found)
        found.extend(
            (ErrorCode.MISSING_PROPERTY, "is required: it names the resource", [name])
            for name in required
            if name not in value
        )
        return found or None

    return check


def _holds_identifiers(type_: model.Type) -> bool:
    if isinstance(type_, model.ObjectType):
        return any(item.identifier for item in type_.properties.values())
    return isinstance(type_, model.DiscriminatedObjectType) and any(
        item.identifier for variant in type_.variants.values() for item in variant.properties.values()
    )
