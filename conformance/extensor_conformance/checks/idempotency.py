"""IDM-01, IDM-05, IDM-06, IDM-08: the same save again, its own echo, another one's identity, a lost answer."""

from collections.abc import Iterable

from extensor.contract import ErrorCode, Verb, format_path
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    Absent,
    apart,
    at,
    below,
    other_value,
    others,
    place,
    provider_names,
    read_path,
    window,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.common import doubles
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import broken_promises, changes, problem, same_identity
from extensor_conformance.steps import Answered, Call, Drop, Plan, ProbeStep, Step, Wait
from extensor_conformance.verdicts import Failed, NotApplicable, NotTested, Problem

REPEATS = 3
PATIENCE = 0.3
"""Seconds after which a save that was still under way when its link broke is tried once more."""


def once(kind: Kind, saved: str) -> tuple[Step, ...]:
    """Delete what was saved, once, and look: a double of it shows itself. With a twin, saved once, as the control."""
    if not kind.has(Verb.DELETE, Verb.GET):
        return ()
    named, twin = Answered(saved, "$.identifiers"), Answered("twin", "$.identifiers")
    return (
        Call("delete", Verb.DELETE, named),
        Call("delete twin", Verb.DELETE, twin),
        *window(kind),
        Call("gone", Verb.GET, named),
        Call("twin gone", Verb.GET, twin),
    )


def one_object(trial: Trial) -> list[Problem]:
    """Whether a single delete removed what several saves made."""
    if "gone" not in trial or "twin gone" not in trial or trial["delete"].error is not None:
        return []
    if trial["delete twin"].error is not None or not trial["twin gone"].has_code(ErrorCode.RESOURCE_NOT_FOUND):
        return []  # deleting does not work even for what was saved once; that is not this check's matter
    if trial["gone"].ok:
        return [Problem("there is a second object: one delete did not remove it", "$.properties", "gone")]
    return []


@check("IDM-01", operations={Verb.SAVE}, examples=3)
class RepeatedSave(CaseCheck):
    """Equal saves succeed with equal results, and there is one object."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired, twin = kind.valid(draw, full=draw.boolean()), kind.valid(draw)
        saves = tuple(Call(f"save {number}", Verb.SAVE, desired) for number in range(1, REPEATS + 1))
        get: tuple[Step, ...] = ()
        if kind.has(Verb.GET):
            get = (*window(kind), Call("get", Verb.GET, Answered("save 1", "$.identifiers")))
        yield Plan((Call("twin", Verb.SAVE, twin), *saves, *get, *once(kind, "save 1")))
        listing = ProbeStep("world", "list", {})
        yield Plan((ProbeStep("world before", "list", {}), *saves, listing), note="as the probe sees it")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        first = trial.result("save 1")
        for number in range(2, REPEATS + 1):
            step = f"save {number}"
            if step not in trial:
                continue
            again = trial[step]
            if again.error is not None:
                if again.error.transient:
                    raise NotTested(f"refused for now: {again.error}")
                return [Problem(f"the same save again is refused: {again.error}", step=step)]
            found = same_identity(first, again, step)
            if found:
                return found
            rows = changes(first.properties, again.properties, kind)
            if rows:
                return problem("the same save again gives another result", rows, step, "first", "again")
        if "world" in trial:
            return doubles(first, trial["world"], "world")
        if "get" in trial:
            rows = changes(first.properties, trial.result("get").properties, kind)
            if rows:
                return problem("get shows another object than was saved", rows, "get", "saved", "got")
        return one_object(trial)


@check("IDM-05", operations={Verb.SAVE, Verb.GET})
class RoundTrip(CaseCheck):
    """Saving what get showed, without its read-only properties, changes nothing."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        shape = kind.shape
        if provider_names(kind):
            raise NotApplicable("the provider gives the resource its name, so an echo is a new resource")
        desired = kind.valid(draw, full=draw.boolean())
        saved = Answered("save", "$.identifiers")
        leave = tuple(format_path(path) for path in shape.read_only)
        echo = Answered("get", "$.properties", leave)
        steps: list[Step] = [Call("save", Verb.SAVE, desired), *window(kind), Call("get", Verb.GET, saved)]
        if kind.has(Verb.PREVIEW_SAVE):
            steps += [Call("control", Verb.PREVIEW_SAVE, desired), Call("preview", Verb.PREVIEW_SAVE, echo)]
        steps += [Call("again", Verb.SAVE, echo), *window(kind), Call("get again", Verb.GET, saved)]
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        there = trial.result("get")
        again = trial["again"]
        if again.error is not None:
            if again.error.transient or _for_want_of_hidden(again):
                raise NotTested(f"the echo was refused: {again.error}")
            at_ = next((path for path in again.error.paths if path), None)
            return [Problem(f"what get showed is refused: {again.error}", at_, "again")]
        rows = changes(there.properties, again.properties, kind)
        if rows:
            return problem("saving what get showed changes it", rows, "again", "got", "saved")
        if self._previewed(trial, there, kind):
            rows = broken_promises(trial["preview"], there.properties, kind)
            if rows:
                message = "a preview of what get showed shows a change"
                return problem(message, rows, "preview", "previewed", "got")
        if "get again" in trial:
            rows = changes(there.properties, trial.result("get again").properties, kind)
            return problem("saving what get showed changes what get shows", rows, "get again", "before", "after")
        return []

    def _previewed(self, trial: Trial, there: Answer, kind: Kind) -> bool:
        """Whether the echo was previewed by a provider whose previews of the original show no change."""
        if "preview" not in trial or "control" not in trial or not trial["preview"].ok or not trial["control"].ok:
            return False
        return not broken_promises(trial["control"], there.properties, kind)


