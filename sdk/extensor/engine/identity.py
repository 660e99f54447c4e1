"""When two resources are one: same provider, same type whatever its version, same identifiers, same control plane."""

import json
from dataclasses import dataclass

from extensor.contract import JsonObject, TypeName

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


def type_name(type_: str) -> str:
    """A type's name without its version, for comparison."""
    try:
        return TypeName.parse(type_).name.lower()
    except ValueError:
        return type_.lower()
