"""Real provider processes and a blocking client that never waits without a bound."""

import json
import os
import select
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SECONDS = 15.0
"""How long anything may take on a busy machine before it counts as hanging."""


class Child:
    """A started program and the two ends of its pipe."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str], stderr: Path) -> None:
        self.stderr_path = stderr
        with stderr.open("wb") as log:
            self.process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._buffer = b""
        self._next = 0

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text("utf-8", "replace")

    def send(self, method: str, params: Any = None) -> int:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": {} if params is None else params}
        self.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self.stdin.flush()
        return self._next

    def line(self) -> bytes:
        """The next line of stdout; ``b""`` at its end."""
        deadline = time.monotonic() + SECONDS
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no line within {SECONDS} s; stderr: {self.stderr}"
            data = os.read(self.stdout.fileno(), 65536)
            if not data:
                rest, self._buffer = self._buffer, b""
                return rest
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def answer(self) -> Any:
        line = self.line()
        assert line, f"the output ended; stderr: {self.stderr}"
        return json.loads(line)

    def call(self, method: str, params: Any = None) -> Any:
        sent = self.send(method, params)
        answer = self.answer()
        assert answer["id"] == sent
        return answer

    def until_logged(self, text: str) -> str:
        """Wait until stderr holds a text; a file gives no event, so it is looked at again and again."""
        deadline = time.monotonic() + SECONDS
        while text not in (log := self.stderr):
            assert time.monotonic() < deadline, f"{text!r} was not logged; stderr: {log}"
            assert self.process.poll() is None or text in self.stderr, f"exited without {text!r}: {self.stderr}"
            select.select([], [], [], 0.02)
        return log

    def end(self, seconds: float = SECONDS) -> int:
        """Close the input and wait for the exit code."""
        self.stdin.close()
        return self.process.wait(seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS)
        self.stdin.close()
        self.stdout.close()


def data(properties: dict[str, Any], type_name: str = "note@1.0", **context: Any) -> dict[str, Any]:
    """ResourceData for the provider ``notes``."""
    params: dict[str, Any] = {
        "import": {"provider": "notes", "version": "1.0.0", "config": {}},
        "type": type_name,
        "properties": properties,
    }
    return {**params, "context": context} if context else params


Start = Callable[..., Child]

HEAD = """
import asyncio, os, signal, subprocess, sys, threading, time
from pathlib import Path
from extensor import *

provider = Provider("notes", "1.0.0")

class Note(Properties):
    name: Identifier[str]
    text: str = ""
"""

ECHO = """
@provider.resource("note@1.0")
class Handler(ResourceHandler[Note]):
    async def save(self, ctx, desired):
        return desired
"""


@pytest.fixture
def resource_data() -> Callable[..., dict[str, Any]]:
    return data


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a provider whose module is `HEAD` and then the given code: ``start(code, env=…, args=…, head=…)``."""
    children: list[Child] = []

    def launch(
        code: str = ECHO,
        *,
        env: dict[str, str] | None = None,
        args: tuple[str, ...] = (),
        head: str = HEAD,
        python: tuple[str, ...] = (),
    ) -> Child:
        name = f"notes_{len(children)}"
        (tmp_path / f"{name}.py").write_text(f"{head}\n{textwrap.dedent(code)}", "utf-8")
        argv = [sys.executable, *python, "-m", "extensor.authoring", f"{name}:provider", *args]
        child = Child(argv, tmp_path, {**os.environ, **(env or {})}, tmp_path / f"{name}.stderr")
        children.append(child)
        return child

    yield launch
    for child in children:
        child.close()
