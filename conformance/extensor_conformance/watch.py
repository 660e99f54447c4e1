"""The eyes of the kit: hands everything that goes over the wire to the transcript and to the monitors."""

import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from extensor.contract import JsonObject, Verb
from extensor_conformance.canary import Needles
from extensor_conformance.kind import Kind, find_kind
from extensor_conformance.logbook import LogBook
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.transcript import Transcript

M = TypeVar("M", bound=Monitor)
MAX_LOG = 2000
"""Characters of one chunk of stderr that the transcript keeps."""
MAX_FINDINGS = 200
"""Of one case; a provider that does everything wrong is no reason to use memory without end."""


class Watch:
    """One for each worker. Thread-safe: connections call it from their reader threads."""

    def __init__(
        self, monitors: Sequence[Monitor], *, before: Callable[[Verb, JsonObject], None] | None = None
    ) -> None:
        self.transcript = Transcript()
        self.log = LogBook()
        self.secrets = Needles()
        """Values of the fixture that are masked in everything that leaves the kit."""
        self.kinds: Mapping[str, Kind] = {}
        """The provider's types, once they are known."""
        self.kit_faults: list[str] = []
        """Tracebacks of monitors that broke."""
        self._monitors = tuple(monitors)
        self._findings: list[Finding] = []
        self._lock = threading.Lock()
        self._before = before

    def begin(self) -> None:
        """A new case begins."""
        self.transcript.restart()
        self.log.begin()
        with self._lock:
            self._findings.clear()

    def take(self) -> list[Finding]:
        """The findings since the case began or they were last taken."""
        with self._lock:
            taken, self._findings = self._findings, []
            return taken

    def mutating(self, verb: Verb, params: JsonObject) -> None:
        """A save or delete is about to be sent. What the bench raises keeps it from being sent."""
        if self._before is not None:
            self._before(verb, params)

    def sent(self, data: bytes, connection: str, note: str = "") -> None:
        """A frame left."""
        self.transcript.add(">", data, note, connection)

    def received(self, data: bytes, connection: str, note: str = "") -> None:
        """A frame came."""
        self.transcript.add("<", data, note, connection)

    def event(self, text: str, connection: str, note: str = "") -> None:
        """Something else happened: a start, a signal, an exit, a line on stderr."""
        self.transcript.add("!", text, note, connection)

    def answered(self, exchange: Exchange) -> None:
        """An answer came; called before the caller gets it, so that a finding belongs to the case it was seen in."""
        if exchange.answer is not None:
            self.log.answered(exchange.answer)
        kind = find_kind(self.kinds, exchange.type)
        self._collect(lambda monitor: monitor.answered(exchange, kind))

    def stray(self, message: Any, raw: bytes, reason: str, connection: str) -> None:
        """See `Monitor.stray`."""
        self._collect(lambda monitor: monitor.stray(message, raw, reason, connection))

    def notified(self, message: JsonObject, raw: bytes, connection: str) -> None:
        """See `Monitor.notified`."""
        self._collect(lambda monitor: monitor.notified(message, raw, connection))

    def garbage(self, raw: bytes, reason: str, connection: str) -> None:
        """See `Monitor.garbage`."""
        self.transcript.add("<", raw, f"no frame: {reason}", connection)
        self._collect(lambda monitor: monitor.garbage(raw, reason, connection))

    def logged(self, before: bytes, text: bytes, connection: str) -> None:
        """See `Monitor.logged`; `before` is the end of what was shown before."""
        self.transcript.add("!", text[-MAX_LOG:], "stderr", connection)
        self.log.add(text)
        self._collect(lambda monitor: monitor.logged(before + text, connection))

    def ended(self, connection: str) -> None:
        """A connection ended."""
        with self._lock:
            for monitor in self._monitors:
                monitor.ended(connection)

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """What the monitors have seen something of, in all cases so far."""
        return frozenset(item for monitor in self._monitors for item in monitor.relevant())

    def monitor(self, kind: type[M]) -> M | None:
        """The monitor of a class, when there is one."""
        return next((monitor for monitor in self._monitors if isinstance(monitor, kind)), None)

    def _collect(self, ask: Callable[[Monitor], Iterator[Finding]]) -> None:
        with self._lock:
            for monitor in self._monitors:
                try:
                    for finding in ask(monitor):
                        if len(self._findings) < MAX_FINDINGS:
                            self._findings.append(finding)
                except Exception:  # noqa: BLE001, RUF100 - a broken monitor is the kit's fault, never the provider's
                    if len(self.kit_faults) < 10:
                        self.kit_faults.append(traceback.format_exc())
