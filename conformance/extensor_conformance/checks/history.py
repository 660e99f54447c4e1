"""IDM-04, IDM-07, DEL-07: what was before, and what is named alike, does not shine through."""

import unicodedata
from collections.abc import Iterable, Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    Absent,
    apart,
    at,
    below,
    changed,
    given,
    named,
    optional,
    place,
    put,
    read_only,
    read_path,
    required_part,
    some,
    text_identity,
    window,
    with_identity,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import changes, differing_at, problem, same, shown
from extensor_conformance.steps import Answered, Call, Plan, Step
from extensor_conformance.verdicts import DiffRow, NotApplicable, NotTested, Problem

LIFE = {Verb.SAVE, Verb.GET}


@check("IDM-04", operations=LIFE)
class HistoryIndependence(CaseCheck):
    """A, B, A ends as A did; B after A is as a fresh B; what a save leaves out stays."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        one = kind.valid(draw, full=draw.boolean())
        other = changed(draw, kind, one)
        if other is not None:
            yield self._back_and_forth(kind, one, other)
        yield from self._emptied(draw, kind)
        leave = optional(kind, one)
        if leave:
            name = draw.choice(leave)
            part = {key: value for key, value in one.items() if key != name}
            yield Plan(
                (
                    Call("whole", Verb.SAVE, one),
                    Call("part", Verb.SAVE, part),
                    *window(kind),
                    Call("get", Verb.GET, Answered("whole", "$.identifiers")),
                ),
                expect={"place": place((name,))},
                note=f"the second save leaves {place((name,))} out",
            )

    def _emptied(self, draw: Draw, kind: Kind) -> Iterator[Plan]:
        """B is A with an entry less in one of its lists or maps."""
        one = kind.valid(draw, full=True)
        places = [path for path in given(kind, one) if _has_entries(at(one, path))]
        for path in some(draw, places, 2):
            other = put(one, path, _one_less(at(one, path)))
            assert isinstance(other, dict)
            steps = self._back_and_forth(kind, one, other).steps
            yield Plan(steps, note=f"B has an entry less than A in {place(path)}")

    def _back_and_forth(self, kind: Kind, one: JsonObject, other: JsonObject) -> Plan:
        steps: list[Step] = []
        if kind.has(Verb.DELETE):
            named_ = Answered("fresh b", "$.identifiers")
            steps += [Call("fresh b", Verb.SAVE, other), Call("delete", Verb.DELETE, named_), *window(kind)]
        steps += [Call("a", Verb.SAVE, one), Call("b", Verb.SAVE, other), Call("a again", Verb.SAVE, one)]
        get = Call("get", Verb.GET, Answered("a", "$.identifiers"))
        return Plan((*steps, *window(kind), get), note="B is A with changes")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        if "whole" in trial:
            return self._left_out(trial, kind)
        first = trial.result("a")
        places = [path for path in given(kind, trial.sent("a")) if not below(path, kind.identity)]
        for step in ("a again", "get"):
            if step in trial and "b" in trial:
                trial.result("a again")
                rows = differing_at(places, first.properties, trial.result(step).properties, kind)
                if rows:
                    message = "after A, B and A again the object is not as after A"
                    return problem(message, rows, step, "after A", "after A, B, A")
        if "fresh b" in trial and "b" in trial and trial["fresh b"].ok and "delete" in trial and trial["delete"].ok:
            places = [path for path in given(kind, trial.sent("b")) if not below(path, kind.identity)]
            rows = differing_at(places, trial["fresh b"].properties, trial.result("b").properties, kind)
            return problem("B after A is not as a fresh B", rows, "b", "fresh B", "B after A")
        return []

    def _left_out(self, trial: Trial, kind: Kind) -> list[Problem]:
        whole, part = trial.result("whole"), trial.result("part")
        where = trial.expect.get("place")
        sent = trial.sent("part")
        if any(sent.get(name) != value for name, value in trial.sent("whole").items() if name in sent):
            raise NotTested("the second save also changes something")
        for step, answer in (("part", part), ("get", trial.result("get") if "get" in trial else part)):
            left = [row for row in changes(whole.properties, answer.properties, kind) if _settable(kind, row, whole)]
            if left:
                message = f"a save that leaves {where} out does not leave it as it is"
                return problem(message, left, step, "before", "after")
        return []


def _has_entries(value: Json | Absent) -> bool:
    return isinstance(value, list | dict) and bool(value) and not is_marker(value)


def _one_less(value: Json | Absent) -> Json:
    if isinstance(value, list):
        return value[1:]
    assert isinstance(value, dict)
    return {key: item for key, item in value.items() if key != next(iter(value))}


def _settable(kind: Kind, row: DiffRow, answer: Answer) -> bool:
    path = (read_path(row.path) or ())[1:]
    return not below(path, read_only(kind, answer.properties))


# -- names that nearly meet -------------------------------------------------------------------------------------------

ENDS = (
    ("letter case", "ab", "AB"),
    ("a prefix", "", "1"),
    ("a separator", "a-b", "a_b"),
    ("a separator", "a.b", "a-b"),
    ("a blank", "a", "a "),
    ("an escape", "a b", "a%20b"),
    ("the Unicode form", "\u00e9", unicodedata.normalize("NFD", "\u00e9")),
    ("a folded letter", "\u00df", "ss"),
)
"""What two names differ in, and how they end."""


def near_misses(kind: Kind, body: JsonObject, path: Path) -> Iterator[tuple[str, JsonObject, JsonObject]]:
    """Pairs of bodies whose names differ a little: in what, the first, the second."""
    text = at(body, path)
    if not isinstance(text, str):
        return
    for what, one, other in ENDS:
        first, second = named(kind, body, path, text + one), named(kind, body, path, text + other)
        if first is not None and second is not None:
            yield what, first, second
    shouted = named(kind, body, path, text.upper())
    if shouted is not None and shouted != body:
        yield "letter case", body, shouted


@check("IDM-07", operations=LIFE, examples=2)
class NearMissNames(CaseCheck):
    """Names that differ a little stay separate objects, or the second is refused."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        body, another = kind.valid(draw, full=True), kind.valid(draw, full=True)
        path = text_identity(kind, body)
        pairs = list(near_misses(kind, body, path)) if path is not None else []
        pairs += [("one part of the name", body, other) for other in siblings(kind, body, another)]
        if not pairs:
            raise NotApplicable("its names have no near misses")
        for what, first, second in pairs:
            other = with_identity(kind, another, second)
            steps: list[Step] = [
                Call("first", Verb.SAVE, first),
                Call("second", Verb.SAVE, other),
                *window(kind),
                Call("get first", Verb.GET, kind.identifiers(first)),
                Call("get second", Verb.GET, kind.identifiers(other)),
            ]
            if kind.has(Verb.DELETE):
                steps += [Call("delete second", Verb.DELETE, kind.identifiers(other)), *window(kind)]
                steps.append(Call("get first again", Verb.GET, kind.identifiers(first)))
            yield Plan(tuple(steps), note=f"two names that differ in {what}")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        first, second = trial.result("first"), trial["second"]
        if same(kind.identifiers(trial.sent("first")), kind.identifiers(trial.sent("second"))):
            raise NotTested("the two names are the same")
        what = trial.case.plan.note
        for step in ("get first", "get first again"):
            if step not in trial or (step == "get first again" and second.error is not None):
                continue
            answer = trial[step]
            if answer.error is not None:
                return [Problem(f"{what}: the first is gone: {answer.error}", "$.identifiers", step)]
            rows = changes(first.properties, answer.properties, kind)
            if rows:
                return problem(f"{what}: the second overwrote the first", rows, step, "first", "now")
        if second.ok and "get second" in trial:
            answer = trial["get second"]
            if answer.error is not None:
                return [Problem(f"{what}: the second is not there: {answer.error}", "$.identifiers", "get second")]
            rows = changes(second.properties, answer.properties, kind)
            return problem(f"{what}: the second is not what was saved", rows, "get second", "saved", "got")
        return []


