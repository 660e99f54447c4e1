"""The runtime on trio, by way of anyio."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from extensor.contract.json import JsonObject
from extensor.rpc.requests import Request


class EventSlot:
    """See `extensor.rpc.runtime.Slot`."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._result: Any = None
        self._error: Exception | None = None

    def done(self) -> bool:
        """Whether value or error are there."""
        return self._event.is_set()

    def set_result(self, result: Any, /) -> None:
        """Give the value."""
        self._result = result
        self._event.set()

    def set_exception(self, exception: Exception, /) -> None:
        """Give an error."""
        self._error = exception
        self._event.set()

    async def value(self) -> Any:
        """Wait for it."""
        await self._event.wait()
        if self._error is not None:
            raise self._error
        return self._result


class TrioRuntime:
    """See `extensor.rpc.runtime.Runtime`."""

    def slot(self) -> EventSlot:
        """A new slot."""
        return EventSlot()

    async def wait(self, slot: Any, timeout: float | None = None) -> Any:
        """The slot's value, or `TimeoutError`."""
        if timeout is None:
            return await slot.value()
        with anyio.fail_after(timeout):
            return await slot.value()

    @asynccontextmanager
    async def tasks(
        self, on_failure: Callable[[Exception], None], on_left: Callable[[int], None], patience: float
    ) -> AsyncGenerator["TrioTasks"]:
        """A group of tasks, awaited on leaving. None is left: cancellation here comes again at each wait."""
        async with anyio.create_task_group() as group:
            yield TrioTasks(group, on_failure)

    async def guard(self, request: Request, work: Awaitable[JsonObject]) -> JsonObject | None:
        """Await `work`; ``None`` when it was canceled."""
        with anyio.CancelScope() as scope:
            request.bind(scope.cancel)
            return await work
        return None

    def soon(self, callback: Callable[[], None]) -> bool:
        """There is no such thing."""
        return False


class TrioTasks:
    """See `extensor.rpc.runtime.Tasks`."""

    def __init__(self, group: TaskGroup, on_failure: Callable[[Exception], None]) -> None:
        self._group = group
        self._on_failure = on_failure

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Callable[[], None]:
        """Start a task; the returned function cancels it."""
        scope = anyio.CancelScope()
        self._group.start_soon(self._run, scope, work, args)
        return scope.cancel

    async def _run(self, scope: anyio.CancelScope, work: Callable[..., Coroutine[Any, Any, None]], args: Any) -> None:
        with scope:
            try:
                await work(*args)
            except Exception as error:
                self._on_failure(error)
