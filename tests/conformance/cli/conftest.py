"""A provider without the SDK, and the command in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from extensor_conformance.cli import main

PROVIDER = Path(__file__).parent.parent / "core" / "plain_provider.py"
QUICK = ("-j", "1", "--max-examples", "2", "--no-shrink", "--timeout", "5s", "--checks", "SCH-03,IDM-01")


@pytest.fixture
def provider() -> Callable[..., list[str]]:
    """The words after ``--`` that start the plain provider with a fault."""
    return lambda fault="none": ["--", sys.executable, str(PROVIDER), fault]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the working one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(here: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command line in this process: exit code, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(word) for word in words])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def start(here: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command line in a process of its own, ended with the test."""
    made: list[subprocess.Popen[str]] = []

    def go(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "extensor_conformance.cli", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=here,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        made.append(process)
        return process

    yield go
    for process in made:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)
