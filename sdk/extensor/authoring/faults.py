"""From pydantic's errors to faults with the contract's paths."""

from collections.abc import Iterator

from pydantic import ValidationError

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path

_CODES = {
    "missing": ErrorCode.MISSING_PROPERTY,
    "extra_forbidden": ErrorCode.UNKNOWN_PROPERTY,
}


def faults_of(error: ValidationError, data: Json, path: Path) -> list[Fault]:
    """Every error as a fault; `data` is what was validated and stands at `path`."""
    return list(_faults(error, data, path))


def _faults(error: ValidationError, data: Json, path: Path) -> Iterator[Fault]:
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        place = (*path, *_place(item["loc"], data, item["type"]))
        message = item["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
        yield Fault(_CODES.get(item["type"], ErrorCode.INVALID_PROPERTY), message, format_path(place))


def _place(loc: Path, data: Json, kind: str) -> Iterator[str | int]:
    """`loc` without the steps that name pydantic's own branches (a union's member, a map's key)."""
    for at, part in enumerate(loc):
        if _holds(data, part):
            yield part
            data = data[part]
        elif kind == "missing" and at == len(loc) - 1:
            yield part


def _holds(data: Json, part: str | int) -> bool:
    if isinstance(data, dict):
        return part in data
    return isinstance(data, list) and isinstance(part, int) and part < len(data)
