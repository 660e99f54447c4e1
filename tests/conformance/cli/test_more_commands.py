"""`init`, `fuzz`, `selftest`, `baseline check`, and the pytest plugin."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance.cli.conftest import PROVIDER, QUICK

from extensor_conformance.cli.exits import Exit
from extensor_conformance.fixture import load_fixture
from extensor_conformance.pytest_plugin import provider_of, settings_from
from extensor_conformance.selftest import BedMissing, Matrix, Row, SelftestSettings

Command = Callable[..., tuple[int, str, str]]
Words = Callable[..., list[str]]


def test_init_writes_a_file_that_a_run_can_use_at_once(command: Command, provider: Words, here: Path) -> None:
    code, out, err = command("init", *provider())
    assert code == Exit.OK, err
    assert "1 type of plain 1.0.0" in out
    data = tomllib.loads((here / "conformance.toml").read_text())
    assert data["provider"]["command"][1:] == [str(PROVIDER), "none"]
    assert "box@1.0" in data["types"]
    assert load_fixture(here / "conformance.toml").for_type("box@1.0").identity == ()
    assert command("run", *QUICK)[0] == Exit.OK


def test_init_replaces_nothing_unasked(command: Command, provider: Words, here: Path) -> None:
    (here / "conformance.toml").write_text("# mine\n")
    code, _, err = command("init", *provider())
    assert code == Exit.USAGE
    assert "--force" in err
    assert (here / "conformance.toml").read_text() == "# mine\n"
    assert command("init", "--force", *provider())[0] == Exit.OK


def test_fuzz_tells_its_seed_and_what_it_did(command: Command, provider: Words) -> None:
    code, out, err = command("fuzz", "--max-cases", "4", "--seed", "100", "--shrink-budget", "1s", *provider())
    assert code in (Exit.OK, Exit.FAILED), out + err
    assert "seed 100" in out.splitlines()[0]
    assert re.search(r"^\d cases, \d+ calls, \d failures in \d+ s: ", out, re.MULTILINE)
    assert out.rstrip().endswith("fuzz --seed 100")


def test_fuzz_stops_at_a_failure_and_keeps_it_for_replay(command: Command, provider: Words, here: Path) -> None:
    words = ("--max-time", "1h", "--no-shrink", "--retries", "0")
    code, out, err = command("fuzz", *words, *provider("number-as-text"))
    assert code == Exit.FAILED, out + err
    assert "something failed" in out
    assert "fuzz --seed" in out
    case = re.search(r"provider-conformance replay (\w+)", out)
    assert case is not None
    assert list((here / ".conformance" / "cases").glob(f"{case[1]}*.json"))
    assert command("replay", case[1])[0] == Exit.FAILED


def test_fuzz_of_a_provider_that_does_not_start_exits_with_3(command: Command, provider: Words) -> None:
    assert command("fuzz", *provider("die"))[0] == Exit.NOT_STARTED


def test_a_list_of_waivers_is_checked_without_a_run(command: Command, here: Path) -> None:
    (here / "w.toml").write_text('[[waive]]\ncheck = "PRV-01"\nreason = "r"\nuntil = 2020-01-01\n')
    code, out, _ = command("baseline", "check", "w.toml")
    assert code == Exit.WAIVERS
    assert "expired" in out
    (here / "w.toml").write_text('[[waive]]\ncheck = "PRV-99"\nreason = "r"\n')
    code, out, _ = command("baseline", "check", "w.toml")
    assert code == Exit.WAIVERS
    assert "unknown check" in out
    (here / "w.toml").write_text('[[waive]]\ncheck = "PRV-01"\nreason = "r"\nuntil = 2999-01-01\n')
    assert command("baseline", "check", "w.toml")[0] == Exit.OK


def test_selftest_prints_the_matrix_and_fails_for_a_mutant_that_lives(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        Row("M01", "mutant", ("PROTO-03",), ("PROTO-03",), True, "prints a banner", runs=10),
        Row("M02", "mutant", ("PROTO-03",), (), False, "logs to stdout", "it lives", 10),
    )

    def run(settings: SelftestSettings, tell: Callable[[Row], None]) -> Matrix:
        assert settings.only == ("M01", "M02")
        for row in rows:
            tell(row)
        return Matrix(rows)

    monkeypatch.setattr("extensor_conformance.selftest.run_selftest", run)
    code, out, _ = command("selftest", "--only", "M01,M02")
    assert code == Exit.FAILED
    assert "BAD M02" in out
    assert "it lives" in out
    assert "1 of 2 as they must be" in out
    code, out, _ = command("selftest", "--only", "M01,M02", "--json")
    assert json.loads(out)["rows"][0]["seen"] == ["PROTO-03"]


def test_selftest_without_a_bed_is_no_success(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(settings: SelftestSettings, tell: object) -> Matrix:
        raise BedMissing(f"no bed at {settings.bed}")

    monkeypatch.setattr("extensor_conformance.selftest.run_selftest", run)
    assert command("selftest", "--bed", "nowhere")[0] == Exit.USAGE


def pytest_run(here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *words]
    return subprocess.run(line, cwd=here, capture_output=True, text=True, timeout=100, check=False)


def test_pytest_has_items_beside_the_authors_own_and_tells_how_to_see_a_failure_again(here: Path) -> None:
    (here / "test_own.py").write_text("def test_own(): pass\n")
    flags = " ".join([*QUICK, "--retries", "0"])
    words = ("--provider-conformance", f"{sys.executable} {PROVIDER} number-as-text", "-k", "own or SCH or IDM")
    done = pytest_run(here, *words, "--provider-conformance-options", flags.replace("SCH-03,", "SCH-03,PROTO-01,"))
    assert done.returncode == 1, done.stdout
    assert "PASSED test_own.py::test_own" in done.stdout
    assert "PASSED provider-conformance::IDM-01[box@1.0]" in done.stdout
    assert "FAILED provider-conformance::SCH-03" in done.stdout
    assert "$.properties.size" in done.stdout
    assert "provider-conformance replay" in done.stdout
    assert "1 deselected" in done.stdout
    assert re.search(r"seed \d+: ", done.stdout)


def test_pytest_refuses_a_provider_that_does_not_start() -> None:
    with pytest.raises(pytest.UsageError, match="/no/such/provider"):
        settings_from("/no/such/provider", "")
    with pytest.raises(pytest.UsageError, match="--nope"):
        settings_from(f"{sys.executable} {PROVIDER}", "--nope")
    with pytest.raises(pytest.UsageError, match="did not start"):
        provider_of(settings_from(f"{sys.executable} {PROVIDER} die", ""))


def test_the_plugin_costs_nothing_when_it_is_not_asked_for() -> None:
    code = (
        "import sys, extensor_conformance.pytest_plugin;"
        "print([name for name in sys.modules if 'hypothesis' in name or name.startswith('extensor.')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True).stdout
    assert out.strip() == "[]"
