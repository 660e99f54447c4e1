"""Plays the kit against the bed, and gathers what came of it."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from extensor_conformance.selftest.bed import Bed, Entry, read_bed
from extensor_conformance.selftest.model import Matrix, Progress, Row, SelftestSettings, Turn
from extensor_conformance.selftest.worker import Worker

_TICK_SECONDS = 1.0
REPEATS = {"reference": 2}
"""Twice as many seeds for what must be right."""


@dataclass(frozen=True, slots=True)
class _Task:
    entry: Entry
    number: int
    """Of the seed, from 0."""


def run(
    settings: SelftestSettings, tell: Callable[[Row], None], progress: Callable[[Progress], None] = lambda _: None
) -> Matrix:
    """Every program of the bed that is asked for, `settings.workers` at once. Raises `BedMissing`."""
    bed = read_bed(settings.bed)
    entries = bed.chosen(settings.only)
    began = time.monotonic()
    rows = _Crew(bed, entries, settings, tell, progress).play()
    seconds = time.monotonic() - began
    return Matrix(rows, bed.uncovered, settings.seed, settings.seeds, settings.only, seconds)


class _Crew:
    """Threads, each with a process of the kit, that share the turns of all programs."""

    def __init__(
        self,
        bed: Bed,
        entries: Sequence[Entry],
        settings: SelftestSettings,
        tell: Callable[[Row], None],
        progress: Callable[[Progress], None],
    ) -> None:
        self._bed = bed
        self._entries = entries
        self._settings = settings
        self._tell = tell
        self._progress = progress
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._tasks = self._planned()
        self._waiting: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._turns: dict[str, dict[int, Turn]] = {entry.name: {} for entry in entries}
        self._left = {entry.name: sum(task.entry is entry for task in self._tasks) for entry in entries}
        self._running: dict[int, str] = {}
        self._broken: list[BaseException] = []
        self._over = False

    def play(self) -> tuple[Row, ...]:
        """All turns. A `KeyboardInterrupt`, or what a listener lets out, ends the workers and is raised."""
        for entry in self._entries:
            if not self._left[entry.name]:
                self._tell(self._row(entry))
        for task in self._tasks:
            self._waiting.put(task)
        workers = [Worker(self._bed.folder) for _ in range(min(self._settings.workers, len(self._tasks)))]
        threads = [
            threading.Thread(target=self._work, args=(number, worker), name=f"selftest {number}")
            for number, worker in enumerate(workers, 1)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(_TICK_SECONDS)
                    with self._lock:
                        self._progress(self._state())
        except BaseException:
            self._over = True
            for worker in workers:
                worker.interrupt()
            raise
        finally:
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            for worker in workers:
                worker.close()
        if self._broken:
            raise self._broken[0]
        return tuple(self._row(entry) for entry in self._entries)

    def _planned(self) -> list[_Task]:
        """Seed by seed, what takes long by its nature first, so that it is not what all wait for in the end."""
        settings = self._settings
        tasks = [
            _Task(entry, number)
            for entry in self._entries
            if self._bed.programs[entry.program].missing is None
            for number in range(settings.seeds * REPEATS.get(entry.kind, 1))
        ]
        return sorted(tasks, key=lambda task: (-(task.entry.timeout or 0), task.number))

    def _work(self, number: int, worker: Worker) -> None:
        while not self._over and not self._broken:
            try:
                task = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self._show(number, task.entry.name)
                turn = worker.play(task.entry.name, task.number, self._settings.seed + task.number)
                self._take(number, task, turn)
            except BaseException as error:  # noqa: BLE001, RUF100 - handed to the thread that waits
                self._broken.append(error)

    def _show(self, number: int, name: str) -> None:
        with self._lock:
            self._running[number] = name
            self._progress(self._state())

    def _take(self, number: int, task: _Task, turn: Turn) -> None:
        if self._over:
            return
        name = task.entry.name
        with self._lock:
            self._running.pop(number, None)
            self._turns[name][task.number] = turn
            self._left[name] -= 1
            if not self._left[name]:
                self._tell(self._row(task.entry))
            self._progress(self._state())

    def _state(self) -> Progress:
        turns = [turn for turns in self._turns.values() for turn in turns.values()]
        return Progress(
            len(turns),
            len(self._tasks),
            sum(bool(turn.trouble) for turn in turns),
            tuple(self._running.values()),
            time.monotonic() - self._began,
        )

    def _row(self, entry: Entry) -> Row:
        expected = (entry.check,) if entry.check is not None else ()
        turns = self._turns[entry.name]
        missing = self._bed.programs[entry.program].missing or ""
        return Row(
            entry.name, entry.kind, expected, entry.summary, tuple(turns[number] for number in sorted(turns)), missing
        )
