"""When two bodies are equal: calculated and write-only paths aside, objects without order, numbers by value."""

import json
from collections.abc import Iterable

from extensor.contract import Json, format_path
from extensor.contract.paths import Path
from extensor_conformance.values import ANYWHERE
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

    `ignore` and `unordered` are paths below the values, in which the step ``*`` stands for any name or index; what
    lies below an ignored path is ignored too.
    """
    if one is other:
        return []
    rows: list[DiffRow] = []
    _Comparison(tuple(ignore), tuple(unordered), root, rows).compare(one, other, ())
    return rows


_ABSENT = object()


class _Comparison:
    def __init__(self, ignore: tuple[Path, ...], unordered: tuple[Path, ...], root: Path, rows: list[DiffRow]) -> None:
        self._ignore = _Places(ignore)
        self._unordered = _Places(unordered)
        self._root = root
        self._rows = rows

    def compare(self, one: object, other: object, path: Path) -> None:
        if path in self._ignore:
            return
        if isinstance(one, dict) and isinstance(other, dict):
            for key in sorted({*one, *other}):
                self.compare(one.get(key, _ABSENT), other.get(key, _ABSENT), (*path, key))
        elif isinstance(one, list) and isinstance(other, list):
            self._lists(one, other, path)
        elif not _equal(one, other):
            self._differ(one, other, path)

    def _lists(self, one: list[Json], other: list[Json], path: Path) -> None:
        if path in self._unordered:
            left, right = self._unmatched(one, other, path)
            if left or right:
                self._differ(left, right, path)
        elif len(one) == len(other):
            for index, (left_item, right_item) in enumerate(zip(one, other, strict=True)):
                self.compare(left_item, right_item, (*path, index))
        else:
            self._differ(one, other, path)

    def _unmatched(self, one: list[Json], other: list[Json], path: Path) -> tuple[list[Json], list[Json]]:
        """What each of two sets has that the other has not."""
        left: list[Json] = []
        right = list(enumerate(other))
        for index, item in enumerate(one):
            rows: list[DiffRow] = []
            for at, (_, candidate) in enumerate(right):
                rows = []
                inner = _Comparison((), (), self._root, rows)
                inner._ignore, inner._unordered = self._ignore, self._unordered
                inner.compare(item, candidate, (*path, index))
                if not rows:
                    del right[at]
                    break
            else:
                left.append(item)
        return left, [item for _, item in right]

    def _differ(self, one: object, other: object, path: Path) -> None:
        self._rows.append(DiffRow(format_path((*self._root, *path)), (_shown(one), _shown(other))))


class _Places:
    """Paths, some of which hold ``*``."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._exact = frozenset(path for path in paths if ANYWHERE not in path)
        self._open = [path for path in paths if ANYWHERE in path]

    def __contains__(self, path: Path) -> bool:
        return path in self._exact or any(
            len(place) == len(path) and all(one in (ANYWHERE, two) for one, two in zip(place, path, strict=True))
            for place in self._open
        )


def _equal(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def _shown(value: object) -> str:
    return "(absent)" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
