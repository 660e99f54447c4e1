"""What the author's side needs of an event loop, asyncio's or trio's, without importing anyio's backend for it.

A provider's process runs asyncio; its tests may run either. See `extensor.rpc.runtime` for the price of that backend.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from extensor.authoring import log
from extensor.rpc.runtime import under_trio

R = TypeVar("R")
Post = Callable[[Callable[[], object]], object]
"""Runs a callback on an event loop's thread, from any thread. Raises `RuntimeError` when the loop has ended."""


def poster() -> Post:
    """The way into the running loop from other threads."""
    if under_trio():
        return sys.modules["trio"].lowlevel.current_trio_token().run_sync_soon
    return asyncio.get_running_loop().call_soon_threadsafe


@asynccontextmanager
async def limit(seconds: float) -> AsyncGenerator[None]:
    """Interrupt the block after `seconds`. Raises `Elapsed` when that ended it."""
    if under_trio():
        import anyio

        with anyio.move_on_after(seconds) as scope:
            yield
        if scope.cancelled_caught:
            raise Elapsed
        return
    timeout = asyncio.timeout(seconds)
    try:
        async with timeout:
            yield
    except TimeoutError:
        if timeout.expired():
            raise Elapsed from None
        raise


_tasks: set["asyncio.Task[None]"] = set()


def spawn(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run something beside everything else. It must not raise."""
    if under_trio():
        sys.modules["trio"].lowlevel.spawn_system_task(work)
        return
    task = asyncio.get_running_loop().create_task(work())
    _tasks.add(task)  # the loop itself keeps no reference
    task.add_done_callback(_tasks.discard)


def is_canceled() -> bool:
    """Whether someone has canceled the running task, other than by an exception that went through it."""
    if under_trio():
        return True
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def must_pass(error: BaseException) -> bool:
    """Whether an exception out of a handler is none of its own: a cancellation, the end of its coroutine, Ctrl-C.

    Everything else that a handler raises is its failure, `SystemExit` and whatever derives from `BaseException` too.
    """
    if isinstance(error, Exception):
        return False
    if under_trio():
        return _is_trios(error)
    if isinstance(error, asyncio.CancelledError):
        return is_canceled()
    if isinstance(error, GeneratorExit):
        return _current_task() is None  # who closes a coroutine does so from outside of tasks
    if isinstance(error, KeyboardInterrupt):
        return signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else the process has another use for it
    return False


def _is_trios(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_is_trios(inner) for inner in error.exceptions)
    return isinstance(error, sys.modules["trio"].Cancelled | KeyboardInterrupt)


def _current_task() -> object | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def run_to_end(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `main` on an event loop of its own until it is done, whatever handlers do to the loop.

    A task that a handler made may raise `SystemExit`, and a handler may stop the loop: neither is the end of a process
    that serves others too.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(main())
        while True:
            try:
                loop.run_until_complete(task)
            except (SystemExit, KeyboardInterrupt) as error:
                if task.done():
                    raise
                log.write("error", f"{type(error).__name__} in a task of the provider's does not end the process")
            except RuntimeError as error:
                if task.done():
                    raise
                log.write("error", f"something of the provider's stopped the event loop: {error}")
            else:
                return


class Elapsed(Exception):
    """The time of a `limit` ran out."""


def wait_from_thread(awaitable: Awaitable[R], post: Post) -> R:
    """Run an awaitable on the loop behind `post` and wait for it in this thread, which is another one."""
    import threading

    done = threading.Event()
    box: dict[str, Any] = {}

    async def work() -> None:
        try:
            box["result"] = await awaitable
        except BaseException as error:
            box["error"] = error
            raise
        finally:
            done.set()

    def start() -> None:
        if under_trio():
            sys.modules["trio"].lowlevel.spawn_system_task(_quietly, work)
        else:
            box["task"] = asyncio.ensure_future(work())
            box["task"].add_done_callback(_retrieve)

    post(start)
    done.wait()
    if "error" in box:
        raise box["error"]
    return box["result"]


async def _quietly(work: Callable[[], Awaitable[None]]) -> None:
    with suppress(Exception):  # `wait_from_thread` raises it where it is waited for
        await work()


def _retrieve(task: "asyncio.Future[None]") -> None:
    if not task.cancelled():
        task.exception()
