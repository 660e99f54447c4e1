"""Failures that are expected: applied to the outcomes after the run, each waiver itself watched for being stale."""

from collections.abc import Sequence
from dataclasses import replace

from extensor_conformance.fixture import Waiver
from extensor_conformance.verdicts import Outcome, Problem, Verdict


def apply(outcomes: Sequence[Outcome], waivers: Sequence[Waiver]) -> tuple[list[Outcome], list[Waiver], list[Waiver]]:
    """The outcomes with waivers applied, the stale waivers, and the expired ones.

    A failure all of whose problems are waived becomes XFAIL; some of them waived, the others remain. A waiver whose
    check ran and passed everywhere it speaks of is stale, and the outcome is XPASS. An expired waiver waives nothing.
    """
    expired = [waiver for waiver in waivers if waiver.expired]
    live = [waiver for waiver in waivers if not waiver.expired]
    used: set[int] = set()
    made: list[Outcome] = []
    for outcome in outcomes:
        own = [waiver for waiver in live if _speaks_of(waiver, outcome)]
        if not own or outcome.verdict not in (Verdict.FAIL, Verdict.FLAKY, Verdict.WARN):
            made.append(outcome)
            continue
        left: list[Problem] = []
        for problem in outcome.problems:
            waived = [waiver for waiver in own if _covers(waiver, problem)]
            used.update(id(waiver) for waiver in waived)
            if not waived:
                left.append(problem)
        if left:
            made.append(replace(outcome, problems=tuple(left)))
        else:
            reason = "; ".join(dict.fromkeys(waiver.reason for waiver in own if id(waiver) in used))
            made.append(outcome.with_verdict(Verdict.XFAIL, reason))
    stale = [waiver for waiver in live if id(waiver) not in used and _ran(waiver, outcomes)]
    for waiver in stale:
        made = [
            outcome.with_verdict(Verdict.XPASS, f"waived, and it passes: {waiver.reason}")
            if _speaks_of(waiver, outcome) and outcome.verdict is Verdict.PASS
            else outcome
            for outcome in made
        ]
    return made, stale, expired


def _speaks_of(waiver: Waiver, outcome: Outcome) -> bool:
    if waiver.check.upper() != outcome.check:
        return False
    if waiver.type is None or outcome.type is None:
        return True
    asked, own = waiver.type.lower(), outcome.type.lower()
    return asked in (own, own.rpartition("@")[0])


def _covers(waiver: Waiver, problem: Problem) -> bool:
    if waiver.path is None:
        return True
    places = [problem.path, *(row.path for row in problem.rows)] if problem.rows else [problem.path]
    told = [place for place in places if place is not None]
    return bool(told) and all(_below(place, waiver.path) for place in told[1:] or told)


def _below(place: str, waived: str) -> bool:
    return place == waived or (place.startswith(waived) and place[len(waived)] in ".[")


def _ran(waiver: Waiver, outcomes: Sequence[Outcome]) -> bool:
    own = [outcome for outcome in outcomes if _speaks_of(waiver, outcome)]
    return bool(own) and all(outcome.verdict is Verdict.PASS for outcome in own)
