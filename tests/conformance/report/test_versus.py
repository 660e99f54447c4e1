"""What changed between two reports."""

from dataclasses import replace

from extensor_conformance.report.model import Level, Report
from extensor_conformance.report.versus import compare
from extensor_conformance.verdicts import Evidence, Outcome, Verdict


def with_outcomes(report: Report, *outcomes: Outcome) -> Report:
    return replace(report, outcomes=outcomes, levels=())


def test_a_report_is_no_worse_than_itself(report: Report) -> None:
    change = compare(report, report)
    assert not change.worse
    assert change.failing == change.fixed == change.untested == change.evidence == change.slower == ()
    assert len(change.still) == 4


def test_new_failures_fixes_and_what_is_not_tested_any_more_are_told_apart(report: Report) -> None:
    old = with_outcomes(
        report,
        Outcome("PRV-01", "a@1", Verdict.PASS),
        Outcome("PRV-02", "a@1", Verdict.FAIL),
        Outcome("PRV-03", "a@1", Verdict.PASS),
        Outcome("PRV-04", "a@1", Verdict.PASS),
    )
    new = with_outcomes(
        report,
        Outcome("PRV-01", "a@1", Verdict.FAIL),
        Outcome("PRV-02", "a@1", Verdict.PASS),
        Outcome("PRV-03", "a@1", Verdict.NOT_TESTED),
        Outcome("PRV-05", "b@1", Verdict.WARN),
    )
    change = compare(old, new)
    assert change.failing == ("PRV-01 a@1: PASS -> FAIL", "PRV-05 b@1: absent -> WARN")
    assert change.fixed == ("PRV-02 a@1: FAIL -> PASS",)
    assert change.untested == ("PRV-03 a@1: PASS -> NOT-TESTED", "PRV-04 a@1: PASS -> absent")
    assert change.worse


def test_other_evidence_for_the_same_pass_is_told(report: Report) -> None:
    old = with_outcomes(report, Outcome("DEL-01", None, Verdict.PASS, evidence=Evidence.PROBED))
    new = with_outcomes(report, Outcome("DEL-01", None, Verdict.PASS))
    assert compare(old, new).evidence == ("DEL-01: probed -> self-reported",)
    assert not compare(old, new).worse


def test_slower_calls_are_told_beyond_noise(report: Report) -> None:
    def paced(seconds: float) -> Report:
        return replace(report, latency={"resource/save": {"count": 1, "p50": 0, "p95": seconds, "max": 0}})

    assert compare(paced(0.1), paced(0.2)).slower == ("resource/save: p95 100.0 ms -> 200.0 ms",)
    assert compare(paced(0.1), paced(0.14)).slower == ()
    assert compare(paced(0.0001), paced(0.001)).slower == ()


def test_a_lost_level_is_worse_even_without_a_failure(report: Report) -> None:
    old = replace(report, outcomes=(), levels=(Level(1, "Wire", True),))
    assert compare(old, replace(old, levels=(Level(1, "Wire", False),))).worse
