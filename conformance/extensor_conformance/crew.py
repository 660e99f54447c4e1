"""The workers: threads that share the jobs, and that are always gone before the table is cleared."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from extensor_conformance.bench import Bench
from extensor_conformance.judging import StopSign

J = TypeVar("J")
INTERRUPTED = "the run was interrupted"
"""Why nothing new is begun after Ctrl-C; to be given to `Run.stop` by whoever handles the signal itself."""
GRACE_SECONDS = 5.0
"""After an interrupt a case may go on for so long; then its provider is killed, which ends every wait."""
END_SECONDS = 30.0
_GLANCE_SECONDS = 0.2


class Crew(Generic[J]):
    """Does jobs by ``do(worker number, bench, job)``, each worker with a bench of its own."""

    def __init__(self, do: Callable[[int, Bench, J], None], stop: StopSign) -> None:
        self._do = do
        self._stop = stop

    def work_off(self, jobs: Sequence[J], benches: Sequence[Bench]) -> None:
        """All jobs, shared among the benches. Returns when no worker runs any more, soon after an interrupt.

        What a job lets out is raised here, after the other workers have ended.
        """
        waiting: queue.SimpleQueue[J] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        broken: list[BaseException] = []
        threads = [
            threading.Thread(target=self._work, args=(number, bench, waiting, broken), name=f"worker {number}")
            for number, bench in enumerate(benches, 1)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(_GLANCE_SECONDS)
        except KeyboardInterrupt:
            self._stop.reason = INTERRUPTED
            self._wind_up(threads, benches)
        if broken:
            raise broken[0]

    def _work(self, number: int, bench: Bench, waiting: "queue.SimpleQueue[J]", broken: list[BaseException]) -> None:
        while not broken:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self._do(number, bench, job)
            except BaseException as error:  # noqa: BLE001, RUF100 - handed to the thread that waits
                broken.append(error)

    def _wind_up(self, threads: Sequence[threading.Thread], benches: Sequence[Bench]) -> None:
        started = [thread for thread in threads if thread.ident is not None]
        for thread in started:
            thread.join(GRACE_SECONDS)
        if any(thread.is_alive() for thread in started):
            for bench in benches:
                bench.abandon()
        for thread in started:
            thread.join(END_SECONDS)
