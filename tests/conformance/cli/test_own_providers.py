"""The kit on the providers of this project: the files that users copy work as they stand."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from extensor_conformance.cli.exits import Exit

Command = Callable[..., tuple[int, str, str]]
PROJECT = Path(__file__).parents[3]
FEW = ("-j", "1", "--deterministic", "--max-examples", "2", "--checks", "SCH-05,IDM-01,DEL-01")


def test_the_quickstart_needs_no_file(command: Command) -> None:
    folder = PROJECT / "examples" / "quickstart"
    code, out, err = command("run", *FEW, "--cwd", folder, "--", sys.executable, "-m", "quickstart")
    assert code == Exit.OK, out + err
    assert "Seed       1" in out


def test_the_files_provider_is_green_with_its_file(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILES_ROOT", str(here / "root"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    config = PROJECT / "examples" / "files" / "conformance.toml"
    code, out, err = command("run", *FEW, "--strict", "--config", config)
    assert code == Exit.OK, out + err
    assert "WARN" not in out
    assert not list((here / "root").rglob("*.*"))


def test_a_directory_is_whole_or_absent_when_the_provider_is_killed(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FILES_ROOT", str(here / "root"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    config = PROJECT / "examples" / "files" / "conformance.toml"
    line = ("--deterministic", "--allow-kill", "--checks", "LIF-06", "--type", "directory", "--config", config)
    code, out, err = command("run", *line)
    assert code == Exit.OK, out + err
