"""CON-01 to CON-05: calls at the same time end as if they had come one after the other."""

from collections.abc import Iterable

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import window
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.common import about, apart, doubles, wishes
from extensor_conformance.compare import differences
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Parallel, Plan, ProbeStep, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem

OBJECTS = 16
EQUAL_SAVES = 8
WISHES = 4
ROUNDS = 4
READS = 8
_RETRYABLE = ("Conflict", "Throttled", "Unavailable")


def _refusal(answer: Answer, step: str) -> Problem | None:
    """A refusal under concurrency has to say that a repeat may succeed."""
    if answer.error is None or answer.error.transient:
        return None
    return Problem(f"{step}, sent beside others, is refused for good: {answer.error}", "$.error.data.transient", step)


def _rows(kind: Kind, one: Json, other: Json) -> tuple[DiffRow, ...]:
    return tuple(differences(one, other, ignore=about(kind), unordered=kind.fixture.unordered))


@check("CON-01", operations={Verb.SAVE, Verb.GET, Verb.DELETE}, features={Feature.CONCURRENCY}, examples=2)
class DifferentObjects(CaseCheck):
    """Sixteen saves at once; each object is as it is when it is saved alone."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        bodies = [kind.valid(draw, full=index % 2 == 0) for index in range(OBJECTS)]
        named = [kind.identifiers(body) for body in bodies]
        steps: list[Step] = [
            Parallel(tuple(Call(f"save {index}", Verb.SAVE, body) for index, body in enumerate(bodies))),
            Parallel(tuple(Call(f"get {index}", Verb.GET, name) for index, name in enumerate(named))),
        ]
        for index, body in enumerate(bodies):
            steps.append(Call(f"delete {index}", Verb.DELETE, named[index]))
            steps.append(Call(f"alone {index}", Verb.SAVE, body))
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        taken = [index for index in range(OBJECTS) if f"save {index}" in trial and _ok(trial, index)]
        if len(taken) < 2:
            raise NotTested("fewer than two of the bodies are taken when they are saved alone")
        for index in taken:
            alone = trial[f"alone {index}"]
            step = f"save {index}"
            refused = _refusal(trial[step], step)
            if refused is not None:
                return [refused]
            for step in (f"save {index}", f"get {index}"):
                if step not in trial or not trial[f"save {index}"].ok:
                    continue
                if trial[step].error is not None:
                    return [Problem(f"{step} fails beside others: {trial[step].error}", "$", step)]
                rows = _rows(kind, trial[step].properties, alone.properties)
                if rows:
                    message = f"{step}, beside others, shows other values than the same save alone"
                    return [Problem(message, rows[0].path, step, ("together", "alone"), rows)]
                if trial[step].identifiers != alone.identifiers:
                    message = f"{step} answers another object's identifiers"
                    return [Problem(message, "$.identifiers", step)]
        return []


def _ok(trial: Trial, index: int) -> bool:
    """Whether the object could be removed and saved again alone."""
    return all(f"{step} {index}" in trial and trial[f"{step} {index}"].ok for step in ("delete", "alone"))


@check("CON-02", operations={Verb.SAVE, Verb.GET}, features={Feature.CONCURRENCY}, examples=2)
class OneWish(CaseCheck):
    """Eight equal saves at once; one object as asked, which one delete removes."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        body = kind.valid(draw, full=draw.boolean())
        named = kind.identifiers(body)
        saves = Parallel(tuple(Call(f"save {index}", Verb.SAVE, body) for index in range(EQUAL_SAVES)))
        steps: list[Step] = [
            saves,
            Call("get", Verb.GET, named),
            Call("control", Verb.SAVE, body),
        ]
        if kind.has(Verb.DELETE):
            steps += [Call("delete", Verb.DELETE, named), Call("get after delete", Verb.GET, named)]
        yield Plan(tuple(steps))
        world = (ProbeStep("world before", "list", {}), saves, Call("control", Verb.SAVE, body), *window(kind))
        yield Plan((*world, ProbeStep("world", "list", {})), note="as the probe sees it")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        control = trial.result("control")
        saves = [f"save {index}" for index in range(EQUAL_SAVES) if f"save {index}" in trial]
        problems = [problem for step in saves if (problem := _refusal(trial[step], step)) is not None]
        if problems:
            return problems[:1]
        if saves and not any(trial[step].ok for step in saves):
            return [Problem("of equal saves at once none succeeded", "$", saves[0])]
        for step in (*saves, "get"):
            if step not in trial or (step != "get" and not trial[step].ok):
                continue
            if trial[step].error is not None:
                return [Problem(f"after equal saves at once get fails: {trial[step].error}", "$", step)]
            rows = _rows(kind, trial[step].properties, control.properties)
            if rows:
                return [
                    Problem(
                        f"{step} shows another object than was asked for", rows[0].path, step, ("seen", "asked"), rows
                    )
                ]
        if "world" in trial:
            return doubles(control, trial["world"], "world")
        if "get after delete" in trial and trial["delete"].ok and trial["get after delete"].ok:
            message = "after one delete there still is an object: the saves made several"
            return [Problem(message, "$.properties", "get after delete")]
        return []


def _each_alone_too(trial: Trial) -> list[int]:
    """The numbers of the saves at once. Raises `NotTested` when one is not played alone too, as its control."""
    saves = [index for index in range(WISHES) if f"save {index}" in trial]
    for index in saves:
        trial.result(f"alone {index}")
    return saves


