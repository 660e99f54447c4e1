"""The probes of the example providers see the world that their provider sees."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extensor_conformance.cli.exits import Exit

Command = Callable[..., tuple[int, str, str]]
PROJECT = Path(__file__).parents[3]
FEW = ("-j", "1", "--deterministic", "--max-examples", "1", "--checks", "IDM-09,IDM-10", "--strict")


def probe(example: str) -> str:
    return f"{sys.executable} {PROJECT / 'examples' / example / 'probe.py'}"


def test_the_kit_looks_behind_the_quickstart(command: Command) -> None:
    folder = PROJECT / "examples" / "quickstart"
    line = ("--cwd", folder, "--probe", probe("quickstart"), "--", sys.executable, "-m", "quickstart")
    code, out, err = command("run", *FEW, *line)
    assert code == Exit.OK, out + err
    assert "NOT-TESTED" not in out
    assert not list(folder.glob("*.txt"))


def test_the_kit_looks_behind_the_files_provider(command: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_ROOT", str(here / "root"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    config = PROJECT / "examples" / "files" / "conformance.toml"
    code, out, err = command("run", *FEW, "--probe", probe("files"), "--config", config)
    assert code == Exit.OK, out + err
    assert "NOT-TESTED" not in out


def ask(verb: str, type_: str, root: Path, **more: Any) -> Any:
    question = {"type": type_, "identifiers": {}, "config": {"root": str(root)}, **more}
    done = subprocess.run(
        [*probe("files").split(), verb], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_probe_of_the_files_provider_tells_files_from_directories(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("hi")
    named = {"identifiers": {"path": "a/b"}}
    assert ask("list", "file@1.0", tmp_path) == {"objects": [{"path": "a/b"}]}
    assert ask("list", "directory@1.0", tmp_path) == {"objects": [{"path": "a"}]}
    assert ask("exists", "file@1.0", tmp_path, **named) == {"exists": True}
    assert ask("exists", "directory@1.0", tmp_path, **named) == {"exists": False}
    assert ask("mutate", "file@1.0", tmp_path, **named, change={"content": "ho", "mode": "0600"}) == {}
    assert (tmp_path / "a" / "b").read_text() == "ho"
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o600
    assert ask("remove", "file@1.0", tmp_path, **named) == {}
    assert ask("remove", "directory@1.0", tmp_path, identifiers={"path": "a"}) == {}
    assert list(tmp_path.iterdir()) == []
