"""What is left of an expression must not show the value of a secure parameter."""

import re
from collections.abc import Iterator
from typing import Any

from extensor.contract.faults import Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path, parse_path
from extensor.contract.unknown import Unknown

_VALUE = re.compile(r"'.*'|(?<![\w-])-?\d+(?:\.\d+)?(?![\w-])", re.DOTALL)
_HOW_MUCH = re.compile(r", not \S+( \S+)?\Z")


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


def veiled(fault: Fault) -> Fault:
    """A fault that secrets have to do with: what it quotes is left out, and so are names inside values."""
    message, separator, where = fault.message.rpartition("; in [")
    if not separator:
        message, where = fault.message, ""
    hidden = _VALUE.sub("***", message).split("; ")[0]
    return Fault(fault.code, f"{hidden}{separator}{where}", _declared_part(fault.path))


def decoy(value: Json) -> Json:
    """Another value of the same make: what is said of both alike is not said of the secret."""
    if isinstance(value, dict):
        return {key: decoy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoy(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    return "\N{BLACK SQUARE} decoy" if isinstance(value, str) else 0


def without_size(fault: Fault) -> Fault:
    """A fault of a secure parameter's value, without what the value is or how long."""
    return Fault(fault.code, _HOW_MUCH.sub("", fault.message), fault.path)


def _declared_part(path: str | None) -> str | None:
    """A path without what is inside the values of outputs and defaults: names there are evaluated."""
    if path is None:
        return None
    parts = parse_path(path)
    return format_path(parts[:3]) if parts[:1] in (("outputs",), ("parameters",)) else path


def texts(value: Json) -> Iterator[str]:
    """Every string in a value that is not empty, and every number as text."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
