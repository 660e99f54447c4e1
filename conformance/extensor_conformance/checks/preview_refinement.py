"""PRV-08: what a preview with an unknown value shows as known holds for every filling."""

from collections.abc import Iterable, Sequence

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    apart,
    at,
    below,
    is_secret,
    place,
    read_path,
    some,
    window,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.preview_unknowns import MOST, TRUTH, useful
from extensor_conformance.compare import is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.generate import Placement
from extensor_conformance.kind import Kind
from extensor_conformance.promises import broken_between, broken_promises, same, shown
from extensor_conformance.steps import Answered, Call, Plan, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem


@check("PRV-08", operations=TRUTH, examples=4)
class Refinement(CaseCheck):
    """What a preview with an unknown value shows as known holds for two different fillings."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        for one in some(draw, list(kind.placements(desired)), MOST):
            other = _second(draw, kind, one)
            yield self._of_create(kind, desired, other, one)
        free = [one for one in kind.placements(desired) if not below(one.path, kind.shape.immutable)]
        for one in some(draw, free, MOST // 2):
            other = _second(draw, kind, one)
            if other is not None:
                yield self._of_update(kind, desired, other, one)

    def _of_create(self, kind: Kind, desired: JsonObject, other: JsonObject | None, one: Placement) -> Plan:
        steps: list[Step] = [
            Call("unknown", Verb.PREVIEW_SAVE, one.properties),
            Call("preview 1", Verb.PREVIEW_SAVE, desired),
            Call("save 1", Verb.SAVE, desired),
        ]
        if other is not None:
            steps.insert(2, Call("preview 2", Verb.PREVIEW_SAVE, other))
            if kind.has(Verb.DELETE):
                steps += [Call("delete", Verb.DELETE, Answered("save 1", "$.identifiers")), *window(kind)]
                steps.append(Call("save 2", Verb.SAVE, other))
        return Plan(tuple(steps), expect={"place": place(one.path)}, note=f"{place(one.path)} is unknown")

    def _of_update(self, kind: Kind, desired: JsonObject, other: JsonObject, one: Placement) -> Plan:
        steps = (
            Call("first", Verb.SAVE, desired),
            *window(kind),
            Call("unknown", Verb.PREVIEW_SAVE, one.properties),
            Call("preview 1", Verb.PREVIEW_SAVE, desired),
            Call("preview 2", Verb.PREVIEW_SAVE, other),
            Call("save 2", Verb.SAVE, other),
        )
        note = f"{place(one.path)} is unknown, of an update"
        return Plan(steps, expect={"place": place(one.path)}, note=note)

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        unknown = useful(trial, "unknown")
        update = trial.case.plan.note.endswith("of an update")
        if update:
            trial.result("first")
        fillings = ("save 1", "save 2", "preview 1", "preview 2")
        tried = [(step, trial[step]) for step in fillings if step in trial and trial[step].ok and _fills(trial, step)]
        if not any(step.startswith("save") for step, _ in tried):
            raise NotTested("no filling could be saved")
        broken = {step: self._broken(unknown, answer, step, kind) for step, answer in tried}
        first = next((step for step, rows in broken.items() if rows), None)
        if first is None:
            return []
        paths = list(dict.fromkeys(row.path for rows in broken.values() for row in rows))
        columns = ("unknown", *(step for step, _ in tried))
        rows = tuple(DiffRow(path, _cells(path, unknown, tried, kind)) for path in paths)
        where = trial.expect.get("place")
        message = f"a preview with {where} unknown promised a value that does not hold for every filling"
        return [Problem(message, paths[0], first, columns, rows)]

    def _broken(self, unknown: Answer, answer: Answer, step: str, kind: Kind) -> list[DiffRow]:
        if step.startswith("save"):
            return broken_promises(unknown, answer.properties, kind)
        return broken_between(unknown, answer, kind)


def _second(draw: Draw, kind: Kind, one: Placement) -> JsonObject | None:
    """The body with another filling than its own for the unknown value."""
    found = kind.fillings(draw, one)
    return found[1] if found is not None else None


def _fills(trial: Trial, step: str) -> bool:
    """Whether a step's body is the unknown one with every marker filled; shrinking may make it another."""
    return _filled(trial.sent("unknown"), trial.sent(step))


def _filled(one: Json, other: Json) -> bool:
    if is_marker(one):
        return not is_marker(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_filled(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_filled(left, right) for left, right in zip(one, other, strict=True))
    return same(one, other)


def _cells(path: str, unknown: Answer, tried: Sequence[tuple[str, Answer]], kind: Kind) -> tuple[str, ...]:
    parts = (read_path(path) or ())[1:]
    secret = is_secret(kind, parts)
    values = (unknown.properties, *(answer.properties for _, answer in tried))
    return tuple(shown(at(value, parts), secret) for value in values)
