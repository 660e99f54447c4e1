"""The end of a provider's process: in time, with nothing left behind."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from extensor.authoring import log
from extensor.authoring.loop import poster

EXIT_SECONDS = 5.0
"""From the end of input, or from the end of a drain, to the end of the process (P-LIFE-*)."""
DRAIN_ON_SIGNAL_SECONDS = 10.0
"""How long running operations may go on after SIGTERM."""
_MARGIN_SECONDS = 0.5


class Ending:
    """Knows that the process is about to end, and sees to it that it does.

    Code of an author may hold up an end in many ways: by ignoring cancellation, by threads that are no daemons, by
    blocking the loop. After a bounded time the process ends all the same.
    """

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._code = 1
        self._signaled = False

    def within(self, seconds: float) -> None:
        """End the process after `seconds` if it has not ended by itself. The first call counts."""
        if self._timer is None:
            self._timer = threading.Timer(seconds - _MARGIN_SECONDS, self._force)
            self._timer.daemon = True
            self._timer.start()

    def served(self) -> None:
        """Everything was answered: what still holds up the end, such as a thread, makes it no failure."""
        self._code = 0

    def _force(self) -> None:
        log.write("warning" if self._code == 0 else "error", _LEFT)
        end_children()
        os._exit(self._code)

    def on_signals(self, stop: Callable[[], object]) -> None:
        """Call `stop` on the running event loop at the first SIGTERM or SIGINT, and end at once at a second."""
        post = poster()

        def received(number: int, _: FrameType | None) -> None:
            if self._signaled:
                end_children()
                os._exit(128 + number)
            self._signaled = True
            self.within(DRAIN_ON_SIGNAL_SECONDS + EXIT_SECONDS)
            post(stop)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, received)


_LEFT = "something of the provider's did not end when it was canceled; the process ends without it"


def end_children() -> None:
    """Kill every process that this one started and that is still its descendant."""
    for pid in list(_descendants(os.getpid())):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _descendants(pid: int) -> Iterator[int]:
    """From the kernel's process table; without one (other systems than Linux) there are none to be found."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            listed = children.read_text("ascii").split()
        except OSError:
            continue
        for child in map(int, listed):
            yield child
            yield from _descendants(child)
