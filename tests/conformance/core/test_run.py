"""Whole runs: the right verdict under the right id, within the budget, and a clean table afterwards."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.events import CheckEnded, Event, event_to_json
from extensor_conformance.fixture import Waiver
from extensor_conformance.ledger import read_ledger
from extensor_conformance.report.model import Report
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Problem, Verdict

Go = Callable[..., Report]
Find = Callable[..., Outcome]
WATCHED = ("PROTO-03", "SCH-03", "ERR-01", "SEC-01", "SEC-03")


@pytest.mark.parametrize("workers", [1, 4])
def test_a_sound_provider_passes_and_nothing_is_left(run: Go, workers: int) -> None:
    report = run("none", "PROTO-01", *WATCHED, workers=workers)
    assert {item.verdict for item in report.outcomes} == {Verdict.PASS}
    assert report.created == report.removed > 0
    assert (report.leftovers, report.ledger, report.kit_faults) == ((), None, ())


@pytest.mark.parametrize(
    ("fault", "check", "path"),
    [
        ("banner", "PROTO-03", None),
        ("start-banner", "PROTO-03", None),
        ("number-as-text", "SCH-03", "$.properties.size"),
        ("echo-secret", "SEC-01", "$.properties.password"),
        ("secret-in-error", "SEC-03", "$.error.message"),
        ("bad-code", "ERR-01", "$.error.data.errors[0].code"),
    ],
)
def test_what_a_monitor_sees_fails_under_its_own_id(run: Go, fault: str, check: str, path: str) -> None:
    (found,) = (item for item in run(fault, *WATCHED).outcomes if item.check == check and item.verdict is Verdict.FAIL)
    assert found.tries == (3, 3)
    assert found.problems[0].path == path
    assert found.case is not None
    assert found.transcript


def test_a_secret_in_the_log_is_found(run: Go) -> None:
    found = [item for item in run("secret-in-log", "SEC-04").outcomes if item.verdict is Verdict.FAIL]
    assert [item.check for item in found] == ["SEC-04"]


@pytest.mark.parametrize("fault", ["answer-twice", "text-ids", "answer-notifications"])
def test_answers_that_belong_to_nothing_are_found(run: Go, fault: str) -> None:
    found = [item for item in run(fault, "PROTO-05").outcomes if item.verdict is Verdict.FAIL]
    assert [(item.check, item.problems[0].path) for item in found] == [("PROTO-05", "$.id")]


@pytest.mark.parametrize(
    ("fault", "words"),
    [("hang-greeting", "not answered within"), ("die", "exit code 3"), ("never-read", "not answered within")],
)
def test_a_provider_that_does_not_greet_fails_the_handshake_and_leaves_the_rest_untested(
    run: Go, outcome: Find, fault: str, words: str
) -> None:
    report = run(fault, "PROTO-01", "SCH-03", start_timeout=0.5)
    assert report.start_failure is not None
    assert words in report.start_failure
    assert outcome(report, "PROTO-01").verdict is Verdict.FAIL
    assert outcome(report, "SCH-03").verdict is Verdict.NOT_TESTED
    assert report.seconds < 10


def test_garbage_on_stdout_is_told_as_such_even_without_a_greeting(run: Go, outcome: Find) -> None:
    report = run("garbage", "PROTO-01", "PROTO-03", start_timeout=0.5)
    assert outcome(report, "PROTO-03").verdict is Verdict.FAIL


def test_a_provider_that_is_not_there_is_told(run: Go, tmp_path: Path) -> None:
    report = run(Subject((str(tmp_path / "nothing"),)), "PROTO-01")
    assert report.start_failure is not None
    assert "could not be started" in report.start_failure


@pytest.mark.parametrize("fault", ["hang-save", "die-save"])
def test_a_save_without_an_answer_ends_within_the_bounds(run: Go, fault: str) -> None:
    report = run(fault, "SCH-03", timeout=0.3)
    assert report.kit_faults == ()
    assert report.seconds < 30


def test_the_budget_ends_the_run(run: Go) -> None:
    report = run("none", "SCH-03", "PROTO-01", budget=0.0)
    assert {item.verdict for item in report.outcomes} <= {Verdict.NOT_TESTED, Verdict.PASS}
    assert any("budget" in (item.reason or "") for item in report.outcomes)


def test_what_cannot_be_removed_is_named_and_stays_in_the_ledger(run: Go) -> None:
    report = run("no-delete", "SCH-03")
    assert report.leftovers
    assert report.ledger is not None
    _, left = read_ledger(Path(report.ledger))
    assert {item.identifiers["name"] for item in report.leftovers} == {made.identifiers["name"] for made in left}
    assert "PermissionDenied" in report.leftovers[0].reason


def test_a_removal_that_fails_once_is_tried_again(run: Go) -> None:
    assert run("flaky-delete", "SCH-03").leftovers == ()


def test_an_interrupted_run_still_reports(tmp_path: Path, plain: Callable[..., Subject]) -> None:
    settings = Settings(plain("slow-save"), folder=tmp_path, checks=("PROTO-01", "SEC-03"), timeout=2, seed=1)
    run = Run(settings)
    asked = threading.Event()

    def on_event(event: Event) -> None:
        if event.EVENT == "planned":
            run.stop("the run was interrupted")
            asked.set()

    report = run.execute(on_event)
    assert asked.is_set()
    assert report.interrupted
    assert {item.verdict for item in report.outcomes} == {Verdict.NOT_TESTED}
    assert report.leftovers == ()


def test_every_event_is_a_line_of_json(tmp_path: Path, plain: Callable[..., Subject]) -> None:
    import json

    seen: list[Event] = []
    Run(Settings(plain("bad-code"), folder=tmp_path, checks=("ERR-01",), max_examples=1)).execute(seen.append)
    lines = [json.loads(json.dumps(event_to_json(event))) for event in seen]
    assert [line["event"] for line in lines] == ["run-started", "provider-ready", "planned", "check-ended", "run-ended"]
    ended = next(event for event in seen if isinstance(event, CheckEnded))
    assert ended.outcome.verdict is Verdict.FAIL


def test_a_failing_case_is_written_down(run: Go, tmp_path: Path, outcome: Find) -> None:
    report = run("bad-code", "ERR-01")
    case = outcome(report, "ERR-01").case
    assert case is not None
    (path,) = (tmp_path / ".conformance/cases").glob("*.json")
    assert path.name.startswith(case.id)


def test_a_waived_failure_is_expected_and_one_that_no_longer_comes_is_stale(run: Go, outcome: Find) -> None:
    waiver = Waiver("ERR-01", "the backend's codes", path="$.error.data")
    assert outcome(run("bad-code", "ERR-01", waivers=(waiver,)), "ERR-01").verdict is Verdict.XFAIL
    stale = run("none", "ERR-01", waivers=(waiver,))
    assert outcome(stale, "ERR-01").verdict is Verdict.XPASS
    assert stale.stale_waivers == ("ERR-01: the backend's codes",)


def test_an_expired_waiver_waives_nothing(run: Go, outcome: Find) -> None:
    report = run("bad-code", "ERR-01", waivers=(Waiver("ERR-01", "once", until=date(2020, 1, 1)),))
    assert outcome(report, "ERR-01").verdict is Verdict.FAIL
    assert report.expired_waivers == ("ERR-01: once",)


def test_a_check_that_does_not_exist_is_refused_before_anything_starts(plain: Callable[..., Subject]) -> None:
    with pytest.raises(ValueError, match="matches no check"):
        Run(Settings(plain(), checks=("PROTO-99",)))


def test_a_type_that_does_not_exist_fails_the_start(run: Go) -> None:
    assert "none of its types" in str(run("none", "SCH-03", types=("nothing",)).start_failure)


def test_times_of_every_method_are_in_the_report(run: Go) -> None:
    times = run("none", "SCH-03").latency["resource/save"]
    assert times["count"] > 0
    assert 0 < times["p50"] <= times["p95"] <= times["max"]


INTERRUPTED = """
import sys
from pathlib import Path
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject

