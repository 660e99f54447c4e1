"""`init`, `fuzz`, `selftest`, `baseline check`, and the pytest plugin."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance.cli.conftest import PROVIDER, QUICK

from extensor.cli import main as extensor_main
from extensor_conformance.bench import Bench
from extensor_conformance.case import Case
from extensor_conformance.check import Check
from extensor_conformance.cli.exits import Exit
from extensor_conformance.fixture import load_fixture
from extensor_conformance.judging import Attempt, attempt
from extensor_conformance.kind import Kind
from extensor_conformance.pytest_plugin import provider_of, settings_from
from extensor_conformance.selftest import BedMissing, Matrix, Progress, Row, SelftestSettings, Turn

Command = Callable[..., tuple[int, str, str]]
Words = Callable[..., list[str]]
TWO_TYPES = PROVIDER.parent.parent / "mutants" / "plain.py"


def test_init_writes_a_file_that_a_run_can_use_at_once(command: Command, provider: Words, here: Path) -> None:
    code, out, err = command("init", *provider())
    assert code == Exit.OK, err
    assert "1 type of plain 1.0.0" in out
    data = tomllib.loads((here / "conformance.toml").read_text())
    assert data["provider"]["command"][1:] == [str(PROVIDER), "none"]
    assert "box@1.0" in data["types"]
    assert load_fixture(here / "conformance.toml").for_type("box@1.0").identity == ()
    assert command("run", *QUICK)[0] == Exit.OK


def test_init_and_a_run_in_a_new_project_need_no_further_hand(command: Command, here: Path) -> None:
    assert extensor_main(["new", "demo-provider"]) == 0
    os.chdir("demo-provider")
    code, out, err = command("init", "--cwd", "src", "--", sys.executable, "-m", "demo_provider")
    assert code == Exit.OK, out + err
    assert "1 type of demo 0.1.0" in out
    fixture = load_fixture(Path("conformance.toml"))
    assert fixture.cwd == here / "demo-provider" / "src"
    code, out, err = command("run", "-j", "1", "--seed", "1", "--checks", "SCH-05,IDM-01,CON-05")
    assert code == Exit.OK, out + err
    assert not list(here.rglob("*.txt"))


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


def test_fuzz_stays_with_the_types_that_are_asked_for(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str | None] = []

    def noted(bench: Bench, check: Check, case: Case, kind: Kind | None) -> Attempt:
        played.append(case.type)
        return attempt(bench, check, case, kind)

    monkeypatch.setattr("extensor_conformance.fuzz.attempt", noted)
    two = ["--", sys.executable, str(TWO_TYPES), "--store", str(here / "store")]
    code, out, err = command("fuzz", "--max-cases", "3", "--type", "shelf", *two)
    assert code == Exit.OK, out + err
    assert played == ["shelf@1.0"] * 3
    code, _, err = command("fuzz", "--max-cases", "1", "--type", "no-such*", *two)
    assert (code, "none of its types is among no-such*" in err) == (Exit.USAGE, True)


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
        Row("M01", "mutant", ("PROTO-03",), "prints a banner", (Turn(1, ("PROTO-03",), runs=10),)),
        Row("M02", "mutant", ("PROTO-03",), "logs to stdout", (Turn(1, trouble="it lives", runs=10),)),
    )

    def run(settings: SelftestSettings, tell: Callable[[Row], None], progress: Callable[[Progress], None]) -> Matrix:
        assert settings.only == ("M01", "M02")
        progress(Progress(0, 2, 0, ("M01",), 0.0))
        for row in rows:
            tell(row)
        return Matrix(rows)

    monkeypatch.setattr("extensor_conformance.selftest.run_selftest", run)
    code, out, _ = command("selftest", "--only", "M01,M02")
    assert code == Exit.FAILED
    assert "BAD M02" in out
    assert "it lives" in out
    assert "1 of 2 as they must be" in out
    code, out, _ = command("selftest", "--only", "M01,M02", "--output", "json")
    assert json.loads(out)["rows"][0]["seen"] == ["PROTO-03"]
    code, out, _ = command("selftest", "--only", "M01,M02", "--output", "markdown")
    assert "| ok | `M01` | prints a banner | PROTO-03 | **PROTO-03** | 1/1 |" in out
    assert "| BAD | `M02` | logs to stdout | PROTO-03 | green | 0/1 |" in out


def test_selftest_writes_its_matrix_into_files_and_between_the_marks_of_a_page(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Row("M01", "mutant", ("PROTO-03",), "prints a banner", (Turn(3, ("PROTO-03",)), Turn(4, ("PROTO-03",))))
    matrix = Matrix((row,), seed=3, seeds=2)

    def run(settings: SelftestSettings, tell: object, progress: object) -> Matrix:
        return matrix

    monkeypatch.setattr("extensor_conformance.selftest.run_selftest", run)
    (here / "page.md").write_text("# Mine\n\n<!-- matrix -->\nold\n<!-- end of matrix -->\n\nThe end.\n")
    files = ("--matrix", "build/m.json", "--matrix", "build/m.md", "--matrix", "page.md")
    assert command("selftest", *files)[0] == Exit.OK
    document = json.loads((here / "build/m.json").read_text())
    assert (document["seed"], document["seeds"], document["rows"][0]["seeds"]) == (3, 2, [3, 4])
    assert "on seeds 3 to 4" in (here / "build/m.md").read_text()
    page = (here / "page.md").read_text()
    assert page.startswith("# Mine\n\n<!-- matrix -->\n`provider-conformance selftest --seeds 2 --seed 3`: 1 of 1")
    assert page.endswith("<!-- end of matrix -->\n\nThe end.\n")
    assert "old" not in page
    code, _, err = command("selftest", "--matrix", "m.txt")
    assert (code, "ends in .json or .md" in err) == (Exit.USAGE, True)


def test_selftest_tells_on_stderr_how_far_it_is(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(settings: SelftestSettings, tell: Callable[[Row], None], progress: Callable[[Progress], None]) -> Matrix:
        progress(Progress(168, 168, 1, ("M01",), 61.0))
        return Matrix(())

    monkeypatch.setattr("extensor_conformance.selftest.run_selftest", run)
    _, out, err = command("selftest")
    assert "playing the bed on seeds 1 to 10, 2 programs at once" in err
    assert "168/168 | 1 BAD | M01 | 61 s" in err
    assert "168/168" not in out


def test_selftest_without_a_bed_is_no_success(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(settings: SelftestSettings, tell: object, progress: object) -> Matrix:
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


def test_with_xdist_one_worker_plays_the_run_with_the_seed_that_is_told(here: Path) -> None:
    (here / "test_own.py").write_text("def test_own(): pass\ndef test_other(): pass\n")
    words = ("--provider-conformance", f"{sys.executable} {PROVIDER}", "-n", "2", "--dist", "loadscope")
    flags = " ".join([*QUICK, "--seed", "77"])
    done = pytest_run(here, "-v", *words, "--provider-conformance-options", flags)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("seed 77: ") == 1
    workers = re.findall(r"^\[(gw\d)\].* PASSED provider-conformance::", done.stdout, re.MULTILINE)
    assert len(workers) == 2
    assert len(set(workers)) == 1


def test_xdist_is_refused_where_each_worker_would_play_the_run(here: Path) -> None:
    (here / "test_own.py").write_text("def test_own(): pass\n")
    done = pytest_run(here, "--provider-conformance", f"{sys.executable} {PROVIDER}", "-n", "2")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--dist load would repeat in each worker; use --dist loadscope or loadfile, or -n 0" in done.stderr


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
