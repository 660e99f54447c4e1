"""Start to first typed answer, and memory at rest, beside bare children with the same five pydantic models.

Run it: ``python benchmarks/start_bench.py [ROUNDS]``. The children run in turn, forwards and backwards; medians count.
The bare child reads one line, validates it with one of its models, dumps it and writes one line: the least that a
provider with pydantic models could do. A second one runs an event loop besides, as every provider that serves several
calls at once has to; memory is measured against that one.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 9
GOAL_START = 1.3
GOAL_MEMORY = 1.2

MODELS = """
class Port(BaseModel):
    number: int = Field(ge=1, le=65535)
    protocol: Literal["tcp", "udp"] = "tcp"

class Volume(BaseModel):
    name: str
    size: int = 1
    path: str | None = None

class Container(BaseModel):
    name: str
    image: str
    args: list[str] = []
    ports: list[Port] = []
    volumes: list[Volume] = []

class Service({base}):
    name: {identifier}
    labels: dict[str, str] = {{}}
    containers: list[Container] = []
    replicas: int = 1

class Record({base}):
    name: {identifier}
    kind: Literal["A", "CNAME"] = "A"
    ttl: float = 60.0
    targets: list[str] = []
"""

BARE = """
import json, sys
from typing import Literal
from pydantic import BaseModel, Field
{models}
for line in sys.stdin.buffer:
    params = json.loads(line)["params"]
    service = Service.model_validate(params["properties"])
    answer = {{"jsonrpc": "2.0", "id": 1, "result": service.model_dump(mode="json")}}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""

BARE_LOOP = """
import asyncio
async def main():
    await asyncio.sleep(0)
asyncio.run(main())
"""

OURS = """
from typing import Literal
from pydantic import BaseModel, Field
from extensor import Context, Identifier, Properties, Provider, ResourceHandler
{models}
provider = Provider("bench", "1.0.0")

@provider.resource("service@1.0")
class ServiceHandler(ResourceHandler[Service]):
    async def save(self, ctx: Context, desired: Service) -> Service:
        return desired

@provider.resource("record@1.0")
class RecordHandler(ResourceHandler[Record]):
    async def save(self, ctx: Context, desired: Record) -> Record:
        return desired
"""

REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "resource/save",
    "params": {
        "import": {"provider": "bench", "version": "1.0.0", "config": {}},
        "type": "service@1.0",
        "properties": {
            "name": "web",
            "labels": {"app": "web"},
            "containers": [{"name": "c", "image": "nginx", "args": ["-g"], "ports": [{"number": 80}], "volumes": []}],
            "replicas": 2,
        },
        "context": {"deadlineSeconds": 30},
    },
}


@dataclass(frozen=True)
class Start:
    """One start: seconds to the first answer, and bytes that belong to the idle process alone."""

    seconds: float
    memory: int


@contextmanager
def children() -> Iterator[dict[str, list[str]]]:
    """The command lines to compare, by name; they work while the block runs."""
    with tempfile.TemporaryDirectory() as folder:
        bare = MODELS.format(base="BaseModel", identifier="str")
        ours = MODELS.format(base="Properties", identifier="Identifier[str]")
        Path(folder, "bare.py").write_text(BARE.format(models=bare), "utf-8")
        Path(folder, "loop.py").write_text(BARE_LOOP + BARE.format(models=bare), "utf-8")
        Path(folder, "bench_provider.py").write_text(OURS.format(models=ours), "utf-8")
        main = "from extensor import run; run('bench_provider:provider')"
        Path(folder, "ours.py").write_text(main, "utf-8")
        yield {name: [sys.executable, str(Path(folder, f"{name}.py"))] for name in ("bare", "loop", "ours")}


def start(argv: list[str]) -> Start:
    """Start a child, wait for its first answer, look at its memory and end it."""
    request = json.dumps(REQUEST).encode() + b"\n"
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request)
        child.stdin.flush()
        line = child.stdout.readline()
        seconds = time.perf_counter() - began
        assert json.loads(line)["result"], line
        memory = own_memory(child.pid)
        child.stdin.close()
        child.wait(10)
    return Start(seconds, memory)


def own_memory(pid: int) -> int:
    """The bytes that would be free if the process ended (USS)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    if not rollup.exists():
        import psutil

        return psutil.Process(pid).memory_full_info().uss
    lines = rollup.read_text("ascii").splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def measure(rounds: int = ROUNDS) -> dict[str, Start]:
    """Medians by child's name, after one start of each that counts for nothing."""
    with children() as commands:
        seen: dict[str, list[Start]] = {name: [] for name in commands}
        for argv in commands.values():
            start(argv)
        for at in range(rounds):
            order = list(commands) if at % 2 == 0 else list(reversed(commands))
            for name in order:
                seen[name].append(start(commands[name]))
    return {
        name: Start(
            statistics.median(item.seconds for item in starts), int(statistics.median(item.memory for item in starts))
        )
        for name, starts in seen.items()
    }


def table(medians: dict[str, Start]) -> str:
    """The result as text."""
    bare, loop, ours = medians["bare"], medians["loop"], medians["ours"]
    rows = [("", "bare child", "with asyncio", "provider", "÷ bare", "÷ with asyncio", "goal")]
    for title, values, form, goal in (
        ("start to first typed answer, ms", [item.seconds * 1000 for item in (bare, loop, ours)], ".0f", GOAL_START),
        ("memory at rest (USS), MiB", [item.memory / 2**20 for item in (bare, loop, ours)], ".1f", GOAL_MEMORY),
    ):
        ratios = [f"{values[2] / value:.2f}" for value in values[:2]]
        against = "÷ bare" if goal is GOAL_START else "÷ with asyncio"
        rows.append((title, *(format(value, form) for value in values), *ratios, f"{against} <= {goal}"))
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(table(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)))
