"""Plays checks against the provider of ``mutants/truth.py``, right or wrong in one way."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from extensor_conformance.fixture import Fixture
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Verdict

TRUTH = Path(__file__).parents[2] / "mutants" / "truth.py"
CONFIG = {"endpoint": "http://here", "apiKey": "sesame-open-42"}


@pytest.fixture
def truth(tmp_path: Path) -> Callable[..., list[Outcome]]:
    """``truth("PRV-02", "M23")``: the outcomes of checks on a mutant, on one seed, with probe and fault hook."""

    def run(
        checks: str | Sequence[str],
        mutant: str = "",
        *,
        store: bool = True,
        probe: bool = True,
        fixture: Fixture | None = None,
        **settings: Any,
    ) -> list[Outcome]:
        folder = str(tmp_path / "store")
        words = [sys.executable, str(TRUTH), *(["--store", folder] if store else [])]
        told: dict[str, Any] = {
            "folder": None,
            "shrink": False,
            "allow_kill": True,
            "faults": "hook",
            "timeout": 10.0,
            "retries": 0,
            "seed": 7,
            "probe": (sys.executable, str(TRUTH), "probe", folder) if store and probe else (),
            **settings,
        }
        chosen = (checks,) if isinstance(checks, str) else tuple(checks)
        subject = Subject(tuple(words), None, tmp_path, {"MUTANT": mutant})
        report = Run(Settings(subject, fixture or Fixture(config=CONFIG), checks=chosen, **told)).execute()
        assert not report.kit_faults, report.kit_faults[0]
        return report.outcomes

    return run


@pytest.fixture
def caught() -> Callable[..., bool]:
    """Whether some outcome is red, or a warning, with a problem at that path and step."""

    def look(outcomes: Sequence[Outcome], path: str | None, step: str | None) -> bool:
        return any(
            outcome.verdict in (Verdict.FAIL, Verdict.WARN)
            and any(
                (path is None or (problem.path or "").startswith(path))
                and (step is None or (problem.step or "").startswith(step))
                for problem in outcome.problems
            )
            for outcome in outcomes
        )

    return look


@pytest.fixture
def told() -> Callable[..., str]:
    """The outcomes as text, for messages of failed tests."""

    def text(outcomes: Sequence[Outcome]) -> str:
        return "\n".join(
            f"{outcome.check} {outcome.type} {outcome.verdict} {outcome.reason or ''} "
            + "; ".join(f"{problem.message} at {problem.path} in {problem.step}" for problem in outcome.problems)
            for outcome in outcomes
        )

    return text
