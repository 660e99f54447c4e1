"""The command without a provider: usage, help, list, explain, convert, diff."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from extensor_conformance.catalogue import load
from extensor_conformance.cli.command_line import COMMANDS
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import duration, listed

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(command: Command, name: str) -> None:
    code, out, err = command(name, "--help")
    assert code == Exit.OK
    assert f"provider-conformance {name}" in out
    assert "exit codes:" in out
    assert err == ""


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nope",),
        ("run", "--nope"),
        ("run",),
        ("run", "--level", "5", "--", "x"),
        ("run", "--seed", "-1", "--", "x"),
        ("run", "--timeout", "soon", "--", "x"),
        ("run", "--report", "pdf", "--", "x"),
        ("run", "--report", "json", "--report", "html", "--", "x"),
        ("run", "--seed", "1", "--deterministic", "--", "x"),
        ("run", "--socket"),
        ("run", "--config", "absent.toml", "--", "x"),
        ("run", "--old-types", ".", "--", "x"),
        ("run", "--baseline", "absent.json", "--", "x"),
        ("run", "--rate-limit", "0", "--", "x"),
        ("run", "--app", "m:o", "--", "x"),
        ("list", "--", "x"),
        ("list", "--checks", "NOPE-*"),
        ("list", "--requirements", "99"),
        ("explain",),
        ("explain", "PRV-99"),
        ("replay", "absent"),
        ("report", "convert"),
        ("diff", "a.json", "b.json"),
        ("baseline", "write"),
        ("baseline", "check", "absent.toml"),
        ("cleanup", "--run", "absent"),
    ],
)
def test_a_wrong_command_line_exits_with_2_and_says_why(command: Command, words: tuple[str, ...]) -> None:
    code, out, err = command(*words)
    assert code == Exit.USAGE
    assert out == ""
    assert len(err.strip()) > 10
    assert "Traceback" not in err


def test_an_unknown_flag_points_to_the_help_of_its_command(command: Command) -> None:
    assert "provider-conformance run --help" in command("run", "--nope")[2]


def test_a_provider_that_cannot_be_found_exits_with_3(command: Command) -> None:
    code, _, err = command("run", "--", "/no/such/provider")
    assert code == Exit.NOT_STARTED
    assert "/no/such/provider" in err


def test_a_real_address_in_the_configuration_needs_a_word(command: Command, here: Path) -> None:
    (here / "conformance.toml").write_text('[config]\nendpoint = "https://api.contoso.com/v1"\n')
    code, _, err = command("run", "--", "/no/such/provider")
    assert code == Exit.USAGE
    assert "api.contoso.com" in err
    assert "--yes-this-is-not-production" in err
    assert command("run", "--yes-this-is-not-production", "--", "/no/such/provider")[0] == Exit.NOT_STARTED
    assert command("run", "--read-only", "--", "/no/such/provider")[0] == Exit.NOT_STARTED


@pytest.mark.parametrize("url", ["http://localhost:9999", "http://127.0.0.1/x", "http://[::1]:8", "http://fake.test"])
def test_an_address_of_this_machine_needs_none(command: Command, here: Path, url: str) -> None:
    (here / "conformance.toml").write_text(f'[config]\nendpoint = "{url}"\n')
    assert command("run", "--", "/no/such/provider")[0] == Exit.NOT_STARTED


def test_list_names_every_check_once(command: Command) -> None:
    code, out, _ = command("list", "--json")
    assert code == Exit.OK
    document = json.loads(out)
    assert [item["id"] for item in document["checks"]] == list(load())
    text = command("list")[1]
    assert all(re.search(rf"^{id_} ", text, re.MULTILINE) for id_ in load())


def test_list_takes_patterns_and_levels(command: Command) -> None:
    document = json.loads(
        command("list", "--json", "--checks", "prv-0*,IDM-*", "--exclude-checks", "PRV-01", "--level", "3")[1]
    )
    ids = {item["id"] for item in document["checks"]}
    assert "PRV-02" in ids
    assert "IDM-01" in ids
    assert "PRV-01" not in ids
    assert all(item["level"] <= 3 for item in document["checks"])


def test_explain_tells_why_how_and_which_rule(command: Command) -> None:
    code, out, _ = command("explain", "prv-08", "SEC-01")
    assert code == Exit.OK
    for word in ("Refinement law", "Why", "Fix", "P-UNKNOWN", "Mutants", "SEC-01"):
        assert word in out
    document = json.loads(command("explain", "PRV-08", "--json")[1])
    assert document[0]["id"] == "PRV-08"


def test_explain_proposes_what_was_meant(command: Command) -> None:
    assert "PRV-08" in command("explain", "PRV08")[2]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("500ms", 0.5), ("2m", 120), ("2min", 120), ("1.5h", 5400), ("7d", 604800)]
)
def test_times_are_written_as_people_do(text: str, seconds: float) -> None:
    assert duration(text) == seconds


def test_repeatable_options_take_lists_too() -> None:
    assert listed(["A, B", "C", ","]) == ("A", "B", "C")


def test_a_fault_of_the_kit_exits_with_4_and_offers_a_traceback(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(revision: str = "1") -> None:
        raise RuntimeError(f"broken {revision}")

    monkeypatch.setattr("extensor_conformance.catalogue.load", broken)
    code, _, err = command("list")
    assert code == Exit.KIT
    assert "RuntimeError" in err
    assert "Traceback" not in err
    monkeypatch.setenv("EXTENSOR_TRACE", "1")
    assert "Traceback" in command("list")[2]
