"""Which of the four levels a provider has earned."""

from collections.abc import Mapping, Sequence

from extensor_conformance.catalogue import LEVELS, Requirement
from extensor_conformance.report.model import Level
from extensor_conformance.verdicts import Evidence, Outcome, Verdict

_BLOCKING = (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR)


def levels_of(outcomes: Sequence[Outcome], requirements: Mapping[str, Requirement]) -> tuple[Level, ...]:
    """The four levels, each with what stands in its way.

    A level is earned when nothing inside it is FAIL, FLAKY or ERROR, every core check inside it was run, and none of
    those is NOT-TESTED. An extended check that lacks its prerequisite does not cost the level; it makes its evidence
    "self-reported".
    """
    seen: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        seen.setdefault(outcome.check, []).append(outcome)
    made: list[Level] = []
    for number, name in LEVELS.items():
        rows = [row for row in requirements.values() if row.level == number]
        blocked = tuple(row.id for row in rows if _blocks(row, seen.get(row.id, [])))
        probed = all(
            any(outcome.evidence is Evidence.PROBED for outcome in seen.get(row.id, []))
            for row in rows
            if not row.core and row.needs
        )
        evidence = Evidence.PROBED if probed and number == max(LEVELS) else Evidence.SELF_REPORTED
        earned = not blocked and all(level.earned for level in made)
        made.append(Level(number, name, earned, blocked, evidence))
    return tuple(made)


def _blocks(row: Requirement, outcomes: Sequence[Outcome]) -> bool:
    if any(outcome.verdict in _BLOCKING for outcome in outcomes):
        return True
    return row.core and (not outcomes or any(outcome.verdict is Verdict.NOT_TESTED for outcome in outcomes))
