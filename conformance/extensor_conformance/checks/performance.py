"""PRF-01: the start. PRF-03: slower than before. PRF-04: what grows with the number of calls."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.adapters import Feature
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import kind_with, operable, pause, usable
from extensor_conformance.connection import Connection
from extensor_conformance.kind import Kind
from extensor_conformance.verdicts import DiffRow, NotTested, Problem, Severity

STARTS = 3
SOON_SECONDS = 2.0
LATEST_SECONDS = 30.0
CALLS = 60
"""Calls of each verb whose times are compared with a baseline."""
FACTOR = 1.5
NOISE_SECONDS = 0.003
"""Differences below it are the machine's."""
GETS = 500
PAIRS = 100
SPARE_DESCRIPTORS = 16
SPARE_THREADS = 24
SPARE_BYTES = 24 * 1024 * 1024


@check("PRF-01", features={Feature.HANDSHAKE}, process=True)
class StartUp(Procedure):
    """The best of three starts, from the command to the answer of the handshake."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        best = float("inf")
        for _ in range(STARTS):
            begun = time.monotonic()
            bench.fresh()
            best = min(best, time.monotonic() - begun)
            if best < SOON_SECONDS:
                return []
        if best > LATEST_SECONDS:
            message = f"the handshake is answered {best:.1f} s after the start, not within {LATEST_SECONDS:g} s"
            return [Problem(message, "$", "handshake", severity=Severity.MUST)]
        message = f"the handshake is answered {best:.1f} s after the start, not within {SOON_SECONDS:g} s"
        return [Problem(message, "$", "handshake")]


@check("PRF-03", features={Feature.HANDSHAKE})
class Regression(Procedure):
    """The 95th percentile of each verb against an earlier report."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        if bench.settings.baseline is None:
            raise NotTested("no report of an earlier run was given: --baseline FILE")
        before = _baseline(bench.settings.baseline)
        kind = operable(kind_with(bench, Verb.SAVE, Verb.GET, Verb.DELETE), Verb.SAVE, Verb.GET, Verb.DELETE)
        bench.kind = kind
        times = self._measure(bench, kind)
        problems: list[Problem] = []
        compared = False
        for verb, seconds in times.items():
            old = before.get(verb.method)
            if old is None:
                continue
            compared = True
            now = sorted(seconds)[int(len(seconds) * 0.95)]
            if now > old * FACTOR and now - old > NOISE_SECONDS:
                message = f"{verb.method} p95 is {now * 1000:.1f} ms, {now / old:.1f} times that of the baseline"
                row = DiffRow("$", (f"{old * 1000:.1f} ms", f"{now * 1000:.1f} ms"))
                problems.append(Problem(message, "$", verb.wire, ("baseline", "now"), (row,)))
        if not compared:
            raise NotTested(f"{bench.settings.baseline} has no times of these calls")
        return problems

    def _measure(self, bench: Bench, kind: Kind) -> dict[Verb, list[float]]:
        times: dict[Verb, list[float]] = {verb: [] for verb in Verb if kind.has(verb)}
        bodies: list[JsonObject] = bench.draw(lambda draw: [kind.valid(draw) for _ in range(CALLS)])
        for verb in (Verb.PREVIEW_SAVE, Verb.SAVE, Verb.GET, Verb.DELETE):
            for body in bodies if verb in times else ():
                sent = body if verb in (Verb.SAVE, Verb.PREVIEW_SAVE) else kind.identifiers(body)
                times[verb].append(bench.must(bench.call(verb, sent), verb.wire).seconds)
        return times


def _baseline(place: Path) -> dict[str, float]:
    """Seconds at the 95th percentile by method, from a JSON report."""
    try:
        report: Json = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotTested(f"{place} cannot be read as a report: {error}") from None
    latency = report.get("latency") if isinstance(report, dict) else None
    if not isinstance(latency, dict):
        raise NotTested(f"{place} has no times")
    return {
        method: float(facts["p95"])
        for method, facts in latency.items()
        if isinstance(facts, dict) and isinstance(facts.get("p95"), int | float)
    }


@dataclass(frozen=True)
class _Size:
    descriptors: int
    threads: int
    memory: int


@check("PRF-04", process=True)
class Leaks(Procedure):
    """Five hundred gets and a hundred pairs of save and delete, and the process before and after."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(kind_with(bench, Verb.SAVE, Verb.GET, Verb.DELETE), Verb.SAVE, Verb.GET, Verb.DELETE)
        bench.kind = kind
        connection = bench.fresh()
        kept = usable(bench)
        bench.must(bench.save(kept, connection=connection), "the control")
        bodies = [usable(bench) for _ in range(10)]
        self._work(bench, connection, kept, bodies, GETS // 5, PAIRS // 5)
        before = _size(connection)
        self._work(bench, connection, kept, bodies, GETS, PAIRS)
        after = _size(connection)
        problems: list[Problem] = []
        for step, spare, old, new in (
            ("descriptors", SPARE_DESCRIPTORS, before.descriptors, after.descriptors),
            ("threads", SPARE_THREADS, before.threads, after.threads),
            ("memory", SPARE_BYTES, before.memory, after.memory),
        ):
            if new - old > spare:
                told = f"{old // 1024} KiB to {new // 1024} KiB" if step == "memory" else f"{old} to {new}"
                message = f"{step} went from {told} over {GETS} gets and {PAIRS} saves and deletes"
                problems.append(Problem(message, "$", step))
        return problems

    def _work(
        self, bench: Bench, connection: Connection, kept: JsonObject, bodies: list[JsonObject], gets: int, pairs: int
    ) -> None:
        for _ in range(gets):
            bench.must(bench.get(kept, connection=connection), "get")
        for number in range(pairs):
            body = bodies[number % len(bodies)]
            bench.must(bench.save(body, connection=connection), "save")
            bench.must(bench.delete(body, connection=connection), "delete")


def _size(connection: Connection) -> _Size:
    """What the process holds now. Raises `NotTested` where the system does not tell."""
    pause(0.1)
    place = Path(f"/proc/{connection.pid}")
    try:
        descriptors = sum(1 for _ in (place / "fd").iterdir())
        lines = (place / "status").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise NotTested(f"the system does not tell what a process holds: {error}") from None
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    return _Size(descriptors, int(facts["Threads"]), int(facts["VmRSS"].split()[0]) * 1024)
