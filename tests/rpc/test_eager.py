"""Tasks whose first step is taken at once behave as other tasks do."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from extensor.rpc.eager import start

Work = Callable[[], Coroutine[Any, Any, None]]
number: ContextVar[int] = ContextVar("number", default=0)


def run(main: Work) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(5):
            await main()

    asyncio.run(bounded())


def begin(coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
    return start(asyncio.get_running_loop(), coroutine)


def test_what_waits_for_nothing_is_done_at_once_and_leaves_no_task() -> None:
    async def main() -> None:
        seen: list[str] = []

        async def work() -> None:
            seen.append("done")

        before = asyncio.all_tasks()
        assert begin(work()) is None
        assert seen == ["done"]
        assert asyncio.all_tasks() == before

    run(main)


def test_the_first_step_runs_in_the_task_that_goes_on_with_the_rest() -> None:
    async def main() -> None:
        tasks: list[Any] = []

        async def work() -> None:
            tasks.append(asyncio.current_task())
            await asyncio.sleep(0)
            tasks.append(asyncio.current_task())

        outer = asyncio.current_task()
        task = begin(work())
        assert task is not None
        assert asyncio.current_task() is outer
        assert task in asyncio.all_tasks()
        await task
        assert tasks == [task, task]

    run(main)


def test_a_value_waited_for_comes_through() -> None:
    async def main() -> None:
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        seen: list[int] = []

        async def work() -> None:
            seen.append(await answer)
            seen.append(await asyncio.wait_for(asyncio.sleep(0, 8), 5))

        task = begin(work())
        assert task is not None
        answer.set_result(7)
        await task
        assert seen == [7, 8]

    run(main)


def test_a_failure_is_the_tasks() -> None:
    async def main() -> None:
        async def at_once() -> None:
            raise LookupError("at once")

        async def later() -> None:
            await asyncio.sleep(0)
            raise LookupError("later")

        for work in (at_once, later):
            task = begin(work())
            assert task is not None
            with pytest.raises(LookupError):
                await task

    run(main)


def test_a_cancel_before_the_loops_next_turn_reaches_the_coroutine() -> None:
    async def main() -> None:
        seen: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("canceled")
                raise

        task = begin(work())
        assert task is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["canceled"]

    run(main)


def test_a_coroutine_that_cancels_itself_in_its_first_step_is_canceled_where_it_waits() -> None:
    async def main() -> None:
        seen: list[str] = []

        async def work() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            seen.append("went on")
            await asyncio.sleep(60)

        task = begin(work())
        assert task is not None
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["went on"]

    run(main)


@pytest.mark.parametrize("by", ["another", "itself"])
@pytest.mark.parametrize("gathered", [False, True])
def test_a_cancel_before_the_loops_next_turn_reaches_the_child_that_is_waited_for(by: str, gathered: bool) -> None:
    async def main() -> None:
        seen: list[str] = []

        async def child() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                seen.append("child ended")

        async def work() -> None:
            children = [asyncio.create_task(child()), asyncio.create_task(child())]
            await asyncio.sleep(0)
            await asyncio.wait([asyncio.create_task(wait_for(children))])

        async def wait_for(children: list["asyncio.Task[None]"]) -> None:
            task = begin(waiting(children))
            assert task is not None
            if by == "another":
                task.cancel("enough")
            with pytest.raises(asyncio.CancelledError):
                await task
            seen.append(f"{task.cancelled()}")

        async def waiting(children: list["asyncio.Task[None]"]) -> None:
            if by == "itself":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            await (asyncio.gather(*children) if gathered else children[0])

        await work()
        count = 2 if gathered else 1
        assert seen == [*["child ended"] * count, "True"]

    run(main)


@pytest.mark.parametrize("library", ["asyncio", "anyio"])
def test_a_time_limit_set_in_the_first_step_interrupts_later(library: str) -> None:
    async def main() -> None:
        seen: list[bool] = []

        async def work() -> None:
            if library == "asyncio":
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.01):
                        await asyncio.sleep(60)
            else:
                with anyio.move_on_after(0.01) as scope:
                    await anyio.sleep(60)
                assert scope.cancelled_caught
            seen.append(True)

        task = begin(work())
        assert task is not None
        await task
        assert seen == [True]

    run(main)


def test_a_time_limit_may_also_end_in_the_first_step() -> None:
    async def main() -> None:
        seen: list[bool] = []

        async def work() -> None:
            async def nothing() -> None: ...

            async with asyncio.timeout(60) as limit:
                await nothing()
            seen.append(limit.expired())

        task = begin(work())
        if task is not None:
            await task
        assert seen == [False]

    run(main)


def test_context_variables_stay_inside() -> None:
    async def main() -> None:
        seen: list[int] = []

        async def work() -> None:
            number.set(number.get() + 1)
            await asyncio.sleep(0)
            seen.append(number.get())

        number.set(4)
        tasks = [begin(work()), begin(work())]
        await asyncio.gather(*(task for task in tasks if task is not None))
        assert seen == [5, 5]
        assert number.get() == 4

    run(main)


def test_the_current_task_can_be_asked_for_anything_in_its_first_step() -> None:
    async def main() -> None:
        seen: list[Any] = []

        async def work() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.set_name("mine")
            seen.extend([task.get_name(), task.done(), task.cancelling(), "mine" in repr(task)])

        task = begin(work())
        if task is not None:
            await task
        assert seen == ["mine", False, 0, True]

    run(main)
