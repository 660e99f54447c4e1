"""PRF-02: a call without a deadline is answered within a minute (P-PACE-02); `monitors.pace` watches all others."""

from collections.abc import Iterable

from extensor.contract import Verb
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.pace import LONGEST_SECONDS
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import Problem

PATIENCE_SECONDS = LONGEST_SECONDS + 2


@check("PRF-02", examples=1)
class WithinAMinute(CaseCheck):
    """The four verbs once, each waited for a little longer than a minute."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw)
        named = kind.identifiers(desired)
        calls = (
            Call("preview", Verb.PREVIEW_SAVE, desired, timeout=PATIENCE_SECONDS),
            Call("save", Verb.SAVE, desired, timeout=PATIENCE_SECONDS),
            Call("get", Verb.GET, named, timeout=PATIENCE_SECONDS),
            Call("delete", Verb.DELETE, named, timeout=PATIENCE_SECONDS),
        )
        yield Plan(tuple(call for call in calls if call.verb in kind.operations))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        problems = [Problem(f"{step}: {why}", step=step) for step, why in trial.broken()]
        for name, seen in trial.seen.items():
            if seen.answer is not None and seen.answer.seconds > LONGEST_SECONDS:
                problems.append(Problem(f"{name} was answered after {seen.answer.seconds:.0f} s", step=name))
        return problems
