"""Events of a run as lines and as a status line."""

import io

import pytest

from extensor.cli.console import Console
from extensor.cli.progress import Progress
from extensor.contract import Fault, Verb
from extensor.engine import events

WEB = events.ResourceRef("web", "note@1.0", {"name": "web"})
DB = events.ResourceRef("db", "note@1.0")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(*more: events.Event, steps: bool = True, verbose: bool = False) -> list[str]:
    err = io.StringIO()
    progress = Progress(Console(io.StringIO(), err, {}), steps=steps, verbose=verbose)
    for event in more:
        progress(event)
    return err.getvalue().splitlines()


def test_a_deployment_in_a_pipe_is_a_line_for_each_resource() -> None:
    assert told(
        events.RunStarted("deploy", "main", "d", 2),
        events.OperationStarted(WEB, Verb.SAVE),
        events.OperationRetried(WEB, Verb.SAVE, 1, 0.5, "Throttled: too many"),
        events.OperationSucceeded(WEB, Verb.SAVE, 0.25),
        events.OperationStarted(DB, Verb.SAVE),
        events.OperationFailed(DB, Verb.SAVE, 2.0, (Fault("Conflict", "taken", "$.properties.name"),), unclear=True),
        events.ResourceSkipped(events.ResourceRef("app", "note@1.0"), "db failed"),
        events.ResourceForgotten(WEB, "renamed"),
        events.RunFinished("deploy", "main", "d", "Failed", 2.3),
    ) == [
        '! web (note@1.0, name: "web"): try 1 failed, the next follows in 0.5 s: Throttled: too many',
        '* web (note@1.0, name: "web") saved (0.2 s)',
        "! db (note@1.0) failed (2.0 s): Conflict; it is unclear whether it took effect",
        ". app (note@1.0) skipped: db failed",
        '. web (note@1.0, name: "web") left the record: renamed',
    ]


def test_a_destruction_is_a_line_for_each_resource() -> None:
    assert told(
        events.OperationSucceeded(WEB, Verb.DELETE, 0.0),
        events.OperationSucceeded(DB, Verb.DELETE, 0.0, was_absent=True),
    ) == ['- web (note@1.0, name: "web") deleted (0.0 s)', "- db (note@1.0) deleted (0.0 s)"]


def test_a_preview_tells_no_steps() -> None:
    assert told(events.OperationSucceeded(WEB, Verb.PREVIEW_SAVE, 0.1), steps=False) == []


def test_tries_that_fail_alike_share_a_line_and_say_how_long_it_goes_on() -> None:
    err = io.StringIO()
    now = [0.0]
    progress = Progress(Console(io.StringIO(), err, {}), steps=True, clock=lambda: now[0])
    progress(events.OperationStarted(WEB, Verb.SAVE))
    for attempt in range(1, 26):
        reason = "Throttled: slow" if attempt == 4 else f"Unavailable: down, it is {now[0]:.0f}"
        progress(events.OperationRetried(WEB, Verb.SAVE, attempt, 1.0, reason, 60.0 - now[0]))
        now[0] += 1.0
    lines = [line.partition("): ")[2] for line in err.getvalue().splitlines()]
    assert lines == [
        "try 1 failed, the next follows in 1.0 s, for 60 s more at most: Unavailable: down, it is 0",
        "try 4 failed, the next follows in 1.0 s, for 57 s more at most: Throttled: slow",
        "try 5 failed, the next follows in 1.0 s, for 56 s more at most: Unavailable: down, it is 4",
        "try 15 failed, the next follows in 1.0 s, for 46 s more at most: Unavailable: down, it is 14",
        "try 25 failed, the next follows in 1.0 s, for 36 s more at most: Unavailable: down, it is 24",
    ]


def test_logs_are_told_when_they_matter_or_when_asked_for() -> None:
    logs = (events.ProviderLogged("n", "info", "hello"), events.ProviderLogged("n", "Warning", "odd\x1b[2J"))
    assert told(*logs) == ["[n] Warning: odd\\x1b[2J"]
    assert told(*logs, events.ProviderStarted("n", "notes", "1.0", 0.1), verbose=True) == [
        "[n] info: hello",
        "[n] Warning: odd\\x1b[2J",
        "provider notes 1.0 answers after 0.10 s",
    ]


def test_a_provider_that_does_not_start_is_named() -> None:
    assert told(events.ProviderFailed("n", "notes", "exit code 3")) == ["! provider notes did not start"]


def test_the_status_line_counts_and_names_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    err = Terminal()
    now = [10.0]
    progress = Progress(Console(io.StringIO(), err, {"NO_COLOR": "1"}), steps=True, clock=lambda: now[0])

    def line() -> str:
        return err.getvalue().rpartition("\x1b[2K")[2].rpartition("\n")[2]

    progress(events.RunStarted("deploy", "main", "d", 3))
    assert line() == "deploy main: 0/3"
    progress(events.OperationStarted(WEB, Verb.SAVE))
    progress(events.OperationStarted(DB, Verb.SAVE))
    now[0] = 14.4
    progress(events.OperationProgressed(WEB, "pulling\nimage", 40))
    assert line() == "deploy main: 0/3 | saving web: pulling image 40 % and 1 more, 4 s"
    progress(events.OperationSucceeded(WEB, Verb.SAVE, 4.4))
    assert line() == "deploy main: 1/3 | saving db, 4 s"
    progress(events.RunFinished("deploy", "main", "d", "Succeeded", 5))
    assert err.getvalue().endswith("\r\x1b[2K")
