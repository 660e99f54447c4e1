"""`run` on a provider without the SDK: verdicts, codes, reports, interrupts, and the way back by `replay`."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.conformance.cli.conftest import PROVIDER, QUICK

from extensor_conformance.canary import Needles
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.text import MOST_LEFT
from extensor_conformance.ledger import Ledger, ledgers

BED = Path(__file__).parent.parent / "mutants"
Command = Callable[..., tuple[int, str, str]]
Words = Callable[..., list[str]]


def test_a_good_provider_is_green_and_leaves_nothing(command: Command, provider: Words, here: Path) -> None:
    code, out, err = command("run", *QUICK, "--seed", "42", *provider())
    assert code == Exit.OK, out + err
    assert "Seed       42" in out
    assert "Provider   plain 1.0.0" in out
    assert re.search(r"^Left behind +none \(\d+ created, \d+ removed\)$", out, re.MULTILINE)
    assert out.rstrip().endswith("exit 0")
    assert "\x1b" not in out + err
    assert (here / ".conformance" / ".gitignore").read_text() == "*\n"
    assert list(ledgers(here / ".conformance")) == []


def test_a_failure_exits_with_1_and_its_replay_command_fails_the_same_way(
    command: Command, provider: Words, here: Path
) -> None:
    code, out, err = command("run", *QUICK, *provider("number-as-text"))
    assert code == Exit.FAILED, err
    assert re.search(r"^FAIL   SCH-03   Results conform   box@1.0   case \w+$", out, re.MULTILINE)
    assert "$.properties.size" in out
    assert "Why" in out
    assert "Fix" in out
    case = re.search(r"provider-conformance replay (\w+)", out)
    assert case is not None
    code, again, err = command("replay", case[1])
    assert code == Exit.FAILED, again + err
    assert "STILL FAILS   SCH-03" in again
    code, fixed, err = command("replay", case[1], "--keep", *provider())
    assert code == Exit.OK, fixed + err
    assert "FIXED   SCH-03" in fixed
    assert list((here / ".conformance" / "cases").glob(f"{case[1]}*"))
    assert command("replay", case[1], *provider())[0] == Exit.OK
    assert not list((here / ".conformance" / "cases").glob("*"))


def test_a_case_that_cannot_be_played_is_not_green(command: Command, provider: Words, here: Path) -> None:
    code, out, _ = command("replay")
    assert code == Exit.UNTESTED
    assert "nothing to replay" in out
    command("run", *QUICK, *provider("number-as-text"))
    path = next((here / ".conformance" / "cases").glob("*.json"))
    data = json.loads(path.read_text())
    data["case"]["type"] = "other@1.0"
    path.write_text(json.dumps(data))
    code, out, _ = command("replay")
    assert code == Exit.UNTESTED
    assert "CANNOT REPLAY" in out


def test_reports_go_where_they_are_asked_to(command: Command, provider: Words, here: Path) -> None:
    code, out, err = command("run", *QUICK, "--report", "junit=x/report.xml", "--report", "json", *provider())
    assert code == Exit.OK, err
    document = json.loads(out)
    assert document["counts"]["PASS"] >= 2
    assert "exit 0" in err
    root = ElementTree.parse(here / "x" / "report.xml").getroot()
    assert len(list(root.iter("testcase"))) == len(document["outcomes"])
    assert document["subject"]["title"].endswith("plain_provider.py none")


def test_a_folder_alone_gets_one_report_of_each_format(command: Command, provider: Words, here: Path) -> None:
    code, _, err = command("run", *QUICK, "--report-dir", "all", *provider())
    assert code == Exit.OK, err
    names = {path.name for path in (here / "all").iterdir()}
    assert names >= {
        "report.json",
        "events.ndjson",
        "junit.xml",
        "report.html",
        "report.sarif",
        "report.md",
        "badge.json",
    }
    events = [json.loads(line) for line in (here / "all" / "events.ndjson").read_text().splitlines()]
    assert events[0]["event"] == "run-started"
    assert events[-1]["event"] == "run-ended"
    assert command("report", "convert", "--report", "html=again.html")[0] == Exit.OK
    assert (here / "again.html").read_text() == (here / "all" / "report.html").read_text()


def test_a_report_that_cannot_be_written_is_told_and_not_green(command: Command, provider: Words, here: Path) -> None:
    (here / "file").write_text("")
    code, out, err = command("run", *QUICK, "--report", "html=file/report.html", *provider())
    assert code == Exit.USAGE
    assert "file/report.html" in err
    assert "Result" in out


def test_a_provider_that_dies_at_the_start_exits_with_3_and_still_tells_the_seed(command: Command) -> None:
    code, out, _ = command("run", *QUICK, "--seed", "7", "--", sys.executable, "-c", "raise SystemExit('no key')")
    assert code == Exit.NOT_STARTED
    assert re.search(r"^Seed +7$", out, re.MULTILINE)
    assert "no key" in out


def test_secrets_by_reference_are_in_nothing_that_is_written(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sup3r/secret+value"
    monkeypatch.setenv("MY_KEY", secret)
    (here / "conformance.toml").write_text('[config]\nkey = { env = "MY_KEY" }\n')
    told = """    key = (params.get("import") or {}).get("config", {}).get("key", "")
    if method == "resource/get" and properties.get("name") in boxes:
        answer = shown(boxes[properties["name"]])
        answer["properties"]["size"] = key + key.encode().hex()
        return answer
    sys.stderr.write(key)
    if method == "resource/delete" and properties.get("name") not in boxes:
        raise Refused("Conflict", key)
    if method == "resource/previewSave":
