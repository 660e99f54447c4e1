"""The checks of the groups secrets and performance: each catches its mutants, and passes the reference."""

import json
from pathlib import Path

import pytest
from tests.conformance.checks.conftest import Play, caught, clean, told

from extensor_conformance.verdicts import Verdict

MUTANTS = [
    ("SEC-01", "secret-in-base64", "$.properties.code", None),
    ("SEC-02", "config-echo", "$.configId", "save"),
    ("SEC-02", "config-id-of-secret", "$.configId", "other secret"),
    ("SEC-03", "secret-in-error", "$.error", None),
    ("SEC-04", "secret-in-log", None, None),
    ("SEC-05", "digest-shown", "$.properties.code", "first"),
    ("SEC-06", "secret-in-argv", "$.properties", "save"),
    ("SEC-06", "secret-file", "$.properties", "files"),
    ("SEC-06", "open-password", "$.properties.password", "types"),
    ("PRF-01", "slow-start", "$", "handshake"),
    ("PRF-04", "leaks-descriptors", "$", "descriptors"),
    ("PRF-04", "leaks-threads", "$", "threads"),
    ("PRF-04", "leaks-memory", "$", "memory"),
]


@pytest.mark.parametrize(("check", "mutant", "path", "step"), MUTANTS)
def test_the_named_check_catches_the_mutant_at_its_place(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    outcomes = play(check, mutant, retries=0, types=("box",))
    assert caught(outcomes, path, step), told(outcomes)


def test_the_reference_passes(play: Play) -> None:
    checks = sorted({row[0] for row in MUTANTS})
    outcomes = play(checks)
    assert clean(outcomes), told(outcomes)
    assert {outcome.check for outcome in outcomes if outcome.verdict is Verdict.PASS} == set(checks)


def test_a_provider_that_got_slower_than_its_baseline_is_told(play: Play, tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    place.write_text(json.dumps({"latency": {"resource/get": {"count": 60, "p50": 0.002, "p95": 0.008, "max": 0.1}}}))
    outcomes = play("PRF-03", "slow-gets", baseline=place, retries=0)
    assert caught(outcomes, "$", "get"), told(outcomes)


def test_a_provider_that_is_as_fast_as_its_baseline_passes(play: Play, tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    place.write_text(json.dumps({"latency": {"resource/get": {"count": 60, "p50": 1.0, "p95": 2.0, "max": 2.0}}}))
    assert clean(play("PRF-03", baseline=place))


def test_without_a_baseline_nothing_is_compared_and_that_is_told(play: Play) -> None:
    outcome = play("PRF-03")[0]
    assert outcome.verdict is Verdict.NOT_TESTED
    assert "--baseline" in str(outcome.reason)
