"""The waits between two tries of a call, which a stop ends at once: no request is on its way then."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from extensor.errors import ExtensorError
from extensor.hosting.notices import RetryNotice


class Interrupted(ExtensorError):
    """A call was stopped between two tries."""


class Pause:
    """What is known of one call's tries: how the last one failed, and how long nothing is on its way."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.notice: RetryNotice | None = None
        self.unclear = False
        """Whether one of its tries may have taken effect."""
        self._until = 0.0

    def begin(self, notice: RetryNotice) -> None:
        """A try has failed, and no other begins before the notice's delay is over."""
        self.notice = notice
        self.unclear = self.unclear or notice.next == "look"
        self._until = anyio.current_time() + notice.delay

    def interrupt(self) -> None:
        """End the wait if it surely goes on."""
        if anyio.current_time() < self._until:
            self.scope.cancel()


class Pauses:
    """The calls of a run that may be waiting."""

    def __init__(self) -> None:
        self.stopping = False
        self._open: set[Pause] = set()

    def enter(self) -> Pause:
        """A call begins."""
        pause = Pause()
        self._open.add(pause)
        return pause

    def leave(self, pause: Pause) -> None:
        """A call has ended."""
        self._open.discard(pause)

    def interrupt(self) -> None:
        """End every wait now, and let none begin."""
        self.stopping = True
        for pause in self._open:
            pause.interrupt()

    @asynccontextmanager
    async def until(self, stop: anyio.Event | None) -> AsyncGenerator[None]:
        """While this lasts, the event ends the waits."""
        if stop is None:
            yield
            return

        async def watch(event: anyio.Event) -> None:
            await event.wait()
            self.interrupt()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, stop)
            yield
            tasks.cancel_scope.cancel()
