"""ERR-02, ERR-03, ERR-05 and ERR-09: errors name their cause, all of them, and absence by its one code."""

from collections.abc import Iterable

from extensor.contract import JsonObject, RpcCode, Verb
from extensor_conformance.adapters import Feature
from extensor_conformance.bench import Bench
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.common import shown
from extensor_conformance.draw import Draw
from extensor_conformance.generate import Mutation
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import NotApplicable, NotTested, Problem

REPEATS = 3
PER_EXAMPLE = 16
PAIRS = 6


def _verb(kind: Kind) -> Verb:
    return Verb.PREVIEW_SAVE if kind.has(Verb.PREVIEW_SAVE) else Verb.SAVE


def _spread(mutations: Iterable[Mutation], most: int) -> list[Mutation]:
    every = list(mutations)
    return every[:: max(1, -(-len(every) // most))]


@check("ERR-02", operations={Verb.SAVE}, features={Feature.ERROR_PATHS}, examples=2)
class CauseBound(CaseCheck):
    """The path is the place of the only fault there is; three tries are refused alike; the twin is taken."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired, verb = kind.valid(draw, full=True), _verb(kind)
        for mutation in _spread(kind.mutations(draw, desired), PER_EXAMPLE):
            wrong = [Call(f"wrong {number}", verb, mutation.properties) for number in range(REPEATS)]
            yield Plan(
                (*wrong, Call("save", Verb.SAVE, mutation.properties), Call("control", verb, desired)),
                expect={"path": shown(mutation.path), "paths": list(mutation.paths), "wrong": mutation.properties},
                note=mutation.note,
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        control = trial["control"]
        if control.error is not None and not control.has_code("PreviewNotSupported"):
            raise NotTested(f"the control is refused: {control.error}")
        answers = [(name, trial[name]) for name in trial.seen if name.startswith("wrong") or name == "save"]
        if any(answer.ok for _, answer in answers):
            raise NotTested("the fault is not refused, which is for SCH-06 to tell")
        place = str(trial.expect["path"])
        for step, answer in answers:
            assert answer.error is not None
            if answer.has_code("PreviewNotSupported"):
                continue
            if trial.sent(step) != trial.expect["wrong"]:
                raise NotTested("the fault is not the planned one any more")
            if not set(trial.expect["paths"]) & set(answer.error.paths):
                told = ", ".join(str(path) for path in answer.error.paths) or "no path"
                message = f"the fault is {trial.case.plan.note}, and the error names {told}: {answer.error}"
                return [Problem(message, place, step)]
        codes = {
            tuple(sorted(zip(map(str, answer.error.paths), answer.codes, strict=True)))
            for step, answer in answers
            if answer.error is not None and step != "save"
        }
        if len(codes) > 1:
            return [Problem("the same request gets other codes or paths each time", place, "wrong 1")]
        return []


@check("ERR-03", operations={Verb.SAVE}, features={Feature.ERROR_PATHS}, examples=2)
class AllFaultsTold(CaseCheck):
    """Two faults in places that have nothing to do with each other are both told."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired, verb = kind.valid(draw, full=True), _verb(kind)
        named = {path[0] for path in kind.shape.identifiers}
        every = [
            mutation for mutation in kind.mutations(draw, desired) if mutation.path and mutation.path[0] not in named
        ]
        places = list(dict.fromkeys(mutation.path[0] for mutation in every))
        if len(places) < 2:
            return
        for _ in range(PAIRS):
            first = draw.choice(every)
            second = draw.choice([mutation for mutation in every if mutation.path[0] != first.path[0]])
            yield Plan(
                (
                    Call("first", verb, first.properties),
                    Call("second", verb, second.properties),
                    Call("both", verb, _both(first.properties, second)),
                    Call("control", verb, desired),
                ),
                expect={"first": list(first.paths), "second": list(second.paths)},
                note=f"{first.note}, and {second.note}",
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        trial.result("control")
        alone = [trial[step].error for step in ("first", "second")]
        both = trial["both"].error
        if both is None or any(error is None for error in alone):
            raise NotTested("a fault is not refused, which is for SCH-06 to tell")
        problems: list[Problem] = []
        for step, error in zip(("first", "second"), alone, strict=True):
            paths = trial.expect[step]
            if error is None or not set(paths) & set(error.paths):
                raise NotTested("the error does not name the fault's path, which is for ERR-02 to tell")
            if not set(paths) & set(both.paths):
                told = ", ".join(str(path) for path in both.paths)
                message = f"of two faults the one of the {step} call is not told when both are there; told is {told}"
                problems.append(Problem(message, str(paths[0]), "both"))
        return problems


def _both(first: JsonObject, second: Mutation) -> JsonObject:
    """The body of the first fault with the top-level member in which the second lies."""
    name = str(second.path[0])
    left = {key: value for key, value in first.items() if key != name}
    return {**left, name: second.properties[name]} if name in second.properties else left


@check("ERR-05", operations={Verb.GET}, examples=2)
class NotFoundExactly(CaseCheck):
    """A name that never was, and one that is no more."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw)
        named = kind.identifiers(desired)
        calls = [Call("never was", Verb.GET, named)]
        if kind.has(Verb.SAVE, Verb.DELETE):
            calls += [
                Call("save", Verb.SAVE, desired),
                Call("control", Verb.GET, named),
                Call("delete", Verb.DELETE, named),
                Call("is no more", Verb.GET, named),
            ]
        yield Plan(tuple(calls))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        for control in ("save", "control"):
            if control in trial:
                trial.result(control)
        problems: list[Problem] = []
        for step in ("never was", "is no more"):
            if step not in trial or (step == "is no more" and ("delete" not in trial or not trial["delete"].ok)):
                continue
            answer = trial[step]
            if answer.error is None:
                problems.append(Problem(f"get of what {step} is answered with a result", "$.result", step))
            elif answer.codes != ("ResourceNotFound",):
                message = f"get of what {step} is {answer.error}, not ResourceNotFound alone"
                problems.append(Problem(message, "$.error.data.errors[0].code", step))
            elif answer.error.code != RpcCode.OPERATION_FAILED:
                message = f"get of what {step} has the number {answer.error.code}, not -32010"
                problems.append(Problem(message, "$.error.code", step))
        return problems


@check("ERR-09")
class OperationGrammar(Procedure):
    """Protocol 1 has no operations that are polled."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        del bench
        raise NotApplicable(
            "protocol 1 has no operations that are polled: a call returns when the resource is as asked, or failed"
        )