def _for_want_of_hidden(answer: Answer) -> bool:
    """Whether a refusal is about what a get cannot show, or shows inside arrays where it cannot be left out."""
    codes = {ErrorCode.MISSING_PROPERTY, ErrorCode.READ_ONLY_PROPERTY}
    return bool(answer.codes) and codes.issuperset(answer.codes)


@check("IDM-06", operations={Verb.SAVE, Verb.GET})
class ConflictingIdentity(CaseCheck):
    """A save with an existing identity and another immutable value is refused, and the object stays as it was."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        fixed = [path for path in kind.shape.immutable if not self._hidden(kind, path)]
        if not fixed:
            raise NotApplicable("the type has no immutable property that can be seen")
        desired = kind.valid(draw, full=True)
        bodies = others(draw, kind)
        for path in fixed:
            other = other_value(desired, path, bodies)
            if other is not None:
                named = Answered("save", "$.identifiers")
                yield Plan(
                    (
                        Call("save", Verb.SAVE, desired),
                        *window(kind),
                        Call("conflict", Verb.SAVE, other),
                        *window(kind),
                        Call("get", Verb.GET, named),
                    ),
                    expect={"place": place(path)},
                    note=f"another {place(path)}",
                )

    def _hidden(self, kind: Kind, path: Path) -> bool:
        shape = kind.shape
        return below(path, (*shape.write_only, *shape.read_only, *kind.identity, *shape.calculated))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        where = str(trial.expect.get("place"))
        saved, conflict = trial.result("save"), trial["conflict"]
        if not _differ_at(trial, where):
            raise NotTested("the two saves do not differ in the immutable property")
        if conflict.error is None:
            return [Problem("an object of the same name is overwritten", where, "conflict")]
        if not conflict.has_code(ErrorCode.IMMUTABLE_PROPERTY, ErrorCode.CONFLICT):
            message = f"expected ImmutableProperty or Conflict, got {conflict.error}"
            return [Problem(message, where, "conflict")]
        rows = changes(saved.properties, trial.result("get").properties, kind)
        return problem("the save was refused and still changed the object", rows, "get", "before", "after")


def _differ_at(trial: Trial, where: str) -> bool:
    path = (read_path(where) or ())[1:]
    one, other = at(trial.sent("save"), path), at(trial.sent("conflict"), path)
    return not isinstance(one, Absent) and not isinstance(other, Absent) and one != other


@check("IDM-08", operations={Verb.SAVE, Verb.GET}, examples=2)
class LostAnswer(CaseCheck):
    """After the link broke with a save under way, repeating it gives exactly one object as asked."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired, twin = kind.valid(draw, full=draw.boolean()), kind.valid(draw)
        lost = Drop(Call("lost", Verb.SAVE, desired), after=0.05)
        again = (Call("again", Verb.SAVE, desired), Wait(PATIENCE), Call("third", Verb.SAVE, desired))
        get = (*window(kind), Call("get", Verb.GET, Answered("third", "$.identifiers")))
        yield Plan((lost, Call("twin", Verb.SAVE, twin), *again, *get, *once(kind, "third")))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        third = trial["third"]
        again = trial["again"]
        if third.error is not None:
            if third.error.transient:
                raise NotTested(f"refused for now: {third.error}")
            raise Failed(Problem(f"the repeated save is refused: {third.error}", step="third"))
        if again.error is not None and not again.error.transient:
            raise Failed(Problem(f"the repeated save is refused: {again.error}", step="again"))
        if again.ok:
            rows = changes(again.properties, third.properties, kind)
            if rows:
                return problem("the repeated save gives another result", rows, "third", "first", "again")
        rows = changes(third.properties, trial.result("get").properties, kind)
        if rows:
            return problem("get shows another object than was saved", rows, "get", "saved", "got")
        return one_object(trial)
