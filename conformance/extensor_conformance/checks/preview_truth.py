"""PRV-02 to PRV-05, PRV-12: what a preview shows and refuses against what the save then does and refuses."""

import re
from collections.abc import Iterable

from extensor.contract import ErrorCode, Json, JsonObject, Verb, format_path
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    ABSENT,
    Absent,
    apart,
    at,
    below,
    changed,
    optional,
    other_value,
    others,
    place,
    volatile,
    window,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import differences, is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import OPEN_CLASSES, broken_promises, listed, problem, same, shown
from extensor_conformance.steps import Answered, Call, Plan, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem

TRUTH = {Verb.PREVIEW_SAVE, Verb.SAVE}
STATIC = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_PROPERTY,
        ErrorCode.MISSING_PROPERTY,
        ErrorCode.UNKNOWN_PROPERTY,
        ErrorCode.READ_ONLY_PROPERTY,
        ErrorCode.IMMUTABLE_PROPERTY,
        ErrorCode.CONFLICT,
    }
)
"""Codes of refusals for a reason that the request and the resource tell."""
UNSUPPORTED = ErrorCode.PREVIEW_NOT_SUPPORTED
RUNS = 5
PREDICTABLE = 0.2
"""Share of the open paths that may turn out to have been predictable."""


def previewed(trial: Trial, step: str) -> Answer:
    """A preview that has to say something for the check to mean anything. Raises `NotTested`."""
    return trial.result(step)


def kept(trial: Trial, kind: Kind, preview: str, save: str, get: str) -> list[Problem]:
    """Whether the save answered, and the get after it showed, what a preview promised."""
    shown_before = previewed(trial, preview)
    saved = trial.result(save)
    rows = broken_promises(shown_before, saved.properties, kind)
    found = problem("the preview promised what the save did not keep", rows, save, "previewed", "saved")
    if not found and get in trial:
        rows = broken_promises(shown_before, trial.result(get).properties, kind)
        found = problem("the preview promised what get then did not show", rows, get, "previewed", "got")
    return found or _identity_kept(shown_before, saved, save)


def _identity_kept(preview: Answer, saved: Answer, step: str) -> list[Problem]:
    rows: list[DiffRow] = []
    for name, value in preview.identifiers.items():
        came = saved.identifiers.get(name)
        if not is_marker(value) and not same(value, came):
            rows.append(DiffRow(format_path(("identifiers", name)), (shown(value), shown(came))))
    return problem("the preview named the resource otherwise than the save", rows, step, "previewed", "saved")


def get_after(name: str, kind: Kind, save: str) -> tuple[Step, ...]:
    """A get of what a step saved, when the type has one."""
    if not kind.has(Verb.GET):
        return ()
    return (*window(kind), Call(name, Verb.GET, Answered(save, "$.identifiers")))


@check("PRV-02", operations=TRUTH)
class CreateTruth(CaseCheck):
    """Each path that a preview of a create shows as known is what the save makes it."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        yield Plan(
            (
                Call("preview", Verb.PREVIEW_SAVE, desired),
                Call("save", Verb.SAVE, desired),
                *get_after("get", kind, "save"),
            )
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        return kept(trial, kind, "preview", "save", "get")


@check("PRV-03", operations=TRUTH)
class UpdateTruth(CaseCheck):
    """The same on an existing resource: one change, several, and a body that leaves things out."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        single = kind.change(draw, desired)
        bodies: list[tuple[str, JsonObject]] = []
        if single is not None:
            bodies.append((f"changes {place(single.path)}", single.properties))
        pair = changed(draw, kind, desired, times=2)
        if pair is not None:
            places = dict.fromkeys(row.path for row in differences(desired, pair))
            bodies.append((f"changes {' and '.join(places)}", pair))
        leave = optional(kind, desired)
        if leave:
            name = draw.choice(leave)
            part = {key: value for key, value in (pair or desired).items() if key != name}
            bodies.append((f"without {place((name,))}", part))
        for note, body in bodies:
            yield Plan(
                (
                    Call("first", Verb.SAVE, desired),
                    *window(kind),
                    Call("preview", Verb.PREVIEW_SAVE, body),
                    Call("save", Verb.SAVE, body),
                    *get_after("get", kind, "save"),
                ),
                note=note,
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("first")
        return kept(trial, kind, "preview", "save", "get")


@check("PRV-04", operations={*TRUTH, Verb.GET})
class NothingToDo(CaseCheck):
    """A preview of what is there already equals get."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        yield Plan(
            (
                Call("save", Verb.SAVE, desired),
                *window(kind),
                Call("get", Verb.GET, Answered("save", "$.identifiers")),
                Call("preview", Verb.PREVIEW_SAVE, desired),
            )
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        rows = broken_promises(previewed(trial, "preview"), trial.result("get").properties, kind)
        return problem("a preview of what is there already shows a change", rows, "preview", "previewed", "there")


@check("PRV-05", operations=TRUTH, examples=2)
class SameRefusals(CaseCheck):
    """Preview and save refuse the same faults alike, and a preview refuses nothing that the save takes."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw)
        for body, note in ((desired, "a valid body"), (kind.valid(draw, full=True), "a valid body with everything")):
            yield Plan((Call("preview", Verb.PREVIEW_SAVE, body), Call("save", Verb.SAVE, body)), note=note)
        for wrong in kind.mutations(draw, desired):
            bad = (Call("preview", Verb.PREVIEW_SAVE, wrong.properties), Call("save", Verb.SAVE, wrong.properties))
            yield Plan(bad, expect={"path": place(wrong.path)}, note=wrong.note)
        bodies = others(draw, kind) if kind.shape.immutable else []
        for path in kind.shape.immutable:
            other = other_value(desired, path, bodies)
            if other is None or below(path, kind.identity):
                continue
            yield Plan(
                (
                    Call("first", Verb.SAVE, desired),
                    *window(kind),
                    Call("preview", Verb.PREVIEW_SAVE, other),
                    Call("save", Verb.SAVE, other),
                ),
                expect={"path": place(path)},
                note=f"changes {place(path)}, which is immutable",
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        preview, save = trial["preview"], trial["save"]
        path = trial.expect.get("path")
        for answer in (preview, save):
            if answer.error is not None and answer.error.transient:
                raise NotTested(f"refused for now: {answer.error}")
        if (preview.ok and save.ok) or preview.has_code(UNSUPPORTED):
            return []
        if preview.error is None:
            assert save.error is not None
            if not save.has_code(*STATIC):
                raise NotTested(f"the save was refused for another reason: {save.error}")
            at_ = next((item for item in save.error.paths if item), path)
            return [Problem(f"the preview takes what the save refuses: {save.error}", at_, "preview")]
        if save.ok:
            at_ = next((item for item in preview.error.paths if item), path)
            return [Problem(f"the preview refuses what the save takes: {preview.error}", at_, "preview")]
        assert save.error is not None
        if save.has_code(*STATIC):
            one = {(fault.code, fault.path) for fault in preview.error.faults}
            other = {(fault.code, fault.path) for fault in save.error.faults}
            if one != other:
                message = f"the preview is refused otherwise than the save: {preview.error}; {save.error}"
                return [Problem(message, path, "preview")]
        return []


_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]|\Z)")