"""
    source = PROVIDER.read_text()
    assert '    if method == "resource/previewSave":\n' in source
    leaky = here / "leaky.py"
    leaky.write_text(source.replace('    if method == "resource/previewSave":\n', told, 1))
    words = ("run", "-j", "1", "--max-examples", "2", "--retries", "0", "--checks", "IDM-02,SCH-03,DEL-02,SEC-01")
    code, out, err = command(*words, "--report-dir", "all", "--transcript", "all", "-v", "--", sys.executable, leaky)
    assert code == Exit.FAILED
    assert "***" in out
    assert "Config     key" in out
    needles = Needles([secret])
    written = [path for path in here.rglob("*") if path.is_file()]
    assert len(written) > 15
    assert needles.found_in((out + err).encode()) is None
    assert [path.name for path in written if needles.found_in(path.read_bytes())] == []


def test_a_listed_failure_is_waived_and_a_stale_waiver_exits_with_6(command: Command, provider: Words) -> None:
    assert command("run", *QUICK, *provider("number-as-text"))[0] == Exit.FAILED
    code, out, err = command("baseline", "write", "--reason", "fixed soon", "--days", "30")
    assert code == Exit.OK, err
    assert "1 new" in out
    assert command("baseline", "check")[0] == Exit.OK
    waivers = ("--expected-failures", "conformance-waivers.toml")
    code, out, _ = command("run", *QUICK, *waivers, *provider("number-as-text"))
    assert code == Exit.OK, out
    assert "XFAIL  SCH-03  fixed soon" in out
    code, out, _ = command("run", *QUICK, *waivers, *provider())
    assert code == Exit.WAIVERS
    assert "Stale waiver" in out
    assert command("baseline", "check")[0] == Exit.WAIVERS


def test_an_interrupt_still_gives_seed_report_and_a_clean_table(
    start: Callable[..., subprocess.Popen[str]], here: Path
) -> None:
    words = [
        "run",
        "-j",
        "1",
        "--seed",
        "11",
        "--max-examples",
        "1000",
        "--checks",
        "IDM-01,SCH-03",
        "--report",
        "ndjson",
    ]
    process = start(*words, "--", sys.executable, str(PROVIDER), "slow-save")
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "check-started":
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == Exit.INTERRUPTED, err
    assert json.loads(out.splitlines()[-1])["event"] == "run-ended"
    assert "--seed 11" in err
    assert json.loads((here / ".conformance" / "report.json").read_text())["interrupted"] is True
    assert list(ledgers(here / ".conformance")) == []


def test_a_kit_that_is_killed_leaves_a_ledger_that_cleanup_works_off(
    start: Callable[..., subprocess.Popen[str]], command: Command, here: Path
) -> None:
    words = ["run", "-j", "1", "--max-examples", "1000", "--checks", "IDM-01", "--report", "ndjson"]
    process = start(*words, "--", sys.executable, str(PROVIDER), "slow-save")
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "check-started":
            break
    ledger = next(iter(ledgers(here / ".conformance")))
    with ledger.open() as lines:
        while '"save"' not in lines.readline():
            assert process.poll() is None
    assert "nothing is left" in command("cleanup")[1]  # the run still goes on
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)
    code, out, _ = command("cleanup")
    assert code == Exit.OK
    assert "may still be there; nothing was touched" in out
    assert ledger.exists()
    code, out, err = command("cleanup", "--yes")
    assert code == Exit.OK, out + err
    assert re.search(r"^[1-9]\d* removed, 0 left$", out, re.MULTILINE)
    assert not ledger.exists()


def test_what_resists_removal_exits_with_5_and_stays_in_the_ledger(
    command: Command, provider: Words, here: Path
) -> None:
    code, out, err = command("run", *QUICK, *provider("no-delete"))
    assert code == Exit.LEFTOVERS, out + err
    assert "LEFT  box@1.0" in out
    ledger = next(iter(ledgers(here / ".conformance")))
    assert "cleanup" in command("run", *QUICK, *provider())[2]
    code, out, _ = command("cleanup", "--yes", "--older-than", "1d")
    assert (code, out) == (Exit.OK, "nothing is left behind\n")
    code, out, _ = command("cleanup", "--yes", *provider())
    assert code == Exit.OK, out
    assert not ledger.exists()


def test_a_replay_command_names_the_folder_that_the_case_is_kept_in(
    command: Command, provider: Words, here: Path
) -> None:
    _, out, _ = command("run", *QUICK, "--folder", "kept", *provider("number-as-text"))
    line = re.search(r"provider-conformance (replay --folder kept \w+)$", out, re.MULTILINE)
    assert line is not None, out
    assert command(*line[1].split())[0] == Exit.FAILED


def test_what_a_delete_leaves_is_listed_and_exits_with_5(command: Command, provider: Words, here: Path) -> None:
    code, out, err = command("run", *QUICK[:-1], "SCH-03", *provider("idle-delete"))
    assert code == Exit.LEFTOVERS, out + err
    found = re.search(r"^Left behind +(\d+), see .* \((\d+) created, (\d+) removed\)$", out, re.MULTILINE)
    assert found is not None, out
    left, made, removed = (int(number) for number in found.groups())
    assert left > 0
    assert made == removed + left
    assert err.count("could not be removed") == left
    assert out.count("LEFT  box@1.0") == min(left, MOST_LEFT)
    assert (f"and {left - MOST_LEFT} more" in out) == (left > MOST_LEFT)
    assert "get still finds it" in out
    assert f"{left} may still be there" in command("cleanup")[1]


def test_what_get_answers_with_no_properties_is_gone_and_not_left_behind(command: Command, here: Path) -> None:
    mutant = (sys.executable, str(BED / "plain.py"), "--mutant", "null-when-absent")
    code, out, err = command("run", *QUICK[:-1], "ERR-05", "--", *mutant)
    assert code == Exit.FAILED, out + err
    assert "Left behind  none" in out


def test_a_cleanup_looks_before_it_says_that_something_is_gone(command: Command, provider: Words, here: Path) -> None:
    ledger = Ledger(here / ".conformance" / "ledger-1.jsonl")
    ledger.saved(ledger.before_save("box@1.0", {"name": "a"}), None)
    ledger.close()
    code, out, err = command("cleanup", "--yes", *provider("everlasting"))
    assert code == Exit.LEFTOVERS, out + err
    assert "get still finds it" in out
    assert "0 removed, 1 left" in out
    assert list(ledgers(here / ".conformance"))


def test_a_cleanup_without_get_says_that_nobody_has_looked(command: Command, provider: Words, here: Path) -> None:
    ledger = Ledger(here / ".conformance" / "ledger-1.jsonl")
    ledger.saved(ledger.before_save("box@1.0", {"name": "a"}), None)
    ledger.close()
    code, out, err = command("cleanup", "--yes", *provider("idle-delete-no-get"))
    assert code == Exit.OK, out + err
    assert "(deleted, not verified: its type has no get)" in out
    assert "1 removed (1 of them deleted, not verified), 0 left" in out


def test_a_run_without_the_configuration_that_is_required_ends_before_any_check(
    command: Command, provider: Words, here: Path
) -> None:
    code, out, err = command("run", *QUICK, *provider("needs-config"))
    assert code == Exit.USAGE, out + err
    assert "plain needs a configuration that is not given: file. Give it in [config]" in err
    assert "provider-conformance init" in err
    assert "SCH-03" not in out + err
    (here / "conformance.toml").write_text("[config.place]\n")
    code, _, err = command("fuzz", "--max-cases", "1", *provider("needs-config"))
    assert code == Exit.USAGE
    assert "not given: place.port, file. Give it in [config] of conformance.toml" in err
    (here / "conformance.toml").write_text("[config]\nfile = 'a'\nplace = { port = 1 }\n")
    assert command("run", *QUICK, *provider("needs-config"))[0] == Exit.OK


@pytest.mark.parametrize("words", [("run", *QUICK), ("fuzz", "--max-cases", "1"), ("replay",), ("selftest",)])
def test_without_hypothesis_one_line_says_what_to_install(
    command: Command, provider: Words, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    code, out, err = command(*words, *(provider() if words[0] != "selftest" else ()))
    assert (code, out) == (Exit.USAGE, "")
    assert err.splitlines() == [
        "error: the kit makes its inputs with hypothesis, which is not installed: pip install 'extensor[conformance]'"
    ]


def test_a_socket_that_the_kit_chooses_is_put_into_the_command(command: Command, provider: Words) -> None:
    code, out, err = command("run", *QUICK, "--socket", *provider(), "{address}")
    assert code == Exit.OK, out + err
    assert "Wire unix" in out


def test_a_running_provider_is_reached_by_its_address(command: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp:127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, str(PROVIDER), "none", address], stdout=subprocess.PIPE) as running:
        try:
            _await_port(port)
            code, out, err = command("run", *QUICK, "--tcp", f"127.0.0.1:{port}")
        finally:
            running.terminate()
    assert code == Exit.OK, out + err
    assert "Wire tcp" in out


def test_quiet_is_quiet_and_verbose_tells_each_check(command: Command, provider: Words) -> None:
    code, out, err = command("run", *QUICK, "-q", *provider())
    assert code == Exit.OK
    assert out.startswith("\nLeft behind")
    assert err == ""
    assert re.search(r"^PASS +IDM-01 box@1.0  \d+ cases", command("run", *QUICK, "-v", *provider())[2], re.MULTILINE)


def test_the_same_seed_makes_the_same_cases(command: Command, provider: Words, here: Path) -> None:
    for checks in ("SCH-03,IDM-01", "SCH-03"):
        words = [*QUICK[:-1], checks, "--seed", "5", "--folder", checks]
        assert command("run", *words, *provider("number-as-text"))[0] == Exit.FAILED
    one, other = ([path.name for path in (here / checks / "cases").iterdir()] for checks in ("SCH-03,IDM-01", "SCH-03"))
    assert one == other != []


def test_the_messages_of_all_cases_can_be_kept_or_none(command: Command, provider: Words, here: Path) -> None:
    wire = here / ".conformance" / "wire"
    assert command("run", *QUICK, "--transcript", "all", *provider())[0] == Exit.OK
    files = list((wire / "all").glob("idm-01-*.jsonl"))
    assert len(files) >= 2
    assert any('"resource/save' in path.read_text().replace("\\", "") for path in files)
    assert command("run", *QUICK, "--transcript", "off", "--report", "json=r.json", *provider("number-as-text"))[0] == 1
    assert all("transcript" not in outcome for outcome in json.loads((here / "r.json").read_text())["outcomes"])
    assert list(wire.glob("*.jsonl")) == []


def test_diff_tells_a_new_failure(command: Command, provider: Words, here: Path) -> None:
    assert command("run", *QUICK, "--report", "json=old.json", *provider())[0] == Exit.OK
    assert command("run", *QUICK, "--report", "json=new.json", *provider("number-as-text"))[0] == Exit.FAILED
    code, out, _ = command("diff", "old.json", "new.json")
    assert code == Exit.FAILED
    assert "SCH-03 box@1.0: PASS -> FAIL" in out
    code, out, _ = command("diff", "new.json", "old.json", "--json")
    assert code == Exit.OK
    assert json.loads(out)["fixed"] == ["SCH-03 box@1.0: FAIL -> PASS"]


def _await_port(port: int) -> None:
    for _ in range(1000):
        with socket.socket() as probe:
            probe.settimeout(0.1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        threading.Event().wait(0.01)
    pytest.fail(f"nothing listens at {port}")
