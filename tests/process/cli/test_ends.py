"""Ends that nobody planned: Ctrl-C, readers who go away, and what a terminal shows."""

import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
from typing import Any

import pytest


@pytest.fixture
def gated(stage: Any) -> Any:
    """A gate, and a note that comes after it."""
    stage.template(
        {
            "gate": stage.resource("gate", name="gate"),
            "after": stage.resource("note", "gate", name="after"),
        }
    )
    stage.gate("gate")
    return stage


def test_ctrl_c_lets_running_calls_end_and_the_next_run_goes_on(gated: Any) -> None:
    with gated.running("deploy", "main.json", "--output", "json") as child:
        gate = gated.enter("gate")
        child.send_signal(signal.SIGINT)
        assert child.stderr.readline().startswith("Stopping:")
        shown = gated.json("show", "main.json")
        assert (shown["status"], shown["holderPid"]) == ("Running", child.pid)
        os.close(gate)
        out, err = child.communicate(timeout=30)
    assert child.returncode == 130
    document = json.loads(out)
    assert document["status"] == "Canceled"
    assert {r["symbolicName"]: r["status"] for r in document["resources"]} == {"gate": "Saved", "after": "Canceled"}
    assert '* gate (gate@1.0, name: "gate") saved' in err

    shown = gated.json("show", "main.json")
    assert shown["status"] == "Canceled"
    assert [(r["symbolicName"], r["status"]) for r in shown["resources"]] == [("gate", "Saved")]


def test_a_second_ctrl_c_ends_the_command_at_once_and_the_record_tells_of_it(gated: Any) -> None:
    with gated.running("deploy", "main.json") as child:
        gate = gated.enter("gate")
        child.send_signal(signal.SIGINT)
        assert child.stderr.readline().startswith("Stopping:")
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=10) == 130
    reader = select.poll()
    reader.register(gate, select.POLLERR)
    assert reader.poll(10_000) == [(gate, select.POLLERR)], "the provider still runs"
    os.close(gate)
    shown = gated.json("show", "main.json")
    assert shown["status"] == "Interrupted"
    assert [(r["symbolicName"], r["status"]) for r in shown["resources"]] == [("gate", "Saving")]


def test_ctrl_c_in_a_preview_ends_it(stage: Any) -> None:
    stage.template({"gate": stage.resource("slow-preview", name="gate")})
    stage.gate("gate")
    with stage.running("what-if", "main.json", "--output", "json") as child:
        gate = stage.enter("gate")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        os.close(gate)
    assert child.returncode == 130
    assert json.loads(out) == {"status": "Canceled", "errors": [{"code": "Canceled", "message": "interrupted"}]}
    assert "Traceback" not in err


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_who_goes_away_stops_no_deployment(stage: Any, stream: str) -> None:
    stage.template({f"n{i}": stage.resource("note", name=f"n{i}") for i in range(20)})
    reading, writing = os.pipe()
    os.close(reading)
    done = stage.process(
        "deploy", "main.json", **{"capture_output": False, stream: writing, _other(stream): subprocess.PIPE}
    )
    os.close(writing)
    assert done.returncode == 0
    told = done.stdout if stream == "stderr" else done.stderr
    assert "Traceback" not in told
    assert "BrokenPipe" not in told
    assert len(list(stage.folder.glob("*.note.json"))) == 20


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_command_that_was_started_without_streams_does_its_work(stage: Any, closed: str) -> None:
    stage.template({"one": stage.resource("note", name="one")})
    words = stage.command("deploy", "main.json", *stage._given(("deploy",)))
    done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *words], cwd=stage.folder, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (stage.folder / "one.note.json").is_file()


def test_no_value_comes_from_a_closed_stdin(stage: Any) -> None:
    stage.template({}, parameters={"x": {"type": "string"}})
    words = stage.command("validate", "main.json", "-p", "x=@-")
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *words], cwd=stage.folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "stdin is closed" in done.stderr


