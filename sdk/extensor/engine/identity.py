"""When two resources are one: same provider, same type whatever its version, same identifiers, same control plane."""

import json
from dataclasses import dataclass

from extensor.contract import Json, JsonObject, TypeName, Unknown
from extensor.engine.diff import same

_ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Identity:
    """A resource's identity inside one control plane, comparable and hashable.

    The type's version is no part of it: another version of a type is another view of the same resource.
    """

    provider: str
    type: str
    identifiers: str


def identity(provider: str, type_: str, identifiers: JsonObject) -> Identity:
    """The identity of known identifiers. Names of providers and types compare without case."""
    return Identity(provider.lower(), type_name(type_), canonical(identifiers))


def canonical(identifiers: JsonObject) -> str:
    """One text per set of identifiers."""
    return _ENCODE(identifiers)


def same_resource(asked: JsonObject, answered: JsonObject) -> bool:
    """Whether an answer's identifiers are those that were asked for.

    It may add identifiers, leave out some, and spell letters in its own case; an unknown one says nothing.
    """
    return all(name not in answered or _same(value, answered[name]) for name, value in asked.items())


def _same(asked: Json, answered: Json) -> bool:
    if isinstance(asked, dict) and isinstance(answered, dict):
        return same_resource(asked, answered)
    if isinstance(asked, str) and isinstance(answered, str):
        return asked == answered or asked.casefold() == answered.casefold()
    return type(asked) is Unknown or type(answered) is Unknown or same(asked, answered)


def type_name(type_: str) -> str:
    """A type's name without its version, for comparison."""
    try:
        return TypeName.parse(type_).name.lower()
    except ValueError:
        return type_.lower()
