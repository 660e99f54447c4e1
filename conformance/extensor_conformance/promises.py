"""Whether what a preview showed as known is what came, and whether two states of a resource are the same."""

import json
from collections.abc import Iterable, Sequence

from extensor.contract import Json, JsonObject
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import ABSENT, Absent, among, at, below, is_secret, place, read_path, volatile
from extensor_conformance.compare import differences, is_marker
from extensor_conformance.kind import Kind
from extensor_conformance.values import ANYWHERE
from extensor_conformance.verdicts import DiffRow, Failed, Problem

OPEN_CLASSES = ("unknown", "calculated")


def shown(value: Json | Absent, secret: bool = False) -> str:
    """A cell of a table of differences."""
    if isinstance(value, Absent):
        return "(absent)"
    return "(secret)" if secret else json.dumps(value, ensure_ascii=False)


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal by the rule of comparisons."""
    return not differences({"value": one}, {"value": other})


def listed(metadata: JsonObject, *classes: str) -> list[Path]:
    """The places below the properties that a preview's metadata lists in these classes; all when none is named."""
    found: list[Path] = []
    for name, paths in metadata.items():
        if classes and name not in classes:
            continue
        for text in paths if isinstance(paths, list) else []:
            path = read_path(text)
            if path is not None and path[:1] == ("properties",):
                found.append(path[1:])
    return found


def broken_promises(preview: Answer, came: Json, kind: Kind) -> list[DiffRow]:
    """One row, ``previewed`` and ``came``, for each place that the preview showed as known and that came otherwise.

    What it left out counts as shown absent, except where its metadata speaks of the place.
    """
    open_ = {*volatile(kind, preview.properties, came), *listed(preview.metadata, *OPEN_CLASSES)}
    return _Promise(kind, open_, set(listed(preview.metadata))).rows_of(preview.properties, came)


def broken_between(preview: Answer, other: Answer, kind: Kind) -> list[DiffRow]:
    """Like `broken_promises`, of a preview with less known against one with more: what both know must be equal."""
    also = [*listed(other.metadata, *OPEN_CLASSES)]
    open_ = {*volatile(kind, preview.properties, other.properties), *listed(preview.metadata, *OPEN_CLASSES), *also}
    about = {*listed(preview.metadata), *listed(other.metadata)}
    return _Promise(kind, open_, about, lenient=True).rows_of(preview.properties, other.properties)


class _Promise:
    def __init__(self, kind: Kind, open_: set[Path], about: set[Path], *, lenient: bool = False) -> None:
        self._kind = kind
        self._open = open_
        self._wild = [path for path in open_ if ANYWHERE in path]
        self._about = about
        self._lenient = lenient
        """Whether what came may hold markers itself, about which nothing can be said."""
        self._unordered = set(kind.fixture.unordered)
        self._rows: list[DiffRow] = []

    def rows_of(self, previewed: Json, came: Json) -> list[DiffRow]:
        self._look(previewed, came, ())
        return self._rows

    def _look(self, one: Json | Absent, other: Json | Absent, path: Path) -> None:
        if self._is_open(path) or (not isinstance(one, Absent) and is_marker(one)):
            return
        if self._lenient and not isinstance(other, Absent) and is_marker(other):
            return
        if isinstance(one, Absent) and path in self._about:
            return
        if isinstance(one, Absent) and isinstance(other, dict) and any(below(item, [path]) for item in self._told()):
            one = {}
        if isinstance(one, dict) and isinstance(other, dict):
            for key in sorted({*one, *other}):
                self._look(one.get(key, ABSENT), other.get(key, ABSENT), (*path, key))
        elif isinstance(one, list) and isinstance(other, list) and among(path, self._unordered):
            if len(one) != len(other) or not self._matches(one, other):
                self._row(one, other, path)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for index, (left, right) in enumerate(zip(one, other, strict=True)):
                self._look(left, right, (*path, index))
        elif isinstance(one, Absent) or isinstance(other, Absent):
            if one is not other:
                self._row(one, other, path)
        elif not same(one, other):
            self._row(one, other, path)

    def _is_open(self, path: Path) -> bool:
        return path in self._open or among(path, self._wild)

    def _told(self) -> set[Path]:
        return self._open | self._about

    def _matches(self, one: list[Json], other: list[Json]) -> bool:
        left = [item for item in one if not _open_somewhere(item)]
        waiting = list(other)
        for item in left:
            found = next((index for index, came in enumerate(waiting) if same(item, came)), None)
            if found is None:
                return False
            del waiting[found]
        return True

    def _row(self, one: Json | Absent, other: Json | Absent, path: Path) -> None:
        secret = is_secret(self._kind, path)
        self._rows.append(DiffRow(place(path), (shown(one, secret), shown(other, secret))))


def _open_somewhere(value: Json) -> bool:
    if is_marker(value):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_open_somewhere(item) for item in inner)


def changes(one: Json, other: Json, kind: Kind, *, ignore: Iterable[Path] = ()) -> list[DiffRow]:
    """One row for each place at which two states of a resource differ, what may differ by design aside."""
    ignored = (*volatile(kind, one, other), *ignore)
    rows = differences(one, other, ignore=ignored, unordered=kind.fixture.unordered)
    return [
        DiffRow(row.path, ("(secret)",) * len(row.cells)) if is_secret(kind, (read_path(row.path) or ())[1:]) else row
        for row in rows
    ]


def differing_at(paths: Iterable[Path], one: Json, other: Json, kind: Kind) -> list[DiffRow]:
    """Like `changes`, looking at these places alone, and only where the first state has something."""
    wanted = [path for path in paths if not isinstance(at(one, path), Absent)]
    rows: list[DiffRow] = []
    for row in changes(one, other, kind):
        path = (read_path(row.path) or ())[1:]
        above = not isinstance(at(one, path), Absent) and any(below(item, [path]) for item in wanted)
        if above or below(path, wanted):
            rows.append(row)
    return rows


def problem(message: str, rows: Sequence[DiffRow], step: str, *columns: str) -> list[Problem]:
    """One problem for a table of differences, at the path of its first row; none for an empty table."""
    return [Problem(message, rows[0].path, step, columns, tuple(rows))] if rows else []


def same_identity(one: Answer, other: Answer, step: str) -> list[Problem]:
    """A problem when two answers about a resource name it differently (P-RESULT-02)."""
    rows = differences(one.identifiers, other.identifiers, root=("identifiers",))
    return problem("the identifiers are not those of the answer before", rows, step, "before", "now")


def must_be_absent(answer: Answer, message: str, step: str) -> None:
    """Raise `Failed` unless the answer is ResourceNotFound."""
    if answer.ok:
        raise Failed(Problem(message, "$.properties", step))
    if not answer.has_code("ResourceNotFound"):
        raise Failed(Problem(f"expected ResourceNotFound, got {answer}", step=step))
