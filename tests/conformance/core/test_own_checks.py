"""The checks of the core: ids, pace and the handshake, on a sound provider and on ones that are not."""

from collections.abc import Callable

import pytest

from extensor_conformance.checks.pace import WithinAMinute
from extensor_conformance.report.model import Report
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Verdict

Go = Callable[..., Report]
Find = Callable[..., Outcome]


@pytest.mark.parametrize("address", [None, "unix:"])
def test_a_sound_provider_passes(run: Go, plain: Callable[..., Subject], address: str | None) -> None:
    report = run(plain(address=address), "PROTO-05", "PRF-02")
    assert [(item.check, item.verdict) for item in report.outcomes] == [
        ("PROTO-05", Verdict.PASS),
        ("PRF-02", Verdict.PASS),
    ]


@pytest.mark.parametrize("fault", ["answer-twice", "text-ids", "answer-notifications"])
def test_careless_ids_fail_once_under_their_id(run: Go, outcome: Find, fault: str) -> None:
    found = outcome(run(fault, "PROTO-05"), "PROTO-05")
    assert found.verdict is Verdict.FAIL
    assert found.problems[0].path == "$.id"


def test_a_call_that_takes_too_long_is_told_with_its_step(
    run: Go, outcome: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensor_conformance.checks.pace.PATIENCE_SECONDS", 0.4)
    found = outcome(run("hang-save", "PRF-02"), "PRF-02")
    assert found.verdict is Verdict.FAIL
    assert found.problems[0].step == "save"
    assert WithinAMinute.needs.operations == frozenset()
