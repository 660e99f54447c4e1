"""PRF-02: no answer takes longer than a minute (P-PACE-02); and the times of all calls, for the report."""

import random
from collections.abc import Iterator

from extensor.contract import Json, JsonObject
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.verdicts import Problem

CHECK = "PRF-02"
LONGEST_SECONDS = 60.0
SAMPLE = 2000
"""Times that are kept for each method, chosen evenly from all."""


class Times:
    """A sample of times, with count and largest of all."""

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0.0
        self.sample: list[float] = []
        self._random = random.Random(0)  # noqa: S311 - which times are kept

    def add(self, seconds: float) -> None:
        """One more."""
        self.count += 1
        self.longest = max(self.longest, seconds)
        if len(self.sample) < SAMPLE:
            self.sample.append(seconds)
        elif (place := self._random.randrange(self.count)) < SAMPLE:
            self.sample[place] = seconds


class PaceMonitor(Monitor):
    """Looks at how long each answer took."""

    checks = (CHECK,)

    def __init__(self) -> None:
        self.times: dict[str, Times] = {}
        """By method."""
        self._seen: set[tuple[str, str | None]] = set()

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """See `Monitor.answered`."""
        answer = exchange.answer
        if answer is None or exchange.wild or not exchange.method:
            return
        self.times.setdefault(exchange.method, Times()).add(answer.seconds)
        if exchange.verb is None or kind is None:
            return
        self._seen.add((CHECK, kind.name))
        if answer.seconds > LONGEST_SECONDS:
            message = f"{exchange.method} was answered after {answer.seconds:.1f} s"
            yield Finding(CHECK, kind.name, Problem(message))

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset(self._seen)


def latency(monitors: list[PaceMonitor]) -> JsonObject:
    """The times of several workers together: by method ``count``, ``p50``, ``p95``, ``max`` in seconds."""
    made: dict[str, Json] = {}
    for method in sorted({method for monitor in monitors for method in monitor.times}):
        times = [monitor.times[method] for monitor in monitors if method in monitor.times]
        sample = sorted(second for item in times for second in item.sample)
        made[method] = {
            "count": sum(item.count for item in times),
            "p50": round(_quantile(sample, 0.5), 6),
            "p95": round(_quantile(sample, 0.95), 6),
            "max": round(max(item.longest for item in times), 6),
        }
    return made


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
