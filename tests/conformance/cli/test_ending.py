"""Exit codes and which of them wins."""

from dataclasses import replace
from itertools import combinations

from extensor_conformance.cli.ending import Policy, ending
from extensor_conformance.cli.exits import MEANINGS, PRECEDENCE, Exit
from extensor_conformance.report.model import Leftover, Level, Report
from extensor_conformance.verdicts import Outcome, Verdict

CAUSES = {
    Exit.KIT: {"kit_faults": ("Traceback",)},
    Exit.NOT_STARTED: {"start_failure": "no"},
    Exit.INTERRUPTED: {"interrupted": True},
    Exit.FAILED: {"outcomes": (Outcome("A", None, Verdict.PASS), Outcome("B", None, Verdict.FAIL))},
    Exit.LEFTOVERS: {"leftovers": (Leftover("t", {}, "no"),)},
    Exit.WAIVERS: {"stale_waivers": ("x",)},
    Exit.UNTESTED: {"levels": (Level(1, "Wire", False, ("A",)),)},
}


def report(**changes: object) -> Report:
    base = Report("1", "1", 1, "2030-01-01T00:00:00Z", 1.0, {}, {}, (), (), {}, (Outcome("A", None, Verdict.PASS),))
    return (
        replace(base, levels=(Level(1, "Wire", True),), **changes)
        if "levels" not in changes
        else replace(base, **changes)
    )


def code(*verdicts: Verdict, policy: Policy | None = None) -> Exit:
    outcomes = tuple(Outcome(f"C{index}", None, verdict) for index, verdict in enumerate(verdicts))
    return ending(report(outcomes=outcomes), policy or Policy())[0]


def test_the_first_cause_in_the_order_of_precedence_wins() -> None:
    for count in range(len(CAUSES) + 1):
        for causes in combinations(CAUSES, count):
            changes = {key: value for cause in causes for key, value in CAUSES[cause].items()}
            found, why = ending(report(**changes), Policy(require_level=1))
            assert found == next((one for one in PRECEDENCE if one in causes), Exit.OK), causes
            assert why


def test_every_code_has_a_meaning_and_a_place_in_the_order() -> None:
    assert set(MEANINGS) == set(PRECEDENCE) == set(Exit)


def test_each_verdict_leads_to_its_code() -> None:
    assert code(Verdict.PASS) is Exit.OK
    assert code(Verdict.PASS, Verdict.FLAKY) is Exit.FAILED
    assert code(Verdict.PASS, Verdict.WARN) is Exit.OK
    assert code(Verdict.PASS, Verdict.WARN, policy=Policy(strict=True)) is Exit.FAILED
    assert code(Verdict.PASS, Verdict.ERROR, Verdict.FAIL) is Exit.KIT
    assert code(Verdict.XFAIL) is Exit.OK
    assert code(Verdict.PASS, Verdict.NOT_TESTED) is Exit.OK


def test_a_run_that_tested_nothing_is_never_green() -> None:
    assert code() is Exit.UNTESTED
    assert code(Verdict.NOT_TESTED, Verdict.NOT_APPLICABLE) is Exit.UNTESTED


def test_a_share_can_be_asked_for() -> None:
    half = (Verdict.PASS, Verdict.NOT_TESTED, Verdict.NOT_APPLICABLE)
    assert code(*half, policy=Policy(min_tested=50)) is Exit.OK
    assert code(*half, policy=Policy(min_tested=51)) is Exit.UNTESTED
