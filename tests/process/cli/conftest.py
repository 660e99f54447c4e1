"""A folder with a template and the real command to run there."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from extensor.cli import main

PROGRAM = Path(__file__).parent / "programs/notes.py"
PROVIDER = f"notes={sys.executable} {PROGRAM}"


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class Stage:
    """Where a test plays."""

    folder: Path

    def resource(self, kind: str, /, *after: str, **properties: object) -> dict[str, Any]:
        """A resource of the tests' provider that depends on others."""
        return {"import": "notes", "type": f"{kind}@1.0", "properties": properties, "dependsOn": list(after)}

    def template(self, resources: dict[str, Any], name: str = "main.json", **sections: Any) -> Path:
        """Writes a template and tells where."""
        imports = {"notes": {"provider": "notes", "version": "1.0.0"}}
        document = {"languageVersion": "2.0", "imports": imports, "resources": resources} | sections
        path = self.folder / name
        path.write_text(json.dumps(document), "utf-8")
        return path

    def command(self, *words: str) -> list[str]:
        """The words that start the command."""
        return [sys.executable, "-m", "extensor", *words]

    def run(self, *words: str) -> Done:
        """Runs the command inside this process, with the tests' provider in a process of its own."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            code = main([*words, *self._given(words)])
        return Done(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))

    def process(
        self, *words: str, env: dict[str, str] | None = None, **more: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Runs the command in a process of its own to its end."""
        return subprocess.run(
            self.command(*words, *self._given(words)),
            cwd=self.folder,
            encoding="utf-8",
            timeout=60,
            env={**os.environ, **(env or {})},
            **({"capture_output": True} | more),
        )

    def _given(self, words: tuple[str, ...]) -> list[str]:
        return ["--provider", PROVIDER] if words[0] in ("validate", "what-if", "deploy", "destroy") else []

    @contextmanager
    def running(self, *words: str) -> "Iterator[subprocess.Popen[str]]":
        """The command while it runs; killed in the end if it still does."""
        with subprocess.Popen(
            self.command(*words, "--provider", PROVIDER),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as child:
            try:
                yield child
            finally:
                child.kill()

    def gate(self, name: str) -> None:
        """Makes the FIFO of a gate."""
        os.mkfifo(self.folder / f"{name}.fifo")

    def enter(self, name: str) -> int:
        """Waits until a gate's save has begun; closing what is returned lets it end."""
        return os.open(self.folder / f"{name}.fifo", os.O_WRONLY)

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        """Runs the command with ``--output json`` and reads the one document on stdout."""
        done = self.run(*words, "--output", "json")
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A fresh folder to play in."""
    return Stage(tmp_path)