def _is_time(value: Json) -> bool:
    """Whether a value looks like a moment: it may be the same in quick saves and still nobody can tell it before."""
    if isinstance(value, str):
        return _DATE.match(value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return any(1.5e9 * factor <= value <= 2.5e9 * factor for factor in (1, 1e3, 1e6, 1e9))


@check("PRV-12", operations=TRUTH, examples=1)
class Precision(CaseCheck):
    """No more than a fifth of what previews show as open was predictable over five saves."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        steps: list[Step] = []
        for number in range(1, RUNS + 1):
            body = kind.valid(draw, full=True)
            steps += [Call(f"preview {number}", Verb.PREVIEW_SAVE, body), Call(f"save {number}", Verb.SAVE, body)]
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        runs = [
            (previewed(trial, f"preview {number}"), trial.result(f"save {number}"), trial.sent(f"save {number}"))
            for number in range(1, RUNS + 1)
        ]
        open_in = [_open(preview, saved.properties, kind) for preview, saved, _ in runs]
        everywhere = [path for path in open_in[0] if all(path in found for found in open_in)]
        guessed = [path for path in everywhere if _predictable(path, [(saved, sent) for _, saved, sent in runs])]
        if not everywhere or len(guessed) / len(everywhere) <= PREDICTABLE:
            return []
        score = f"{len(guessed)} of {len(everywhere)}"
        rows = [DiffRow(place(path), ("open", shown(_came(path, runs[0][1])))) for path in guessed]
        message = f"{score} paths that previews showed as unknown or calculated were predictable over {RUNS} saves"
        return problem(message, rows, "preview 1", "previewed", "saved")


def _came(path: Path, saved: Answer) -> Json | Absent:
    return at(saved.properties, path)


def _open(preview: Answer, saved: JsonObject, kind: Kind) -> list[Path]:
    """The places with a value in the saved object that the preview showed as open, and the type does not declare so."""
    declared = volatile(kind, preview.properties, saved)
    told = listed(preview.metadata, *OPEN_CLASSES)
    found: list[Path] = []

    def look(value: Json | Absent, came: Json | Absent, path: Path) -> None:
        if below(path, declared) or isinstance(came, Absent):
            return
        if path in told or (not isinstance(value, Absent) and is_marker(value)):
            found.append(path)
        elif isinstance(came, dict):
            inner = value if isinstance(value, dict) else {}
            for key in came:
                look(inner.get(key, ABSENT), came[key], (*path, key))
        elif isinstance(came, list) and isinstance(value, list):
            for index, item in enumerate(came[: len(value)]):
                look(value[index], item, (*path, index))

    look(preview.properties, saved, ())
    return found


def _predictable(path: Path, runs: list[tuple[Answer, JsonObject]]) -> bool:
    """Whether the value was the input's own each time, or the same each time."""
    values = [at(saved.properties, path) for saved, _ in runs]
    asked = [at(sent, path) for _, sent in runs]
    known = [(one, other) for one, other in zip(values, asked, strict=True) if not isinstance(one, Absent)]
    if len(known) < len(runs):
        return False
    if all(not isinstance(other, Absent) and same(one, other) for one, other in known if not isinstance(one, Absent)):
        return True
    first = values[0]
    assert not isinstance(first, Absent)
    constant = all(not isinstance(one, Absent) and same(one, first) for one in values)
    return constant and not _is_time(first)
