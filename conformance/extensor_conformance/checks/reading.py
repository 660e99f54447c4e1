"""IDM-02, IDM-03, IDM-09 to IDM-11: what get shows, and from where it knows."""

from collections.abc import Iterable

from extensor.contract import JsonObject, Verb
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import Absent, at, given, place, properties_on, read_path, window
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.draw import Draw
from extensor_conformance.generate import Change
from extensor_conformance.kind import Kind
from extensor_conformance.promises import (
    broken_promises,
    changes,
    differing_at,
    must_be_absent,
    problem,
    same,
    same_identity,
)
from extensor_conformance.steps import Answered, Call, Plan, ProbeStep, Restart, Step
from extensor_conformance.verdicts import Failed, NotApplicable, NotTested, Problem

REPEATS = 5


@check("IDM-02", operations={Verb.SAVE, Verb.GET})
class ReadYourWrites(CaseCheck):
    """A get after a save equals its answer, also when something was read before."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        named = Answered("save 1", "$.identifiers")
        steps: list[Step] = [Call("save 1", Verb.SAVE, desired), *window(kind), Call("get 1", Verb.GET, named)]
        change = kind.change(draw, desired)
        if change is not None:
            steps += [Call("save 2", Verb.SAVE, change.properties), *window(kind), Call("get 2", Verb.GET, named)]
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save 1")
        looked = False
        for number in (1, 2):
            save, get = f"save {number}", f"get {number}"
            if save not in trial or get not in trial or trial[save].error is not None:
                continue
            looked = True
            got, saved = trial[get], trial[save]
            if got.error is not None:
                return [Problem(f"what was saved cannot be read: {got.error}", "$.properties", get)]
            found = same_identity(saved, got, get)
            rows = changes(saved.properties, got.properties, kind)
            found += problem("get shows something else than the save answered", rows, get, "saved", "got")
            if found:
                return found[:1]
        if not looked:
            raise NotTested("nothing was read after a save")
        return []


@check("IDM-03", operations={Verb.SAVE, Verb.GET})
class PureGet(CaseCheck):
    """Five gets are equal, and a neighbour is as before."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired, neighbour = kind.valid(draw, full=draw.boolean()), kind.valid(draw)
        gets = tuple(
            Call(f"get {number}", Verb.GET, Answered("save", "$.identifiers")) for number in range(1, REPEATS + 1)
        )
        yield Plan(
            (
                Call("neighbour", Verb.SAVE, neighbour),
                Call("save", Verb.SAVE, desired),
                *window(kind),
                *gets,
                Call("get neighbour", Verb.GET, Answered("neighbour", "$.identifiers")),
            )
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        first = trial.result("get 1")
        for number in range(2, REPEATS + 1):
            step = f"get {number}"
            if step not in trial:
                continue
            again = trial[step]
            if again.error is not None:
                if again.error.transient:
                    raise NotTested(f"refused for now: {again.error}")
                return [Problem(f"a get changed what the next one finds: {again.error}", "$.properties", step)]
            rows = changes(first.properties, again.properties, kind)
            if rows:
                return problem("two gets without a save between them differ", rows, step, "first", "again")
        if "get neighbour" in trial:
            step = "get neighbour"
            if trial[step].error is not None:
                return [Problem(f"gets removed another object: {trial[step].error}", "$.properties", step)]
            rows = changes(trial.result("neighbour").properties, trial[step].properties, kind)
            return problem("gets changed another object", rows, step, "before", "after")
        return []


def _visible_change(draw: Draw, kind: Kind, body: JsonObject) -> Change | None:
    """A change that a get shows; ``None`` when none comes up."""
    for _ in range(8):
        change = kind.change(draw, body)
        if change is None or isinstance(at(change.properties, change.path), Absent):
            continue
        passed = properties_on(kind, change.path, body) or []
        if any(item.write_only or item.calculated or item.read_only for item in passed):
            continue
        return change
    return None


def _control(kind: Kind, desired: JsonObject) -> tuple[Step, ...]:
    """A preview before what the check is about: one that is untrue even there is not this check's matter."""
    return (Call("control", Verb.PREVIEW_SAVE, desired),) if kind.has(Verb.PREVIEW_SAVE) else ()


def _sound(trial: Trial, state: Answer, kind: Kind) -> bool:
    """Whether there are two previews, and the control told the truth about a state."""
    if "preview" not in trial or "control" not in trial or not trial["preview"].ok or not trial["control"].ok:
        return False
    return not broken_promises(trial["control"], state.properties, kind)


@check("IDM-09", operations={Verb.SAVE, Verb.GET}, probe=True, examples=2)
class Drift(CaseCheck):
    """What others changed is seen by get, shown by preview and restored by save."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        change = _visible_change(draw, kind, desired)
        if change is None:
            return
        top = change.path[0]
        named = Answered("save", "$.identifiers")
        steps: list[Step] = [
            Call("save", Verb.SAVE, desired),
            *window(kind),
            Call("get before", Verb.GET, named),
            *_control(kind, desired),
            ProbeStep("drift", "mutate", named, {str(top): change.properties[str(top)]}),
            *window(kind),
            Call("get drift", Verb.GET, named),
        ]
        if kind.has(Verb.PREVIEW_SAVE):
            steps.append(Call("preview", Verb.PREVIEW_SAVE, desired))
        steps += [Call("heal", Verb.SAVE, desired), *window(kind), Call("get healed", Verb.GET, named)]
        yield Plan(tuple(steps), expect={"place": place(change.path)}, note=f"another changes {place(change.path)}")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        saved, before = trial.result("save"), trial.result("get before")
        trial.result("drift")
        where = str(trial.expect.get("place"))
        path = (read_path(where) or ())[1:]
        drift = trial.result("get drift")
        one, other = at(before.properties, path), at(drift.properties, path)
        unseen = one is other if isinstance(one, Absent) or isinstance(other, Absent) else same(one, other)
        if unseen:
            return [Problem("get does not see what another changed", where, "get drift")]
        if _sound(trial, before, kind):
            rows = broken_promises(trial["preview"], trial.result("heal").properties, kind)
            if rows:
                message = "the preview does not show what the save will restore"
                return problem(message, rows, "preview", "previewed", "restored")
        healed = trial.result("heal")
        again = trial.result("get healed")
        asked = given(kind, trial.sent("heal"))
        for step, answer in (("heal", healed), ("get healed", again)):
            rows = differing_at(asked, saved.properties, answer.properties, kind)
            if rows:
                return problem("the save did not restore what another changed", rows, step, "saved", "now")
        return []


@check("IDM-10", operations={Verb.SAVE, Verb.GET}, probe=True, examples=2)
class Disappearance(CaseCheck):
    """What others removed is absent for get, a create for preview, and made again by save."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        named = Answered("save", "$.identifiers")
        steps: list[Step] = [
            *_control(kind, desired),
            Call("save", Verb.SAVE, desired),
            *window(kind),
            Call("get before", Verb.GET, named),
            ProbeStep("removal", "remove", named),
            *window(kind),
            Call("get absent", Verb.GET, named),
        ]
        if kind.has(Verb.PREVIEW_SAVE):
            steps.append(Call("preview", Verb.PREVIEW_SAVE, desired))
        steps += [Call("again", Verb.SAVE, desired), *window(kind), Call("get again", Verb.GET, named)]
        yield Plan((*steps, ProbeStep("world", "exists", named)))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("get before")
        trial.result("removal")
        must_be_absent(trial["get absent"], "get shows an object that another removed", "get absent")
        again = trial["again"]
        if again.error is not None:
            raise Failed(Problem(f"the save does not make it again: {again.error}", step="again"))
        if _sound(trial, trial.result("save"), kind):
            rows = broken_promises(trial["preview"], again.properties, kind)
            if rows:
                return problem("the preview does not show the create", rows, "preview", "previewed", "saved")
        there = trial["get again"]
        if there.error is not None:
            return [Problem(f"what was saved again is not there: {there.error}", "$.properties", "get again")]
        rows = changes(again.properties, there.properties, kind)
        if rows:
            return problem("get shows something else than the save answered", rows, "get again", "saved", "got")
        if "world" in trial and trial["world"].result != {**_dict(trial, "world"), "exists": True}:
            return [Problem("the save did not make it again, as the probe sees it", "$.properties", "world")]
        return []


def _dict(trial: Trial, step: str) -> JsonObject:
    found = trial[step].result
    return found if isinstance(found, dict) else {}


@check("IDM-11", operations={Verb.SAVE, Verb.GET}, process=True, examples=2)
class Adopt(CaseCheck):
    """A new process that is given the identifiers alone shows the whole object."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        if kind.fixture.ephemeral:
            raise NotApplicable("its objects end with the process, as the author declares")
        desired = kind.valid(draw, full=draw.boolean())
        steps: list[Step] = [
            Call("save", Verb.SAVE, desired),
            *window(kind),
            *_control(kind, desired),
            Restart(),
            Call("get", Verb.GET, Answered("save", "$.identifiers"), config_id=None),
        ]
        if kind.has(Verb.PREVIEW_SAVE):
            steps.append(Call("preview", Verb.PREVIEW_SAVE, desired))
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        saved, got = trial.result("save"), trial["get"]
        if got.error is not None:
            return [Problem(f"a new process does not find it: {got.error}", "$.properties", "get")]
        rows = changes(saved.properties, got.properties, kind)
        if rows:
            return problem("a new process shows another object", rows, "get", "saved", "got")
        found = same_identity(saved, got, "get")
        if found:
            return found
        if _sound(trial, saved, kind):
            rows = broken_promises(trial["preview"], got.properties, kind)
            message = "a new process previews a change of what is there already"
            return problem(message, rows, "preview", "previewed", "there")
        return []
