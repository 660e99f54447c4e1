"""Worker threads for handlers that are plain functions."""

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

MOST_THREADS = 64
"""Plain functions that run at once; further calls wait for a thread."""
IDLE_SECONDS = 30.0
"""How long a thread waits for another call before it ends."""

Job = Callable[[], None]


class Threads:
    """Daemon threads, made when they are needed and kept a while: one that hangs does not hold up the process's end."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition(threading.Lock())
        self._threads = 0
        self._unfinished = 0

    def run(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Call `function` in a thread, then, in that thread, `done` with its result or its exception."""
        context = contextvars.copy_context()

        def job() -> None:
            try:
                result = context.run(function)
            except BaseException as error:
                done(None, error)
            else:
                done(result, None)

        with self._changed:
            self._unfinished += 1
            start = self._threads < min(self._unfinished, MOST_THREADS)
            if start:
                self._threads += 1
            self._jobs.append(job)
            self._changed.notify()
        if start:
            threading.Thread(target=self._work, name="extensor handler", daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()
            with self._changed:
                self._unfinished -= 1

    def _next(self) -> Job | None:
        with self._changed:
            while not self._jobs:
                if not self._changed.wait(IDLE_SECONDS) and not self._jobs:
                    self._threads -= 1
                    return None
            return self._jobs.popleft()
