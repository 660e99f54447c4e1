"""SCH-05: what the type allows is taken. SCH-06: what it does not allow is refused, by preview and save."""

from collections.abc import Iterable

from extensor.contract import JsonObject, Verb
from extensor_conformance.bench import Bench
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.common import operable, shown
from extensor_conformance.draw import Draw
from extensor_conformance.generate import Mutation
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import DiffRow, NotTested, Problem

INSTANCES = 20
ACCEPTED = 0.9
"""Share of generated instances that has to be taken."""
PER_EXAMPLE = 30
"""Mutations of one instance that are tried at most."""


@check("SCH-05", operations={Verb.PREVIEW_SAVE}, scope="type")
class NotTooTight(Procedure):
    """Previews of generated instances; the share that is refused."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.PREVIEW_SAVE)
        bodies: list[JsonObject] = bench.draw(
            lambda draw: [kind.valid(draw, full=index % 4 == 0) for index in range(INSTANCES)]
        )
        rows: list[DiffRow] = []
        refused = 0
        for body in bodies:
            answer = bench.preview(body)
            if answer.error is not None and not answer.has_code("PreviewNotSupported"):
                refused += 1
                fault = answer.error.faults[0] if answer.error.faults else None
                path = fault.path if fault is not None and fault.path is not None else "$.properties"
                rows.append(DiffRow(path, (fault.code if fault is not None else str(answer.error.code),)))
        if refused <= INSTANCES * (1 - ACCEPTED):
            return []
        message = (
            f"{refused} of {INSTANCES} instances that the type allows are refused: type and code disagree, "
            "or conformance.toml has to say what values there may be"
        )
        return [Problem(message, rows[0].path, "preview", ("code",), tuple(rows[:5]))]


@check("SCH-06", operations={Verb.SAVE}, examples=2)
class NotTooLoose(CaseCheck):
    """Each single fault is refused by preview and by save; the same body without it is taken."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        for mutation in _some(kind.mutations(draw, desired)):
            calls = (
                Call("preview", Verb.PREVIEW_SAVE, mutation.properties),
                Call("save", Verb.SAVE, mutation.properties),
                Call("control preview", Verb.PREVIEW_SAVE, desired),
                Call("control save", Verb.SAVE, desired),
            )
            yield Plan(
                tuple(call for call in calls if kind.has(call.verb)),
                expect={"path": shown(mutation.path), "wrong": mutation.properties},
                note=mutation.note,
            )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        controls = [step for step in ("control preview", "control save") if step in trial]
        if not controls:
            raise NotTested("no control was played")
        for step in controls:
            control = trial[step]
            if control.error is not None and not control.has_code("PreviewNotSupported"):
                raise NotTested(f"the {step} is refused: {control.error}")
        problems: list[Problem] = []
        for step in ("preview", "save"):
            if step not in trial or trial[step].error is not None:
                continue
            if trial.sent(step) != trial.expect["wrong"] and not self._still_wrong(trial, step, kind):
                raise NotTested("the fault is not in the case any more")
            message = f"{step} takes a body with a fault: {trial.case.plan.note}"
            problems.append(Problem(message, str(trial.expect["path"]), step))
        return problems

    def _still_wrong(self, trial: Trial, step: str, kind: Kind) -> bool:
        """After shrinking: whether the body still breaks the type."""
        from extensor.contract import ContractViolation, decode_unknowns
        from extensor.types.validate import validate

        try:
            decoded = decode_unknowns(trial.sent(step), ("properties",))
        except ContractViolation:
            return False
        faults = validate(decoded, kind.type, purpose="save")
        return any(fault.path == trial.expect["path"] for fault in faults)


def _some(mutations: Iterable[Mutation]) -> list[Mutation]:
    """At most `PER_EXAMPLE`, evenly from all."""
    every = list(mutations)
    step = max(1, -(-len(every) // PER_EXAMPLE))
    return every[::step]