@check("CON-03", operations={Verb.SAVE, Verb.GET}, features={Feature.CONCURRENCY}, examples=3)
class SeveralWishes(CaseCheck):
    """Saves of one object with different bodies at once; the end is one of them."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        base = kind.valid(draw, full=True)
        wanted = wishes(draw, kind, base, WISHES)
        if len(wanted) < 2:
            return
        named = kind.identifiers(base)
        steps: list[Step] = [
            Call("base", Verb.SAVE, base),
            Parallel(tuple(Call(f"save {index}", Verb.SAVE, body) for index, body in enumerate(wanted))),
            Call("get", Verb.GET, named),
        ]
        steps += [Call(f"alone {index}", Verb.SAVE, body) for index, body in enumerate(wanted)]
        yield Plan(tuple(steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        base = trial.result("base")
        saves = _each_alone_too(trial)
        if len(saves) < 2:
            raise NotTested("fewer than two saves are left")
        for index in saves:
            refused = _refusal(trial[f"save {index}"], f"save {index}")
            if refused is not None:
                return [refused]
        got = trial["get"]
        if got.error is not None:
            return [Problem(f"after saves at once get fails: {got.error}", "$", "get")]
        alike = [index for index in saves if not apart(kind, got.properties, trial.result(f"alone {index}").properties)]
        succeeded = [index for index in saves if trial[f"save {index}"].ok]
        if not succeeded and not apart(kind, got.properties, base.properties):
            return []
        if not alike:
            closest = min(
                (_rows(kind, got.properties, trial.result(f"alone {index}").properties) for index in saves), key=len
            )
            message = "the end is none of the wishes but a blend"
            return [Problem(message, closest[0].path, "get", ("get", "nearest wish"), closest)]
        if not set(alike) & set(succeeded):
            return [Problem("the end is a wish whose save was not answered with success", "$", f"save {alike[0]}")]
        return []


@check("CON-04", operations={Verb.SAVE, Verb.GET, Verb.DELETE}, features={Feature.CONCURRENCY}, examples=2)
class SaveAgainstDelete(CaseCheck):
    """Save and delete of one object at once, a few times; then it is complete or absent and obeys."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        base = kind.valid(draw, full=True)
        named = kind.identifiers(base)
        wish = next(iter(wishes(draw, kind, base, 1)), base)
        for number in range(ROUNDS):
            early = 0.001 * number
            yield Plan(
                (
                    Call("base", Verb.SAVE, base),
                    Parallel(
                        (
                            Call("save", Verb.SAVE, wish, delay=early if number % 2 else 0.0),
                            Call("delete", Verb.DELETE, named, delay=0.0 if number % 2 else early),
                        )
                    ),
                    Call("get", Verb.GET, named),
                    Call("save again", Verb.SAVE, wish),
                    Call("get again", Verb.GET, named),
                    Call("delete again", Verb.DELETE, named),
                    Call("get at last", Verb.GET, named),
                    Call("alone", Verb.SAVE, wish),
                )
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        base, alone = trial.result("base"), trial.result("alone")
        for step in ("save", "delete"):
            refused = _refusal(trial[step], step) if step in trial else None
            if refused is not None:
                return [refused]
        got = trial["get"]
        if got.error is not None and not got.has_code("ResourceNotFound"):
            return [Problem(f"after a save against a delete get fails: {got.error}", "$", "get")]
        if got.ok and apart(kind, got.properties, alone.properties) and apart(kind, got.properties, base.properties):
            rows = _rows(kind, got.properties, alone.properties)
            message = "after a save against a delete the object is neither absent nor complete"
            return [Problem(message, rows[0].path, "get", ("get", "complete"), rows)]
        for step in ("save again", "delete again"):
            if trial[step].error is not None:
                return [Problem(f"after a save against a delete {step} fails: {trial[step].error}", "$", step)]
        again = trial["get again"]
        rows = _rows(kind, again.properties, alone.properties)
        if again.error is not None or rows:
            path = rows[0].path if rows else "$"
            return [Problem("the next save does not converge", path, "get again", ("get", "complete"), rows)]
        if not trial["get at last"].has_code("ResourceNotFound"):
            return [Problem("the next delete does not remove the object", "$.properties", "get at last")]
        return []


@check("CON-05", operations={Verb.SAVE, Verb.GET}, features={Feature.CONCURRENCY}, examples=3)
class NoTornRead(CaseCheck):
    """Gets while an object is saved over and over; each shows one of the versions."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        base = kind.valid(draw, full=True)
        wanted = wishes(draw, kind, base, WISHES)
        if not wanted:
            return
        named = kind.identifiers(base)
        calls = [Call(f"save {index}", Verb.SAVE, body, delay=0.008 * index) for index, body in enumerate(wanted)]
        calls += [Call(f"get {index}", Verb.GET, named, delay=0.004 * index) for index in range(READS)]
        alone = [Call(f"alone {index}", Verb.SAVE, body) for index, body in enumerate(wanted)]
        yield Plan((Call("base", Verb.SAVE, base), Parallel(tuple(calls)), *alone))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        _each_alone_too(trial)
        told = ["base", *(name for name in trial.seen if name.startswith("alone"))]
        versions: list[JsonObject] = [trial.result(name).properties for name in told]
        for index in range(READS):
            step = f"get {index}"
            if step not in trial:
                continue
            got = trial[step]
            if got.error is not None:
                if got.error.transient and got.has_code(*_RETRYABLE):
                    continue
                return [Problem(f"{step}, beside saves, fails: {got.error}", "$", step)]
            if all(apart(kind, got.properties, version) for version in versions):
                closest = min((_rows(kind, got.properties, version) for version in versions), key=len)
                message = f"{step} shows something that was never saved"
                return [Problem(message, closest[0].path, step, ("get", "nearest version"), closest)]
        return []
