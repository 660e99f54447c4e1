"""The two streams: colour, the status line, readers who go away."""

import io
import json
import os
import subprocess
import sys

import pytest

from extensor.cli.console import Console, printable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_and_a_status_line_are_for_terminals() -> None:
    out, err = Terminal(), Terminal()
    console = Console(out, err, {})
    assert console.paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert console.paint("x", "green", out=True) == "\x1b[32mx\x1b[0m"
    console.status("working")
    console.line("done")
    console.clear()
    assert err.getvalue() == "\r\x1b[2Kworking\r\x1b[2Kdone\nworking\r\x1b[2K"
    assert out.getvalue() == ""


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_refused(environ: dict[str, str]) -> None:
    console = Console(Terminal(), Terminal(), environ)
    assert (console.paint("x", "red"), console.paint("x", "red", out=True)) == ("x", "x")


def test_an_empty_no_color_refuses_nothing() -> None:
    assert Console(Terminal(), Terminal(), {"NO_COLOR": ""}).colour_out


def test_a_pipe_gets_plain_lines_and_no_status() -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, {})
    console.status("working")
    console.line(console.paint("done", "green"))
    console.out(console.paint("result", "green", out=True))
    assert (out.getvalue(), err.getvalue()) == ("result\n", "done\n")


def test_a_status_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    err = Terminal()
    Console(Terminal(), err, {}).status("x" * 50)
    assert err.getvalue() == "\r\x1b[2K" + "x" * 18 + "…"


def test_a_result_is_not_written_behind_the_status_line() -> None:
    both = Terminal()
    console = Console(both, both, {})
    console.status("working")
    console.out("result")
    assert both.getvalue().endswith("\r\x1b[2Kresult\n")


def test_control_characters_of_others_do_not_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\rc\x9b\n\td") == "a\\x1b[2Jb\\x0dc\\x9b\n\td"
    assert printable("safe\u202etxt.exe\u2066\u2028") == "safe\\u202etxt.exe\\u2066\\u2028"


def test_a_document_is_utf8_whatever_the_stream_thinks() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii")
    Console(stream, io.StringIO(), {}).document({"name": "naïve 日本 🚀"})
    assert json.loads(raw.getvalue().decode("utf-8")) == {"name": "naïve 日本 🚀"}


def test_a_lone_surrogate_is_still_one_document() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "utf-8")
    Console(stream, io.StringIO(), {}).document({"name": "\ud800"})
    assert json.loads(raw.getvalue()) == {"name": "\ud800"}


def test_text_that_a_stream_cannot_spell_is_escaped() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii")
    Console(stream, io.StringIO(), {}).out("日")
    assert raw.getvalue() == b"\\u65e5\n"


def test_a_reader_who_has_gone_is_no_error() -> None:
    code = (
        "from extensor.cli.console import process_console\n"
        "console = process_console()\n"
        "for number in range(20_000): console.out('line'); console.line('line')\n"
        "console.document({'a': 1}); console.flush(); raise SystemExit(7)\n"
    )
    reading, writing = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 7
    assert set(err.splitlines()) == {"line"}
