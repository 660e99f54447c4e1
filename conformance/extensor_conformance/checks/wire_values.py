"""PROTO-07: values that careless programs alter."""

from collections.abc import Iterable, Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor.contract.paths import Path
from extensor.types import model
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.common import ABSENT, properties_of, shown, value_at, with_value
from extensor_conformance.compare import differences
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import DiffRow, NotTested, Problem

PLACES = 2
"""Places of each sort that are tried in a type."""
MEGABYTE = 1024 * 1024
TEXTS: dict[str, str] = {
    "characters beyond the basic plane": "😀𝔘𠜎",
    "composed and not": "é e\u0301 ﬁ",
    "NUL": "a\0b",
    "line ends of all sorts": "a\u2028b\u2029c\u0085d\r\ne\tf\x0b\x0c",
    "blanks around": "  x \u00a0",
    "byte order mark": "\ufeffx",
    "what looks like a marker": '{"$unknown": {}}',
    "what looks like an expression": "[reference('a').id]",
    "quotes and backslashes": "'\"\\u0041\\",
    "a text of one mebibyte": "ab" * (MEGABYTE // 2),
}
INTEGERS: dict[str, int] = {
    "2^53 + 1": 2**53 + 1,
    "-(2^63) - 1": -(2**63) - 1,
    "2^100": 2**100 + 1,
}
ANYTHING: dict[str, Json] = {
    "64 levels": None,
    "empty names": {"": 1, " ": {"": []}},
    "names that are nearly the same": {"a": 1, "A": 2, "é": 3, "e\u0301": 4, "a\0": 5},
    "names of other languages": {"__proto__": 1, "constructor": {"x": None}, "$ref": "#/0", "@": 2},
    "what looks like a marker": {"$$unknown": {"expression": "x"}},
    "all sorts": [None, True, [], {}, 0, -1, 0.1, 2**60 + 1, "", [[None]]],
}


def _deep(levels: int) -> Json:
    value: Json = "x"
    for _ in range(levels):
        value = [value]
    return value


@check("PROTO-07", operations={Verb.SAVE, Verb.GET}, examples=1)
class AwkwardValues(CaseCheck):
    """Each value in each sort of place is saved and read: the same, or refused there."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        body = kind.valid(draw, full=True)
        for path, name, value in _placed(kind, body):
            if value_at(body, path[:-1]) is ABSENT:
                continue
            wrong = with_value(body, path, value)
            yield Plan(
                (
                    Call("control", Verb.SAVE, body),
                    Call("delete", Verb.DELETE, kind.identifiers(body)),
                    Call("save", Verb.SAVE, wrong),
                    Call("get", Verb.GET, kind.identifiers(body)),
                )
                if kind.has(Verb.DELETE)
                else (
                    Call("control", Verb.SAVE, body),
                    Call("save", Verb.SAVE, wrong),
                    Call("get", Verb.GET, kind.identifiers(body)),
                ),
                expect={"path": list(path)},
                note=f"{name} at {shown(path)}",
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("control")
        path = tuple(trial.expect["path"])
        place = shown(path)
        save = trial["save"]
        sent = value_at(trial.sent("save"), path)
        if sent is ABSENT:
            raise NotTested("the value is not in the case any more")
        if save.error is not None:
            if any(told is not None and _same_place(told, place) for told in save.error.paths):
                return []
            message = f"the value is refused, but not at its path: {save.error}"
            return [Problem(message, place, "save")]
        problems: list[Problem] = []
        for step in ("save", "get"):
            shown_value = value_at(trial.result(step).properties, path)
            if shown_value is ABSENT and kind.has(Verb.GET) and step == "save":
                continue
            rows = differences(sent, None if shown_value is ABSENT else shown_value, root=("properties", *path))
            if rows:
                cut = tuple(DiffRow(row.path, tuple(cell[:200] for cell in row.cells)) for row in rows[:10])
                problems.append(
                    Problem(f"{step} shows another value than was sent", rows[0].path, step, ("sent", step), cut)
                )
        return problems


def _same_place(told: str, place: str) -> bool:
    return told == place or (told.startswith(place) and told[len(place) :][:1] in (".", "["))


def _placed(kind: Kind, body: JsonObject) -> Iterator[tuple[Path, str, Json]]:
    hidden = (*kind.ignored(), *kind.shape.read_only, *kind.shape.identifiers, *kind.shape.secret)
    found: dict[str, int] = {}
    for path, item in properties_of(kind, body):
        if any(path[: len(place)] == place for place in hidden) or item.write_only or item.read_only:
            continue
        sort = _sort(item.type)
        if sort is None or found.get(sort, 0) >= PLACES or path in kind.fixture.overrides:
            continue
        found[sort] = found.get(sort, 0) + 1
        yield from ((path, name, value) for name, value in _values(item.type, sort))


def _sort(type_: model.Type) -> str | None:
    match type_:
        case model.StringType() if not type_.sensitive:
            return "text"
        case model.IntegerType():
            return "integer"
        case model.AnyType():
            return "any"
        case model.ObjectType() if not type_.properties and isinstance(
            type_.additional_properties, model.StringType | model.AnyType
        ):
            return "map"
        case _:
            return None


def _values(type_: model.Type, sort: str) -> Iterator[tuple[str, Json]]:
    if sort == "text":
        assert isinstance(type_, model.StringType)
        for name, text in TEXTS.items():
            fits = (type_.min_length or 0) <= len(text) <= (type_.max_length or len(text))
            if fits and (type_.pattern is None or len(text) < MEGABYTE):
                yield name, text
    elif sort == "integer":
        assert isinstance(type_, model.IntegerType)
        for name, number in INTEGERS.items():
            if type_.min_value is None and type_.max_value is None:
                yield name, number
    elif sort == "map":
        yield from (("empty name", {"": "x"}), ("near names", {"a": "1", "A": "2", "a.b": "3", "a'b": "4", "é": "5"}))
    else:
        yield from ((name, value if name != "64 levels" else _deep(60)) for name, value in ANYTHING.items())
