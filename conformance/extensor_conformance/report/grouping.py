"""Outcomes as people look for them: by group of the catalogue, by check, the bad ones first."""

from collections.abc import Iterable
from dataclasses import dataclass

from extensor_conformance.catalogue import GROUPS
from extensor_conformance.report.document import requirement_of
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Outcome, Verdict

TESTED = frozenset(set(Verdict) - {Verdict.NOT_APPLICABLE, Verdict.NOT_TESTED})
"""Verdicts of checks that were played to an end."""
TROUBLE = (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR, Verdict.XPASS, Verdict.WARN)
"""Verdicts that a reader has to look at, in the order of their weight."""


LISTED = 12
"""Ids of checks that are named where many have the same to say."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group's results in a run: a check that is played on several types has one for each."""

    name: str
    verdicts: tuple[Verdict, ...]
    seconds: float

    @property
    def counted(self) -> int:
        """How many of its results are of checks that apply."""
        return sum(verdict is not Verdict.NOT_APPLICABLE for verdict in self.verdicts)

    @property
    def passed(self) -> int:
        """How many of its results are a pass."""
        return sum(verdict is Verdict.PASS for verdict in self.verdicts)

    def others(self) -> dict[Verdict, int]:
        """How many results have each verdict that is neither a pass nor beside the point."""
        found: dict[Verdict, int] = {}
        for verdict in self.verdicts:
            if verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE):
                found[verdict] = found.get(verdict, 0) + 1
        return {verdict: found[verdict] for verdict in Verdict if verdict in found}


def groups_of(report: Report) -> list[Group]:
    """The groups that have an outcome, in the catalogue's order."""
    made: list[Group] = []
    by_group: dict[str, list[Outcome]] = {}
    for outcome in report.outcomes:
        by_group.setdefault(group_of(report, outcome), []).append(outcome)
    for name in sorted(by_group, key=lambda name: GROUPS.index(name) if name in GROUPS else len(GROUPS)):
        outcomes = by_group[name]
        verdicts = tuple(outcome.verdict for outcome in outcomes)
        made.append(Group(name, verdicts, sum(outcome.seconds for outcome in outcomes)))
    return made


def group_of(report: Report, outcome: Outcome) -> str:
    """The group of an outcome's check; ``other`` for one that the catalogue does not have."""
    row = requirement_of(report, outcome.check)
    return row.group if row is not None else "other"


def title_of(report: Report, outcome: Outcome) -> str:
    """The title of an outcome's check; its id for one that the catalogue does not have."""
    row = requirement_of(report, outcome.check)
    return row.title if row is not None else outcome.check


def with_verdict(report: Report, verdicts: Iterable[Verdict]) -> list[Outcome]:
    """The outcomes with these verdicts, in the order of the verdicts."""
    return [outcome for verdict in verdicts for outcome in report.outcomes if outcome.verdict is verdict]


def level_text(report: Report) -> str:
    """``L2 Lifecycle``, or ``none``."""
    name = next((level.name for level in report.levels if level.number == report.level), None)
    return f"L{report.level} {name}" if name else "none"


def result_text(report: Report) -> str:
    """``2 failed, 1 with a warning, 74 passed (77 results of 70 checks)``."""
    words = {
        Verdict.FAIL: "failed",
        Verdict.FLAKY: "flaky",
        Verdict.ERROR: "broken in the kit",
        Verdict.XPASS: "waived without need",
        Verdict.WARN: "with a warning",
        Verdict.XFAIL: "waived",
        Verdict.NOT_TESTED: "not tested",
        Verdict.PASS: "passed",
        Verdict.NOT_APPLICABLE: "not applicable",
    }
    counts = report.counts
    if not counts:
        return "nothing"
    told = ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items() if verdict in counts)
    results, checks = len(report.outcomes), len({outcome.check for outcome in report.outcomes})
    return told if results == checks else f"{told} ({results} results of {checks} checks, one for each type)"


def listed_checks(outcomes: Iterable[Outcome]) -> str:
    """The ids of some outcomes' checks, the first of many: ``PRV-01, PRV-02, PRV-03 and 4 more checks``."""
    ids = list(dict.fromkeys(outcome.check for outcome in outcomes))
    if len(ids) <= LISTED:
        return ", ".join(ids)
    return f"{', '.join(ids[:LISTED])} and {len(ids) - LISTED} more checks"


def problem_lines(outcome: Outcome) -> list[str]:
    """One line for each problem: place and message."""
    return [f"{problem.path}: {problem.message}" if problem.path else problem.message for problem in outcome.problems]
