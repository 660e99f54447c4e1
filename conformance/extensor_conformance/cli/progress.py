"""Events of a run as progress: a head when the provider is known, on a terminal one status line that lives."""

import time
from collections.abc import Callable

from extensor.contract import JsonObject
from extensor_conformance.cli.console import Console, printable
from extensor_conformance.cli.text import COLOURS
from extensor_conformance.events import (
    CheckEnded,
    CheckStarted,
    Event,
    Planned,
    ProviderReady,
    RunEnded,
    RunStarted,
    Warned,
)
from extensor_conformance.verdicts import Outcome, Verdict


class Progress:
    """Listens to a run's events; called one event at a time, from any thread."""

    def __init__(
        self,
        console: Console,
        *,
        title: str,
        extras: str = "",
        verbose: bool = False,
        quiet: bool = False,
        mask: Callable[[str], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._title = title
        self._extras = extras
        self._verbose = verbose
        self._quiet = quiet
        self._mask = mask
        self._clock = clock
        self._began = clock()
        self._jobs = 0
        self._done = 0
        self._counts: dict[Verdict, int] = {}
        self._running: dict[int, str] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case RunStarted():
                self._head(event.facts)
                self._console.status("starting the provider")
            case ProviderReady():
                self._provider(event.facts)
            case Planned():
                self._jobs = event.jobs
            case CheckStarted():
                self._running[event.worker] = f"{event.check}{f' {event.type}' if event.type else ''}"
            case CheckEnded():
                self._ended(event.outcome, event.worker)
            case Warned():
                self._console.line(f"warning: {printable(self._mask(event.message))}")
            case RunEnded():
                self._console.clear()
                return
        self.refresh()

    def refresh(self) -> None:
        """Draw the status line anew."""
        if not self._console.lively or not self._jobs:
            return
        bad = ", ".join(f"{count} {verdict}" for verdict, count in self._counts.items() if verdict not in _SILENT)
        parts = [f"{self._done}/{self._jobs}", bad, ", ".join(self._running.values())]
        parts.append(f"{self._clock() - self._began:.0f} s")
        self._console.status(printable(" | ".join(part for part in parts if part)))

    def _head(self, facts: JsonObject) -> None:
        if self._quiet:
            return
        out = self._console.out
        out(f"provider-conformance {facts['kit']}   requirements {facts['requirements']}")
        out(f"{'Seed':<10} {facts['seed']}   Workers {facts['workers']}{self._extras}")

    def _provider(self, facts: JsonObject) -> None:
        if self._quiet:
            return
        out = self._console.out
        name = self._mask(f"{facts['name']} {facts['version']}")
        out(f"{'Provider':<10} {printable(name)}   {printable(self._title)}   start {facts['startSeconds']:.2f} s")
        types = ", ".join(facts["types"][:6]) + (
            f" and {len(facts['types']) - 6} more" if len(facts["types"]) > 6 else ""
        )
        out(f"{'Types':<10} {printable(types) or 'none'}")
        if facts["configKeys"]:
            out(f"{'Config':<10} {', '.join(facts['configKeys'])}")

    def _ended(self, outcome: Outcome, worker: int) -> None:
        if worker:
            self._done += 1
            self._running.pop(worker, None)
        self._counts[outcome.verdict] = self._counts.get(outcome.verdict, 0) + 1
        if self._verbose or (outcome.verdict in (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR) and not self._quiet):
            word = (
                self._console.paint(f"{outcome.verdict:<14}", COLOURS[outcome.verdict])
                if self._verbose
                else (f"{outcome.verdict:<14}")
            )
            about = f" {outcome.type}" if outcome.type else ""
            cases = f"  {outcome.cases} cases" if outcome.cases else ""
            self._console.line(f"{word} {outcome.check}{about}{cases}  {outcome.seconds:.2f} s")


_SILENT = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_TESTED)
