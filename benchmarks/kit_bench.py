"""What the conformance kit adds to a call, and whether its memory stays flat; beside a bare pipe in the same run.

``python benchmarks/kit_bench.py [ROUNDS]``
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from extensor.contract import Verb
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.case import Case
from extensor_conformance.judging import attempt
from extensor_conformance.ledger import Ledger
from extensor_conformance.names import Names
from extensor_conformance.provider import read_provider
from extensor_conformance.settings import Settings
from extensor_conformance.steps import Call, Plan
from extensor_conformance.subject import Subject
from extensor_conformance.walk import Walk

PROJECT = Path(__file__).resolve().parent.parent
PROVIDER = [sys.executable, str(PROJECT / "tests/conformance/core/plain_provider.py")]
IMPORT = {"provider": "plain", "version": "1.0.0", "config": {}}
BODY = {"name": "a", "size": 3}
CALLS, CASES = 1000, 10_000


def bare(calls: int) -> float:
    """Seconds a call over the pipe, with nothing between it and the provider but JSON."""
    with subprocess.Popen(PROVIDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        times = []
        for number in range(calls):
            params = {"import": IMPORT, "type": "box@1.0", "properties": BODY}
            message = {"jsonrpc": "2.0", "id": number, "method": "resource/save", "params": params}
            began = time.perf_counter()
            child.stdin.write(json.dumps(message).encode() + b"\n")
            child.stdin.flush()
            json.loads(child.stdout.readline())
            times.append(time.perf_counter() - began)
        child.stdin.close()
    return statistics.median(times)


def new_bench(folder: Path) -> Bench:
    settings = Settings(Subject.of_command(PROVIDER), folder=folder)
    bench = Bench(settings, names=Names(), canaries=Canaries("cnrybench"), ledger=Ledger(folder / "ledger-1.jsonl"))
    bench.provider = read_provider(bench.connection(), settings.fixture, 0.0)
    bench.watch.kinds = bench.provider.kinds
    bench.kind = bench.provider.kinds["box@1.0"]
    return bench


def through_the_kit(bench: Bench, calls: int) -> float:
    """Seconds a call with ledger, transcript and all monitors."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        bench.call(Verb.SAVE, BODY)
        times.append(time.perf_counter() - began)
    bench.sweep()
    return statistics.median(times)


def memory_after(bench: Bench, count: int) -> list[int]:
    """The kit's memory in KiB at ten points on the way through so many cases of a save and a get."""
    kind = bench.kind
    assert kind
    memory = []
    for index in range(1, count + 1):
        name = bench.names.token()
        body = {"name": name, "size": index % 100, "password": bench.canaries.fresh()}
        plan = Plan((Call("save", Verb.SAVE, body), Call("get", Verb.GET, {"name": name})))
        attempt(bench, Walk(), Case("x", "WALK", kind.name, index, index, plan, (name,)), kind)
        if index % (count // 10) == 0:
            memory.append(tracemalloc.get_traced_memory()[0] // 1024)
    return memory


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        bench = new_bench(Path(folder))
        pairs = [(bare(CALLS), through_the_kit(bench, CALLS)) for _ in range(rounds)]
        ratio = statistics.median(kit / pipe for pipe, kit in pairs)
        overhead = statistics.median(kit - pipe for pipe, kit in pairs) * 1e6
        print(f"call through the kit / bare pipe with JSON             {ratio:6.2f}")
        print(f"what the kit adds to a call, in us                     {overhead:6.0f}  < 1000")
        tracemalloc.start()
        memory = memory_after(bench, CASES)
        tracemalloc.stop()
        # After 2000 the latencies that are kept for the report are as many as ever will be.
        print(f"memory after {CASES} cases / after {CASES // 5}               {memory[-1] / memory[1]:6.2f}  <= 1.1")
        bench.close()


if __name__ == "__main__":
    main()
