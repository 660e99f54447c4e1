"""Plays single checks against the plain provider, right or wrong in one way."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from extensor_conformance.fixture import Fixture, TypeFixture
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Verdict

PLAIN = Path(__file__).parents[1] / "mutants" / "plain.py"
SLOW = {"box": TypeFixture(slow={"label": "slow"})}

Play = Callable[..., list[Outcome]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every check against every planted bug takes minutes, so these are among the slow tests."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """``play("PROTO-02", "any-version")``: the outcomes of one check on a mutant of the plain provider, on one seed."""

    def run(
        check: str | Sequence[str],
        mutant: str = "",
        *,
        store: bool = True,
        wire: str = "stdio",
        seed: int = 7,
        fixture: Fixture | None = None,
        command: Sequence[str] | None = None,
        **settings: Any,
    ) -> list[Outcome]:
        words = [sys.executable, str(PLAIN), *(["--store", str(tmp_path / "store")] if store else [])]
        subject = Subject(
            tuple(command or (*words, *(["--listen", "{address}"] if wire != "stdio" else []))),
            None if wire == "stdio" else f"{wire}:",
            tmp_path,
            {"MUTANT": mutant},
        )
        told = {"folder": None, "shrink": False, "allow_kill": True, "faults": "hook", "timeout": 5.0, **settings}
        checks = (check,) if isinstance(check, str) else tuple(check)
        report = Run(Settings(subject, fixture or Fixture(types=SLOW), seed, checks, **told)).execute()
        assert not report.kit_faults, report.kit_faults[0]
        return [outcome for outcome in report.outcomes if outcome.check in checks or not checks]

    return run


def told(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as text, for messages of failed tests."""
    return "\n".join(
        f"{outcome.check} {outcome.type} {outcome.verdict} {outcome.reason or ''} "
        + "; ".join(f"{problem.message} at {problem.path} in {problem.step}" for problem in outcome.problems)
        for outcome in outcomes
    )


def caught(outcomes: Sequence[Outcome], path: str | None = None, step: str | None = None) -> bool:
    """Whether some outcome is a failure with a problem at that path and step (a prefix of each; ``None`` is any)."""
    return any(
        outcome.verdict in (Verdict.FAIL, Verdict.WARN)
        and any(
            (path is None or (problem.path or "").startswith(path))
            and (step is None or (problem.step or "").startswith(step))
            for problem in outcome.problems
        )
        for outcome in outcomes
    )


def clean(outcomes: Sequence[Outcome]) -> bool:
    """Whether nothing failed and something was really tested."""
    verdicts = {outcome.verdict for outcome in outcomes}
    return Verdict.PASS in verdicts and verdicts <= {Verdict.PASS, Verdict.NOT_APPLICABLE}
