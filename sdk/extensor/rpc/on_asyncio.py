"""The runtime on asyncio: futures and tasks, nothing of anyio's."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from extensor.contract.json import JsonObject
from extensor.rpc.eager import start
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
    async def tasks(
        self, on_failure: Callable[[Exception], None], on_left: Callable[[int], None], patience: float
    ) -> AsyncGenerator["AsyncioTasks"]:
        """A group of tasks, awaited on leaving, at most so long."""
        group = AsyncioTasks(self._loop, on_failure)
        try:
            yield group
        finally:
            left = await group.join(patience)
            if left:
                on_left(left)

    async def guard(self, request: Request, work: Awaitable[JsonObject]) -> JsonObject | None:
        """Await `work`; ``None`` when it was canceled, by the request or by itself."""
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None:
                raise
            while task.uncancel():
                pass
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
        self._running: dict[object, asyncio.Task[None]] = {}

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Callable[[], object]:
        """Start a task, whose first step is taken before this returns; the returned function cancels it."""
        key = object()
        task = start(self._loop, self._run(key, work, args))
        if task is None:
            return _nothing
        self._running[key] = task
        return task.cancel

    async def _run(self, key: object, work: Callable[..., Coroutine[Any, Any, None]], args: Any) -> None:
        # A task that strikes itself off saves the loop a turn for its done callback.
        try:
            await work(*args)
        except Exception as error:
            self._on_failure(error)
        finally:
            self._running.pop(key, None)

    async def join(self, patience: float) -> int:
        """Wait for all tasks, also while the caller is being canceled; how many had not ended after `patience` seconds.

        Those go on by themselves: a task that swallows its cancellation cannot be ended.
        """
        interrupted: asyncio.CancelledError | None = None
        end = self._loop.time() + patience
        with _anyio_shield():
            while self._running and (left := end - self._loop.time()) > 0:
                try:
                    await asyncio.wait(self._running.values(), timeout=left)
                except asyncio.CancelledError as error:
                    interrupted = error
                # A task cancelled before its first step never came to strike itself off.
                self._running = {key: task for key, task in self._running.items() if not task.done()}
        for task in self._running.values():
            _left.add(task)  # the loop itself keeps no reference
            task.add_done_callback(_left.discard)
        if interrupted is not None:
            raise interrupted
        return len(self._running)


_left: set["asyncio.Task[None]"] = set()


def _nothing() -> None: ...


def _anyio_shield() -> Any:
    # A scope of anyio cancels again and again while its task waits; without its backend there are no such scopes.
    if "anyio._backends._asyncio" not in sys.modules:
        return nullcontext()
    import anyio

    return anyio.CancelScope(shield=True)


def _expire(slot: "asyncio.Future[Any]") -> None:
    if not slot.done():
        slot.set_exception(TimeoutError())
