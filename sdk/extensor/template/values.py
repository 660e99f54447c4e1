"""Values of the expression language: what kind they are, when two are equal, how they become text."""

import json
from collections.abc import Mapping
from typing import cast

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.limits import MAX_TEXT_CHARACTERS, MAX_VALUES
from extensor.template.refusal import Refusal

_KINDS: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number with a fraction",
    list: "an array",
    dict: "an object",
    type(None): "null",
    Unknown: "a value that is not known yet",
}


def kind_of(value: Json) -> str:
    """The kind of a value with its article, for messages."""
    return _KINDS.get(type(value), "a lambda")


def deep_equal(left: Json, right: Json) -> bool:
    """Equality of the language: strict about kinds, case-sensitive, deep; ``3`` equals ``3.0``, ``1`` not ``true``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(deep_equal(item, right[key]) for key, item in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    return left == right


def to_json(value: Json) -> str:
    """Compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def to_text(value: Json) -> str:
    """A value as ``string()`` writes it: strings as they are, booleans ``True``/``False``, null empty, else JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "True" if value else "False"
    return to_json(value)


def find_key(members: Mapping[str, Json], name: str) -> str | None:
    """The key of a member: exact if there, else the first that differs only in letter case, else ``None``."""
    if name in members:
        return name
    lowered = name.lower()
    return next((key for key in members if key.lower() == lowered), None)


def scan(value: Json) -> bool:
    """Whether a value holds an unknown anywhere.

    Raises `Refusal` when it holds more than `MAX_VALUES` values or `MAX_TEXT_CHARACTERS` characters: a value may
    hold one part many times, and what walks it would not end.
    """
    pending: list[Json] = [value]
    seen = characters = 0
    unknown = False
    while pending:
        one = pending.pop()
        if type(one) is Unknown:
            unknown = True
        elif isinstance(one, dict):
            pending.extend(cast("dict[str, Json]", one).values())
            seen += len(one)
        elif isinstance(one, list):
            pending.extend(cast("list[Json]", one))
            seen += len(one)
        elif isinstance(one, str):
            characters += len(one)
        if seen > MAX_VALUES or characters > MAX_TEXT_CHARACTERS:
            raise Refusal(f"the value holds more than {MAX_VALUES} values or {MAX_TEXT_CHARACTERS} characters")
    return unknown
