"""The seam between a plan and whatever runs it.

An executor gets the graph and a function that performs one node. It may run them in this process, as the default does,
or ship the node's name and the plan to workers on other hosts: neither holds anything that belongs to a process.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

import anyio
import anyio.abc

from extensor.engine.graph import Graph
from extensor.engine.scheduler import Schedule

Perform: TypeAlias = Callable[[str], Awaitable[bool]]
"""Performs one node and says whether it ended well; it records failures itself."""

OnSkipped: TypeAlias = Callable[[str, str], None]
"""Told of each node that is skipped, and of the node whose failure is the cause."""


class Executor(Protocol):
    """Runs a graph's nodes in dependency order."""

    async def run(
        self, graph: Graph, perform: Perform, *, on_skipped: OnSkipped, stop: anyio.Event | None = None
    ) -> tuple[str, ...]:
        """Perform every node whose dependencies succeeded; return those that were not started because of `stop`."""
        ...


class InProcessExecutor:
    """Runs nodes as tasks of this process, at most `parallelism` at once.

    After `stop` nothing new starts; what runs has `grace` seconds to end and is then canceled.
    """

    def __init__(self, parallelism: int, grace: float) -> None:
        self._parallelism = max(1, parallelism)
        self._grace = grace

    async def run(
        self, graph: Graph, perform: Perform, *, on_skipped: OnSkipped, stop: anyio.Event | None = None
    ) -> tuple[str, ...]:
        """See `Executor.run`."""
        schedule = Schedule(graph)

        async def one(name: str) -> None:
            if await perform(name):
                schedule.succeed(name)
            else:
                for skipped, cause in schedule.fail(name):
                    on_skipped(skipped, cause)
            fill()

        def fill() -> None:
            while len(schedule.running) < self._parallelism and not (stop is not None and stop.is_set()):
                name = schedule.take()
                if name is None:
                    return
                tasks.start_soon(one, name)

        async with anyio.create_task_group() as watch:
            async with anyio.create_task_group() as tasks:
                if stop is not None:
                    watch.start_soon(self._stop, stop, tasks)
                fill()
            watch.cancel_scope.cancel()
        return schedule.remaining

    async def _stop(self, stop: anyio.Event, tasks: anyio.abc.TaskGroup) -> None:
        await stop.wait()
        with anyio.move_on_after(self._grace):
            await anyio.sleep_forever()
        tasks.cancel_scope.cancel()
