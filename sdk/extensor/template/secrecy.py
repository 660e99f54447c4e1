"""What is left of an expression must not show the value of a secure parameter."""

from collections.abc import Iterator
from typing import Any

from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown


def placed(value: Json, shadow: Json, path: Path) -> Any:
    """A value whose unknowns carry their place, and the text that the same unknown has in the shadow.

    The shadow is the same expression's value where secure parameters are unknown, so that their names and not their
    values were filled in; an unknown that has no counterpart there keeps no text.
    """
    if type(value) is Unknown:
        return Unknown(shadow.expression if type(shadow) is Unknown else None, format_path(path))
    if isinstance(value, dict):
        members = shadow if isinstance(shadow, dict) else {}
        return {key: placed(item, members.get(key), path) for key, item in value.items()}
    if isinstance(value, list):
        items = shadow if isinstance(shadow, list) and len(shadow) == len(value) else [None] * len(value)
        return [placed(item, other, path) for item, other in zip(value, items, strict=True)]
    return value


def texts(value: Json) -> Iterator[str]:
    """Every string in a value that is not empty."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
