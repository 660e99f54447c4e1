"""The life of one object, played first for each type, so that the monitors see every kind of message."""

from collections.abc import Iterable

from extensor.contract import Verb
from extensor.contract.handshake import PING
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Notify, Plan, Request, Step
from extensor_conformance.verdicts import Problem

WALK = "WALK"


@check(WALK, examples=3)
class Walk(CaseCheck):
    """Get of what is absent, preview, save, get, change, delete; judges nothing itself."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        named = kind.identifiers(desired)
        changed = kind.change(draw, desired)
        steps = [
            Call("absent", Verb.GET, named),
            Call("preview", Verb.PREVIEW_SAVE, desired),
            Call("preview of less", Verb.PREVIEW_SAVE, kind.valid(draw)),
            Call("save", Verb.SAVE, desired),
            Call("get", Verb.GET, named),
        ]
        if changed is not None:
            steps += [
                Call("preview again", Verb.PREVIEW_SAVE, changed.properties),
                Call("change", Verb.SAVE, changed.properties),
            ]
        steps += [Call("delete", Verb.DELETE, named), Call("delete again", Verb.DELETE, named)]
        for placement in list(kind.placements(desired))[:2]:
            steps.append(Call(f"unknown {len(steps)}", Verb.PREVIEW_SAVE, placement.properties))
        wrong = next(iter(kind.mutations(draw, desired)), None)
        if wrong is not None:
            steps.append(Call("wrong", Verb.SAVE, wrong.properties))
        able: list[Step] = [step for step in steps if step.verb in kind.operations]
        yield Plan((*able, Notify("$/noSuchThing"), Request("ping", PING)))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del trial, kind
        return []
