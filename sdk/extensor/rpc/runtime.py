"""The few things a peer needs of an event loop, in one shape for asyncio and trio.

On asyncio they are its own futures and tasks, because anyio's backend costs 40 to 60 ms to import and its task groups
ten times as much as a task; everywhere else they are anyio's.
"""

import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from extensor.contract.json import JsonObject
from extensor.rpc.requests import Request


class Slot(Protocol):
    """One value to come. `asyncio.Future` is one."""

    def done(self) -> bool:
        """Whether value or error are there."""
        ...

    def set_result(self, result: Any, /) -> None:
        """Give the value."""
        ...

    def set_exception(self, exception: Exception, /) -> None:
        """Give an error, raised where the value is awaited."""
        ...


class Tasks(Protocol):
    """The tasks of one connection."""

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> Callable[[], object]:
        """Start a task; the returned function cancels it."""
        ...


class Runtime(Protocol):
    """An event loop."""

    def slot(self) -> Slot:
        """A new slot."""
        ...

    async def wait(self, slot: Slot, timeout: float | None = None) -> Any:
        """The slot's value. Raises `TimeoutError` after `timeout` seconds; the slot's value may still come then."""
        ...

    def tasks(
        self, on_failure: Callable[[Exception], None], on_left: Callable[[int], None], patience: float
    ) -> AbstractAsyncContextManager[Tasks]:
        """A group of tasks, awaited on leaving. An exception out of one goes to `on_failure`.

        Where a task can swallow its cancellation it is waited for at most `patience` seconds; then `on_left` gets the
        number of those that go on alone.
        """
        ...

    async def guard(self, request: Request, work: Awaitable[JsonObject]) -> JsonObject | None:
        """Await `work` so that `request.cancel` interrupts it; ``None`` when it was cancelled."""
        ...

    def soon(self, callback: Callable[[], None]) -> bool:
        """Call back when this turn of the loop is done; false when the loop offers no such thing."""
        ...


def under_trio() -> bool:
    """Whether the running task is trio's. Imports nothing."""
    trio = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_task()


def current_runtime() -> Runtime:
    """The runtime of the running loop."""
    if under_trio():
        from extensor.rpc.on_trio import TrioRuntime

        return TrioRuntime()
    from extensor.rpc.on_asyncio import AsyncioRuntime

    return AsyncioRuntime()