def test_help_into_a_closed_pipe_is_no_error(stage: Any) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(stage.command("--help"), stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def on_a_terminal(stage: Any, *words: str, **env: str) -> tuple[int, str]:
    """Run the command with a terminal on stdout and stderr."""
    ours, theirs = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    command = stage.command(*words, *stage._given(words))
    with subprocess.Popen(
        command, cwd=stage.folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**environ, "TERM": "xterm", **env}
    ) as child:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux tells that the other side has closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return child.returncode, shown.decode()


def test_a_terminal_gets_colour_and_a_status_line(stage: Any) -> None:
    stage.template({"one": stage.resource("note", name="one"), "two": stage.resource("note", "one", name="two")})
    code, shown = on_a_terminal(stage, "what-if", "main.json")
    assert code == 0
    assert "\x1b[32m+ one\x1b[0m  note@1.0" in shown

    code, shown = on_a_terminal(stage, "deploy", "main.json")
    assert code == 0
    assert re.search(r"\r\x1b\[2Kdeploy main: 1/2 \| saving two", shown)
    assert '\x1b[32m*\x1b[0m two (note@1.0, name: "two") saved' in shown
    assert "\x1b[2KDeployed: 2 saved" in shown


def test_no_color_leaves_the_status_line_and_no_colour(stage: Any) -> None:
    stage.template({"one": stage.resource("note", name="one")})
    code, shown = on_a_terminal(stage, "deploy", "main.json", NO_COLOR="1")
    assert code == 0
    assert "\r\x1b[2Kdeploy main: " in shown
    assert re.search(r"\x1b\[[0-9;]*m", shown) is None


def test_a_state_of_a_newer_version_is_left_alone(stage: Any) -> None:
    stage.template({"one": stage.resource("note", name="one")})
    stage.json("deploy", "main.json")
    with sqlite3.connect(stage.folder / ".extensor/state.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    for words in (("show",), ("deploy", "main.json"), ("what-if", "main.json"), ("destroy",)):
        (error,) = stage.json(*words, code=1)["errors"]
        assert error["code"] == "StateError"
        assert "written by a newer extensor" in error["message"]


def test_a_stack_that_is_in_use_is_said_to_be_so(gated: Any) -> None:
    with gated.running("deploy", "main.json") as child:
        gate = gated.enter("gate")
        (error,) = gated.json("deploy", "main.json", code=1)["errors"]
        assert f"process {child.pid}" in error["message"]
        os.close(gate)
        child.communicate(timeout=30)
    assert child.returncode == 0


def test_output_is_utf8_whatever_the_locale(stage: Any) -> None:
    stage.template({"one": stage.resource("note", name="one", text="naïve 日本 🚀")})
    done = stage.process(
        "what-if", "main.json", "--output", "json", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert json.loads(done.stdout)["changes"][0]["delta"][1]["after"] == "naïve 日本 🚀"
    done = stage.process("what-if", "main.json", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert 'text: "na\\xefve' in done.stdout


def test_a_bug_of_our_own_is_one_line_unless_the_trace_is_asked_for(stage: Any) -> None:
    code = (
        "import sys; import extensor.cli.stacks as stacks\n"
        "def broken(args): raise ZeroDivisionError('hunter2')\n"
        "stacks.recorded_stack = broken\n"
        "from extensor.cli import main; sys.exit(main(['show', '--output', 'json']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=stage.folder)
    assert done.returncode == 70
    assert json.loads(done.stdout)["errors"][0]["code"] == "InternalError"
    assert "hunter2" not in done.stdout + done.stderr
    traced = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=stage.folder,
        env={**os.environ, "EXTENSOR_TRACE": "1"},
    )
    assert "ZeroDivisionError: hunter2" in traced.stderr


def _other(stream: str) -> str:
    return {"stdout": "stderr", "stderr": "stdout"}[stream]
