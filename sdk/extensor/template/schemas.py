"""Declared types and the values they take: every fault of a value at once, with its path."""

from collections.abc import Mapping
from typing import cast

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown
from extensor.template.model import Schema
from extensor.template.refusal import nearest
from extensor.template.values import deep_equal, find_key, kind_of

_SECURE = frozenset({"securestring", "secureobject"})
_KINDS: dict[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "securestring": (str, "a string"),
    "int": (int, "an integer"),
    "bool": (bool, "a boolean"),
    "object": (dict, "an object"),
    "secureobject": (dict, "an object"),
    "array": (list, "an array"),
}
_REFERENCE = "#/definitions/"
_MAX_REFERENCES = 32


def is_secure(schema: Schema) -> bool:
    """Whether values of the type are secrets."""
    return (schema.type or "").lower() in _SECURE


def resolve(schema: JsonObject, definitions: Mapping[str, Schema]) -> JsonObject:
    """The declaration with ``$ref`` followed; members beside a ``$ref`` add to what it points at."""
    for _ in range(_MAX_REFERENCES):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        name = reference.removeprefix(_REFERENCE)
        target = definitions.get(name.replace("~1", "/").replace("~0", "~"))
        if target is None:
            return {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target.raw, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def check(value: Json, schema: JsonObject, definitions: Mapping[str, Schema], path: Path) -> list[Fault]:
    """Every way in which a value does not fit a declaration. Unknown values fit everywhere."""
    faults: list[Fault] = []
    _check(value, schema, definitions, path, faults)
    return faults


def _check(value: Json, schema: JsonObject, definitions: Mapping[str, Schema], path: Path, faults: list[Fault]) -> None:
    if type(value) is Unknown:
        return
    schema = resolve(schema, definitions)
    if value is None and schema.get("nullable") is True:
        return
    type_ = str(schema.get("type", ""))
    kind, article = _KINDS.get(type_.lower(), (object, ""))
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        _add(faults, path, f"{article} is due here, not {kind_of(value)}")
        return
    allowed = schema.get("allowedValues")
    if isinstance(allowed, list) and not _allowed(value, cast("list[Json]", allowed)):
        shown = ", ".join(repr(one) if isinstance(one, str) else str(one) for one in cast("list[Json]", allowed)[:12])
        hint = (
            nearest(value, [one for one in cast("list[Json]", allowed) if isinstance(one, str)])
            if isinstance(value, str) and type_.lower() not in _SECURE
            else ""
        )
        _add(faults, path, f"only these values are allowed: {shown}" + (f"; {hint}" if hint.startswith("did") else ""))
    if isinstance(value, int) and not isinstance(value, bool):
        _bounds(value, "", schema.get("minValue"), schema.get("maxValue"), path, faults)
    elif isinstance(value, str | list):
        unit = "characters" if isinstance(value, str) else "elements"
        _bounds(len(value), f" {unit}", schema.get("minLength"), schema.get("maxLength"), path, faults)
    if isinstance(value, list):
        _elements(cast("list[Json]", value), schema, definitions, path, faults)
    elif isinstance(value, dict):
        _members(cast("JsonObject", value), schema, definitions, path, faults)


def _allowed(value: Json, allowed: list[Json]) -> bool:
    if any(deep_equal(value, one) for one in allowed):
        return True
    return isinstance(value, list) and all(
        any(deep_equal(item, one) for one in allowed) for item in cast("list[Json]", value)
    )


def _bounds(size: int, unit: str, least: Json, most: Json, path: Path, faults: list[Fault]) -> None:
    if isinstance(least, int) and size < least:
        _add(faults, path, f"at least {least}{unit} due, not {size}")
    if isinstance(most, int) and size > most:
        _add(faults, path, f"at most {most}{unit} allowed, not {size}")


def _elements(
    value: list[Json], schema: JsonObject, definitions: Mapping[str, Schema], path: Path, faults: list[Fault]
) -> None:
    prefix = schema.get("prefixItems")
    first = cast("list[Json]", prefix) if isinstance(prefix, list) else []
    if len(value) < len(first):
        _add(faults, path, f"{len(first)} elements are due, not {len(value)}")
    rest = schema.get("items")
    for at, item in enumerate(value):
        declared = first[at] if at < len(first) else rest
        if isinstance(declared, dict):
            _check(item, cast("JsonObject", declared), definitions, (*path, at), faults)
        elif declared is False:
            _add(faults, (*path, at), f"no more than {len(first)} elements are allowed")
            return


def _members(
    value: JsonObject, schema: JsonObject, definitions: Mapping[str, Schema], path: Path, faults: list[Fault]
) -> None:
    if isinstance(schema.get("discriminator"), dict):
        _discriminated(value, schema, definitions, path, faults)
        return
    declared = cast("JsonObject", schema["properties"]) if isinstance(schema.get("properties"), dict) else {}
    for name, one in declared.items():
        key = find_key(value, name)
        if key is not None:
            _check(value[key], one, definitions, (*path, key), faults)
        elif resolve(one, definitions).get("nullable") is not True:
            _add(faults, (*path, name), "this property is required")
    others = schema.get("additionalProperties")
    for key, item in value.items():
        if find_key(declared, key) is not None:
            continue
        if isinstance(others, dict):
            _check(item, cast("JsonObject", others), definitions, (*path, key), faults)
        elif others is False:
            _add(faults, (*path, key), f"there is no such property; {nearest(key, declared, noun='properties')}")


def _discriminated(
    value: JsonObject, schema: JsonObject, definitions: Mapping[str, Schema], path: Path, faults: list[Fault]
) -> None:
    discriminator = cast("JsonObject", schema["discriminator"])
    name, mapping = discriminator.get("propertyName"), discriminator.get("mapping")
    if not isinstance(name, str) or not isinstance(mapping, dict):
        return
    variants = cast("JsonObject", mapping)
    key = find_key(value, name)
    chosen = value[key] if key is not None else None
    if type(chosen) is Unknown:
        return
    if not isinstance(chosen, str) or chosen not in variants:
        _add(faults, (*path, key or name), f"one of these is due here: {', '.join(map(repr, variants))}")
        return
    _check(value, cast("JsonObject", variants[chosen]), definitions, path, faults)


def _add(faults: list[Fault], path: Path, message: str) -> None:
    faults.append(Fault(ErrorCode.INVALID_PROPERTY, message, format_path(path)))
