"""When two bodies are equal: calculated and write-only paths aside, objects without order, numbers by value."""

from collections.abc import Iterable

from extensor.contract import Json, format_path
from extensor.contract.paths import Path
from extensor_conformance.verdicts import DiffRow

MARKER = "$unknown"


def is_marker(value: Json) -> bool:
    """Whether a wire value is the marker of an unknown value."""
    return isinstance(value, dict) and len(value) == 1 and MARKER in value


def differences(
    one: Json,
    other: Json,
    *,
    ignore: Iterable[Path] = (),
    unordered: Iterable[Path] = (),
    root: Path = ("properties",),
) -> list[DiffRow]:
    """One row for each path at which two wire values differ, with both values as JSON; empty when they are equal.

    `ignore` and `unordered` are paths below the values; what lies below an ignored path is ignored too.
    """
    rows: list[DiffRow] = []
    _compare(one, other, (), frozenset(ignore), frozenset(unordered), root, rows)
    return rows


_ABSENT = object()


def _compare(
    one: object,
    other: object,
    path: Path,
    ignore: frozenset[Path],
    unordered: frozenset[Path],
    root: Path,
    rows: list[DiffRow],
) -> None:
    if path in ignore:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            left, right = one.get(key, _ABSENT), other.get(key, _ABSENT)
            _compare(left, right, (*path, key), ignore, unordered, root, rows)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and path not in unordered:
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            _compare(left, right, (*path, index), ignore, unordered, root, rows)
    elif not _equal(one, other):
        rows.append(DiffRow(format_path((*root, *path)), (_shown(one), _shown(other))))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def _shown(value: object) -> str:
    import json

    return "(absent)" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
