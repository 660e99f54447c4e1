"""Knows for how long what is read may be old, where the author declares a `consistency_window` (P-STATE-01)."""

import threading
import time
from collections.abc import Callable, Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.kind import Kind
from extensor_conformance.ledger import Made
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.tracking import identifiers_in

READS = frozenset({Verb.GET, Verb.PREVIEW_SAVE})
"""What shows the state of an object without changing it."""
KEPT = 1000
"""Objects that are remembered before those whose time is over are forgotten."""


class Patience(Monitor):
    """Sees changes leave and end, for one worker; keeps nothing of types without a window."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._open: dict[str, float] = {}
        """Changes under way, with the window of their type."""
        self._lock = threading.Lock()

    def changing(self, kind: Kind | None, params: JsonObject) -> None:
        """A save or delete of an object is about to leave, or another changes it behind the provider's back."""
        key = _key(kind, params)
        if kind is None or key is None:
            return
        with self._lock:
            if len(self._until) > KEPT:
                now = self._clock()
                self._until = {one: until for one, until in self._until.items() if until > now}
            self._open[key] = kind.fixture.consistency_window
            self._begin(key, kind.fixture.consistency_window)

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """The window begins anew when a change is over."""
        if exchange.verb is not None and exchange.verb.mutates and isinstance(exchange.params, dict):
            key = _key(kind, exchange.params)
            with self._lock:
                if key is not None and kind is not None:
                    self._open.pop(key, None)
                    self._begin(key, kind.fixture.consistency_window)
        yield from ()

    def ended(self, connection: str) -> None:
        """What was under way may have been done until now."""
        del connection
        with self._lock:
            for key, window in self._open.items():
                self._begin(key, window)
            self._open.clear()

    def left(self, kind: Kind | None, properties: Json) -> float:
        """Seconds until a read of the object has to show what was done last; 0 when it has to already."""
        key = _key(kind, {"properties": properties})
        with self._lock:
            return max(0.0, self._until.get(key, 0.0) - self._clock()) if key is not None else 0.0

    @property
    def remembered(self) -> int:
        """How many objects it knows of."""
        return len(self._until)

    def _begin(self, key: str, window: float) -> None:
        self._until[key] = self._clock() + window


def _key(kind: Kind | None, params: JsonObject) -> str | None:
    if kind is None or kind.fixture.consistency_window <= 0:
        return None
    identifiers = identifiers_in(kind, params)
    return Made(0, kind.name, identifiers).key if identifiers is not None else None
