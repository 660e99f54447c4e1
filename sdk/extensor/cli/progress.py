"""Events of a run as progress: a line when a resource is done, and on a terminal one status line that lives."""

import time
from collections.abc import Callable

from extensor.cli.console import Console, printable
from extensor.cli.values import identity
from extensor.contract import Verb
from extensor.engine import events

_DONE = {Verb.SAVE: ("*", "saved", "green"), Verb.DELETE: ("-", "deleted", "orange"), Verb.GET: ("=", "read", "gray")}
_DOING = {Verb.SAVE: "saving", Verb.DELETE: "deleting", Verb.GET: "reading", Verb.PREVIEW_SAVE: "previewing"}
RETRY_LINE_SECONDS = 10.0
"""How long the tries of one call that fail in one way share a line."""
LOG_LEVELS = frozenset({"warning", "error", "critical"})
"""What providers log at these levels is shown; the rest only with ``--verbose``."""


class Progress:
    """Listens to a run's events. `steps` says whether each finished call gets a line of its own."""

    def __init__(
        self, console: Console, *, steps: bool, verbose: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._steps = steps
        self._verbose = verbose
        self._clock = clock
        self._total = 0
        self._done: set[str] = set()
        self._running: dict[str, tuple[str, float]] = {}
        self._notes: dict[str, str] = {}
        self._retries: dict[str, tuple[str, float]] = {}
        self._head = "starting"

    def __call__(self, event: events.Event) -> None:
        """Take one event."""
        match event:
            case events.RunStarted():
                self._total = event.resources
                self._head = f"{event.kind} {event.stack}"
            case events.ProviderStarted() if self._verbose:
                self._say(f"provider {event.provider} {event.version} answers after {event.seconds:.2f} s")
            case events.ProviderFailed():
                self._say(f"provider {event.provider} did not start", "!", "red")
            case events.ProviderLogged() if self._verbose or event.level.lower() in LOG_LEVELS:
                self._say(f"[{event.alias}] {event.level}: {event.message}")
            case events.OperationStarted():
                name = event.resource.symbolic_name
                self._running[name] = (f"{_DOING[event.verb]} {name}", self._clock())
                self._notes.pop(name, None)
                self._retries.pop(name, None)
            case events.OperationProgressed():
                percent = f" {event.percent:.0f} %" if event.percent is not None else ""
                self._notes[event.resource.symbolic_name] = f"{event.message}{percent}"
            case events.OperationRetried():
                self._retried(event)
            case events.OperationSucceeded():
                self._succeeded(event)
            case events.OperationFailed():
                self._failed(event)
            case events.ResourceSkipped():
                self._done.add(event.resource.symbolic_name)
                if self._steps:
                    self._say(f"{_name(event.resource)} skipped: {event.reason}", ".", "gray")
            case events.ResourceForgotten() if self._steps:
                self._say(f"{_name(event.resource)} left the record: {event.reason}", ".", "gray")
            case events.RunFinished():
                self._console.clear()
                return
            case _:
                pass
        self.refresh()

    def refresh(self) -> None:
        """Draw the status line anew, with the time that running calls have taken so far."""
        if not self._console.lively:
            return
        total = f"/{self._total}" if self._total else ""
        parts = [f"{self._head}: {len(self._done)}{total}"]
        if self._running:
            name, (doing, since) = next(iter(self._running.items()))
            note = f": {self._notes[name]}" if name in self._notes else ""
            more = f" and {len(self._running) - 1} more" if len(self._running) > 1 else ""
            parts.append(f"{doing}{note}{more}, {self._clock() - since:.0f} s")
        self._console.status(printable(" | ".join(parts)).replace("\n", " "))

    def _retried(self, event: events.OperationRetried) -> None:
        """A line for the first try that failed, for one that failed in another way, and one now and then."""
        name, code, now = event.resource.symbolic_name, event.reason.partition(":")[0], self._clock()
        told = self._retries.get(name)
        self._notes[name] = f"try {event.attempt} failed: {event.reason}"
        if told is not None and told[0] == code and now - told[1] < RETRY_LINE_SECONDS and not self._verbose:
            return
        self._retries[name] = code, now
        left = "" if event.left is None else f", for {event.left:.0f} s more at most"
        after = f"try {event.attempt} failed, the next follows in {event.delay:.1f} s{left}"
        self._say(f"{_name(event.resource)}: {after}: {event.reason}", "!", "orange")

    def _succeeded(self, event: events.OperationSucceeded) -> None:
        name = event.resource.symbolic_name
        self._running.pop(name, None)
        self._done.add(name)
        if self._steps and event.verb in _DONE:
            symbol, word, colour = _DONE[event.verb]
            self._say(f"{_name(event.resource)} {word} ({event.seconds:.1f} s)", symbol, colour)

    def _failed(self, event: events.OperationFailed) -> None:
        name = event.resource.symbolic_name
        self._running.pop(name, None)
        self._done.add(name)
        if self._steps:  # the reasons are told in full at the end of the run
            codes = ", ".join(dict.fromkeys(str(fault.code) for fault in event.faults))
            unclear = "; it is unclear whether it took effect" if event.unclear else ""
            self._say(f"{_name(event.resource)} failed ({event.seconds:.1f} s): {codes}{unclear}", "!", "red")

    def _say(self, text: str, symbol: str = "", colour: str = "") -> None:
        mark = f"{self._console.paint(symbol, colour)} " if symbol else ""
        self._console.line(mark + printable(text))


def _name(resource: events.ResourceRef) -> str:
    where = identity(resource.identifiers)
    return f"{resource.symbolic_name} ({resource.type}{f', {where}' if where else ''})"
