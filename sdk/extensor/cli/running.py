"""Running the engine under a person's hand: the first Ctrl-C stops in good order, the second at once."""

import os
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.abc

from extensor.cli.console import Console
from extensor.cli.exits import Exit
from extensor.cli.failures import single
from extensor.cli.progress import Progress

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REFRESH_SECONDS = 0.25
"""How often the status line's clock moves on."""


def run_engine(
    work: Callable[[anyio.Event], Awaitable[T]], console: Console, progress: Progress, *, graceful: bool
) -> T:
    """Run `work` to its end and return what it returns; an exception comes out as itself, not in a group.

    On SIGINT, SIGTERM or SIGHUP a `graceful` work's event is set and it is waited for; any other is canceled and
    `KeyboardInterrupt` raised. A second signal ends the process there and then, with `Exit.INTERRUPTED`.
    """
    try:
        return anyio.run(_run, work, console, progress, graceful)
    except BaseExceptionGroup as error:
        inner = single(error)
        if inner is error:
            raise
        raise inner from inner.__cause__
    finally:
        console.clear()


async def _run(work: Callable[[anyio.Event], Awaitable[T]], console: Console, progress: Progress, graceful: bool) -> T:
    stop = anyio.Event()
    results: list[T] = []
    async with anyio.create_task_group() as tasks:
        await tasks.start(_watch, stop, console, graceful, tasks.cancel_scope)
        if console.lively:
            tasks.start_soon(_tick, progress)
        results.append(await work(stop))
        tasks.cancel_scope.cancel()
    if not results:
        raise KeyboardInterrupt
    return results[0]


async def _watch(
    stop: anyio.Event,
    console: Console,
    graceful: bool,
    scope: anyio.CancelScope,
    *,
    task_status: anyio.abc.TaskStatus[None],
) -> None:
    with anyio.open_signal_receiver(*_SIGNALS) as received:
        task_status.started()
        async for _ in received:
            for number in _SIGNALS:
                signal.signal(number, _leave)
            if graceful:
                console.line("Stopping: nothing new begins, what runs may end. Ctrl-C again stops at once.")
                stop.set()
            else:
                scope.cancel()
            break
        await anyio.sleep_forever()


async def _tick(progress: Progress) -> None:
    while True:
        await anyio.sleep(_REFRESH_SECONDS)
        progress.refresh()


def _leave(number: int, frame: object) -> None:
    os._exit(Exit.INTERRUPTED)