def siblings(kind: Kind, body: JsonObject, another: JsonObject) -> Iterator[JsonObject]:
    """The body under names of which one part alone is another, where names have several parts."""
    places = [path for path in kind.identity if not isinstance(at(body, path), Absent)]
    if len(places) < 2:
        return
    for path in places:
        value = at(another, path)
        if not isinstance(value, Absent) and value != at(body, path):
            made = put(body, path, value)
            assert isinstance(made, dict)
            yield made


# -- rebirth ----------------------------------------------------------------------------------------------------------


@check("DEL-07", operations={Verb.SAVE, Verb.DELETE}, examples=4)
class CleanRebirth(CaseCheck):
    """A save after a delete gives a new object without values of the old one."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        old = kind.valid(draw, full=True)
        new = with_identity(kind, kind.valid(draw), old)
        least = required_part(kind, new)
        for body in (least, new) if least != new else (new,):
            yield self._twice(kind, old, body)

    def _twice(self, kind: Kind, old: JsonObject, new: JsonObject) -> Plan:
        named_ = Answered("fresh", "$.identifiers")
        steps: list[Step] = [
            Call("fresh", Verb.SAVE, new),
            Call("delete fresh", Verb.DELETE, named_),
            *window(kind),
            Call("old", Verb.SAVE, old),
            Call("delete old", Verb.DELETE, Answered("old", "$.identifiers")),
            *window(kind),
            Call("reborn", Verb.SAVE, new),
        ]
        if kind.has(Verb.GET):
            steps += [*window(kind), Call("get", Verb.GET, Answered("reborn", "$.identifiers"))]
        return Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        fresh, old = trial.result("fresh"), trial.result("old")
        for step in ("delete fresh", "delete old"):
            trial.result(step)
        for step in ("reborn", "get"):
            if step not in trial:
                continue
            if step == "get":
                trial.result("reborn")
            answer = trial[step]
            if answer.error is not None:
                return [Problem(f"it cannot be made anew after a delete: {answer.error}", "$.properties", step)]
            provided = read_only(kind, fresh.properties, answer.properties)
            rows = changes(fresh.properties, answer.properties, kind, ignore=provided)
            if not rows:
                rows = list(_handed_on(provided, old, fresh, answer))
            if rows:
                return problem("values of the old object are in the new one", rows, step, "fresh", "reborn")
        return []


def _handed_on(places: Iterable[Path], old: Answer, fresh: Answer, now: Answer) -> Iterator[DiffRow]:
    """Long texts that the provider made for the old object and shows on the new one."""
    for path in dict.fromkeys(places):
        was, first, value = (at(answer.properties, path) for answer in (old, fresh, now))
        if not isinstance(value, str) or len(value) < 8 or value[:4].isdecimal():
            continue
        if not isinstance(first, Absent) and value != first and value == was:
            yield DiffRow(place(path), (shown(first), shown(value)))
