"""Tells an author that a handler blocks the event loop, which stops every other call, ping included."""

import _thread
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from extensor.authoring import log
from extensor.authoring.loop import Post, poster
from extensor.authoring.operation import Caller, Operation

BLOCKED_SECONDS = 1.0
"""How long the loop may not turn before it is told."""
_INTERVAL_SECONDS = 0.25
_IDLE_SECONDS = 10.0


class Watchdog:
    """A thread that is there while calls run and asks the event loop for a sign of life.

    `on_blocked` is called from that thread, about every quarter second, for as long as the loop stands still.
    """

    def __init__(self, on_blocked: Callable[[], None] | None = None) -> None:
        self._on_blocked = on_blocked
        self._running = 0
        self._started = False
        self._loop_thread = 0

    def enter(self) -> None:
        """A call begins. To be called on the event loop's thread, and `leave` when the call has ended."""
        self._running += 1
        if not self._started:
            self._start()

    def leave(self) -> None:
        """A call has ended."""
        self._running -= 1

    def _start(self) -> None:
        self._loop_thread = threading.get_ident()
        self._started = True
        # Thread.start would wait for the new thread to be scheduled, with the first answer waiting behind it.
        _thread.start_new_thread(self._work, (poster(),))

    def _work(self, post: Post) -> None:
        wait = threading.Event()  # never set: a sleep that leaves no trace of its own
        idle = 0.0
        while idle < _IDLE_SECONDS:
            wait.wait(_INTERVAL_SECONDS)
            idle = 0.0 if self._running else idle + _INTERVAL_SECONDS
            if self._running:
                turned = threading.Event()
                try:
                    post(turned.set)
                except RuntimeError:  # the loop has ended
                    return
                self._await(turned)
        self._started = False

    def _await(self, turned: threading.Event) -> None:
        started = time.monotonic()
        if turned.wait(BLOCKED_SECONDS):
            return
        operation = _running_operation(_frame_of(self._loop_thread))
        who = operation.title if operation else "something"
        log.write(
            "warning",
            f"{who} has blocked the event loop for more than {BLOCKED_SECONDS:g} s, and every other call waits for it; "
            "await instead, or make it a plain function: those run in a thread",
        )
        while not turned.wait(_INTERVAL_SECONDS):
            if self._on_blocked is not None:
                self._on_blocked()
        log.write("warning", f"the event loop turns again after {time.monotonic() - started:.1f} s")


def _frame_of(thread: int) -> FrameType | None:
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - the documented way, in spite of its name
    return frames.get(thread)


def _running_operation(frame: FrameType | None) -> Operation | None:
    """The operation whose code the loop's thread is in."""
    while frame is not None:
        if frame.f_code is Caller.call.__code__:
            found = frame.f_locals.get("operation")
            return found if isinstance(found, Operation) else None
        frame = frame.f_back
    return None
