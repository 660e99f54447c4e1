"""What the conformance kit adds to a call, and whether its memory stays flat; beside a bare pipe in the same run.

``python benchmarks/kit_bench.py [CALLS]``
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


def cases(bench: Bench, count: int) -> tuple[float, list[int]]:
    """Seconds a case of three calls, and the kit's memory in KiB at ten points on the way."""
    kind = bench.kind
    assert kind
    memory = []
    began = time.perf_counter()
    for index in range(count):
        name = bench.names.token()
        body = {"name": name, "size": index % 100, "password": bench.canaries.fresh()}
        plan = Plan((Call("save", Verb.SAVE, body), Call("get", Verb.GET, {"name": name})))
        attempt(bench, Walk(), Case("x", "WALK", kind.name, index, index, plan, (name,)), kind)
        if index % max(1, count // 10) == 0:
            memory.append(tracemalloc.get_traced_memory()[0] // 1024 if tracemalloc.is_tracing() else 0)
    return (time.perf_counter() - began) / count, memory


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        pipe = bare(calls)
        bench = new_bench(Path(folder))
        kit = through_the_kit(bench, calls)
        print(f"bare pipe   {pipe * 1e6:7.0f} us a call")
        print(f"kit         {kit * 1e6:7.0f} us a call   overhead {(kit - pipe) * 1e6:.0f} us   (limit 1000 us)")
        each, _ = cases(bench, calls)
        print(f"case        {each * 1e6:7.0f} us with save, get and the delete that tidies up")
        tracemalloc.start()
        _, memory = cases(bench, 10_000)
        tracemalloc.stop()
        print(f"memory      {memory[1]} KiB after 1,000 cases, {memory[-1]} KiB after 10,000")
        bench.close()
        if kit - pipe > 0.001:
            sys.exit("the kit adds more than a millisecond to a call")


if __name__ == "__main__":
    main()
