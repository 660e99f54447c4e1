"""The runtime on asyncio: futures and tasks, nothing of anyio's."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from extensor.contract.json import JsonObject
from extensor.rpc.requests import Request


class AsyncioRuntime:
    """See `extensor.rpc.runtime.Runtime`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def slot(self) -> asyncio.Future[Any]:
        """A new slot."""
        return self._loop.create_future()

    async def wait(self, slot: Any, timeout: float | None = None) -> Any:
        """The slot's value, or `TimeoutError`."""
        if timeout is None:
            return await slot
        timer = self._loop.call_later(timeout, _expire, slot)
        try:
            return await slot
        finally:
            timer.cancel()

    @asynccontextmanager
    async def tasks(self, on_failure: Callable[[Exception], None]) -> AsyncGenerator["AsyncioTasks"]:
        """A group of tasks, awaited on leaving."""
        group = AsyncioTasks(self._loop, on_failure)
        try:
            yield group
        finally:
            await group.join()

    async def guard(self, request: Request, work: Awaitable[JsonObject]) -> JsonObject | None:
        """Await `work`; ``None`` when it was canceled."""
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or (task.cancelling() and not request.canceled):
                raise
            task.uncancel()
            return None

    def soon(self, callback: Callable[[], None]) -> bool:
        """Call back in the loop's next turn."""
        self._loop.call_soon(callback)
        return True


class AsyncioTasks:
    """See `extensor.rpc.runtime.Tasks`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_failure: Callable[[Exception], None]) -> None:
        self._loop = loop
        self._on_failure = on_failure
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Callable[[], object]:
        """Start a task; the returned function cancels it."""
        task = self._loop.create_task(work(*args))
        self._running.add(task)
        task.add_done_callback(self._done)
        return task.cancel

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            if not isinstance(error, Exception):
                raise error
            self._on_failure(error)

    async def join(self) -> None:
        """Wait for all tasks, also while the caller is being canceled."""
        interrupted: asyncio.CancelledError | None = None
        with _anyio_shield():
            while self._running:
                try:
                    await asyncio.wait(self._running)
                except asyncio.CancelledError as error:
                    interrupted = error
        if interrupted is not None:
            raise interrupted


def _anyio_shield() -> Any:
    # A scope of anyio cancels again and again while its task waits; without its backend there are no such scopes.
    if "anyio._backends._asyncio" not in sys.modules:
        return nullcontext()
    import anyio

    return anyio.CancelScope(shield=True)


def _expire(slot: "asyncio.Future[Any]") -> None:
    if not slot.done():
        slot.set_exception(TimeoutError())
