"""What the monitors found over all cases and workers, and the verdicts that follow."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from extensor_conformance.verdicts import Outcome, Problem, Verdict

MAX_PROBLEMS = 20
"""Of one check on one type."""


class PassiveBook:
    """Failures by check and type; each is confirmed once, by the worker that saw it first."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted
        self._lock = threading.Lock()
        self._outcomes: dict[tuple[str, str | None], Outcome | None] = {}
        self._problems: dict[tuple[str, str | None], dict[tuple[str | None, str], Problem]] = {}

    def begin(self, check: str, type_: str | None, problems: Sequence[Problem]) -> bool:
        """Whether the caller has to confirm the failure, because it is the first; the problems are noted."""
        if check not in self._wanted:
            return False
        key = (check, type_)
        with self._lock:
            first = key not in self._outcomes
            if first:
                self._outcomes[key] = None
            noted = self._problems.setdefault(key, {})
            for problem in problems:
                if len(noted) < MAX_PROBLEMS:
                    noted.setdefault(problem.key, problem)
            return first

    def put(self, check: str, type_: str | None, outcome: Outcome) -> None:
        """The confirmed failure."""
        with self._lock:
            self._outcomes[check, type_] = outcome

    def failures(self, check: str) -> list[Outcome]:
        """The failures under a check id, one for each type."""
        made: list[Outcome] = []
        for (id_, type_), outcome in self._outcomes.items():
            if id_ == check and outcome is not None:
                known = {problem.key for problem in outcome.problems}
                more = tuple(problem for key, problem in self._problems[id_, type_].items() if key not in known)
                made.append(replace(outcome, check=id_, type=type_, problems=outcome.problems + more))
        return made


def passive_outcomes(check: str, failures: Sequence[Outcome], relevant: frozenset[str | None]) -> list[Outcome]:
    """The outcomes of a check that monitors judge alone; `relevant` are the types of which they saw something."""
    failed = {outcome.type for outcome in failures}
    quiet = sorted((type_ for type_ in relevant if type_ not in failed), key=str)
    made = [*failures, *(Outcome(check, type_, Verdict.PASS) for type_ in quiet)]
    return made or [Outcome(check, None, Verdict.NOT_TESTED, reason="nothing was seen that it looks at")]


def merged(active: Sequence[Outcome], failures: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of a check that drives and is watched by monitors too: what either found counts."""
    found = {outcome.type: outcome for outcome in failures}
    made = [
        found.pop(outcome.type) if outcome.type in found and not outcome.verdict.red else outcome for outcome in active
    ]
    return [*made, *(outcome for type_, outcome in found.items() if type_ not in {item.type for item in made})]
