"""Two reports of one provider side by side."""

from dataclasses import dataclass

from extensor.contract import JsonObject
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Outcome, Verdict

SLOWER = 1.5
"""A call whose 95th percentile grew by more than this factor is told of."""
_MEASURABLE_SECONDS = 0.005
"""Differences below this are noise."""
_BAD = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR, Verdict.WARN})


@dataclass(frozen=True, slots=True)
class Change:
    """What is different; every item is a line for people."""

    failing: tuple[str, ...]
    """Fails now, and did not."""
    fixed: tuple[str, ...]
    still: tuple[str, ...]
    untested: tuple[str, ...]
    """Was tested, and is not any more."""
    evidence: tuple[str, ...]
    slower: tuple[str, ...]
    levels: tuple[int, int]

    @property
    def worse(self) -> bool:
        """Whether something got worse: a new failure, or a level lost."""
        return bool(self.failing) or self.levels[1] < self.levels[0]

    def to_json(self) -> JsonObject:
        """As one document."""
        return {
            "worse": self.worse,
            "failing": list(self.failing),
            "fixed": list(self.fixed),
            "stillFailing": list(self.still),
            "noLongerTested": list(self.untested),
            "evidence": list(self.evidence),
            "slower": list(self.slower),
            "levels": {"old": self.levels[0], "new": self.levels[1]},
        }


def compare(old: Report, new: Report) -> Change:
    """What changed from one report to the other; checks on types that only one of them has count as not tested."""
    before, after = _by_key(old), _by_key(new)
    failing: list[str] = []
    fixed: list[str] = []
    still: list[str] = []
    untested: list[str] = []
    evidence: list[str] = []
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        was, now = one.verdict if one else None, other.verdict if other else None
        if now in _BAD:
            (still if was in _BAD else failing).append(f"{_name(key)}: {was or 'absent'} -> {now}")
        elif was in _BAD and now is Verdict.PASS:
            fixed.append(f"{_name(key)}: {was} -> {now}")
        elif now in (None, Verdict.NOT_TESTED) and was not in (None, Verdict.NOT_TESTED, Verdict.NOT_APPLICABLE):
            untested.append(f"{_name(key)}: {was} -> {now or 'absent'}")
        if one and other and now is Verdict.PASS and one.verdict is now and one.evidence is not other.evidence:
            evidence.append(f"{_name(key)}: {one.evidence} -> {other.evidence}")
    return Change(
        tuple(failing),
        tuple(fixed),
        tuple(still),
        tuple(untested),
        tuple(evidence),
        tuple(_slower(old, new)),
        (old.level, new.level),
    )


def _slower(old: Report, new: Report) -> list[str]:
    found: list[str] = []
    for method, times in new.latency.items():
        known = old.latency.get(method)
        if known is None:
            continue
        was, now = known["p95"], times["p95"]
        if now > was * SLOWER and now - was > _MEASURABLE_SECONDS:
            found.append(f"{method}: p95 {was * 1000:.1f} ms -> {now * 1000:.1f} ms")
    return found


def _by_key(report: Report) -> dict[tuple[str, str | None], Outcome]:
    return {(outcome.check, outcome.type): outcome for outcome in report.outcomes}


def _name(key: tuple[str, str | None]) -> str:
    check, type_ = key
    return f"{check} {type_}" if type_ else check