settings = Settings(Subject((sys.executable, sys.argv[1], "slow-save")), folder=Path(sys.argv[2]), max_examples=500)
report = Run(settings).execute(lambda event: (sys.stdout.write(event.EVENT + "\\n"), sys.stdout.flush()))
sys.stdout.write(f"{report.interrupted} {report.seed == settings.seed} {len(report.leftovers)} {report.ledger}\\n")
"""


def test_ctrl_c_ends_the_run_early_with_a_report_and_a_clean_table(tmp_path: Path) -> None:
    provider = Path(__file__).with_name("plain_provider.py")
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(provider), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as kit:
        assert kit.stdout is not None
        for line in kit.stdout:
            if line == "check-started\n":
                break
        os.kill(kit.pid, signal.SIGINT)
        rest = kit.stdout.read().splitlines()
    assert rest[-1] == "True True 0 None"
    assert kit.returncode == 0


def test_a_check_that_measures_time_runs_when_nobody_else_does(tmp_path: Path, plain: Callable[..., Subject]) -> None:
    running: set[str] = set()
    crowd: list[int] = []

    class Slow(Procedure):
        def execute(self, bench: Bench) -> list[Problem]:
            running.add(self.id)
            crowd.append(len(running)) if self.needs.alone else None
            bench.fresh().ping()
            running.discard(self.id)
            return []

    run = Run(Settings(plain(), folder=tmp_path, checks=("PROTO-0*",), workers=4))
    made = {id_: check(id_, alone=id_ == "PROTO-02")(type("Made", (Slow,), {}))() for id_ in run.requirements}
    run._checks = made
    report = run.execute()
    assert {item.verdict for item in report.outcomes} == {Verdict.PASS}
    assert crowd == [1]


def test_the_same_seed_fails_in_the_same_case_whatever_the_workers_and_filters(run: Go) -> None:
    reports = (
        run("bad-code", "ERR-01", folder=None),
        run("bad-code", "ERR-01", "SCH-03", "PROTO-03", workers=3, folder=None),
    )
    (one, other) = ([item.case for item in report.outcomes if item.verdict is Verdict.FAIL] for report in reports)
    assert [(case.id, case.seed, case.index) for case in one if case] == [
        (case.id, case.seed, case.index) for case in other if case
    ]
    assert len(one) == 1
