"""Locks, deadlines, cancellation, plain functions."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from extensor import Context, Identifier, OperationFailed, Properties, Provider, ResourceHandler, SaveContext
from extensor.authoring.locks import IdentityLocks
from extensor.authoring.loop import poster
from extensor.authoring.threads import Threads
from extensor.rpc.runtime import current_runtime
from extensor.testing import Host, connect

pytestmark = pytest.mark.anyio


class Note(Properties):
    name: Identifier[str]
    text: str = ""


class Gated(ResourceHandler[Note]):
    """Each call waits for a gate of its own name; `inside` are the calls in a handler now."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.most: dict[str, int] = {}
        self.gates: dict[str, anyio.Event] = {}
        self.order: list[str] = []
        self.changed = anyio.Event()

    async def _stay(self, name: str, text: str) -> None:
        self.inside.append(name)
        self.most[name] = max(self.most.get(name, 0), self.inside.count(name))
        self.order.append(f"{name}{text}")
        self.changed.set()
        self.changed = anyio.Event()
        try:
            await self.gates.setdefault(name, anyio.Event()).wait()
        finally:
            self.inside.remove(name)

    async def until(self, count: int) -> None:
        while len(self.inside) < count:
            await self.changed.wait()

    async def save(self, ctx: Context, desired: Note) -> Note:
        await self._stay(desired.name, desired.text)
        return desired

    async def delete(self, ctx: Context, wanted: Note) -> None:
        await self._stay(wanted.name, "-")

    async def get(self, ctx: Context, wanted: Note) -> Note | None:
        return wanted


@asynccontextmanager
async def serving(handler: ResourceHandler[Any]) -> AsyncIterator[Host]:
    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", handler)
    with anyio.fail_after(10):
        async with connect(provider) as host:
            yield host


async def test_one_identity_is_written_by_one_call_at_a_time_and_others_do_not_wait():
    handler = Gated()
    async with serving(handler) as host, anyio.create_task_group() as group:
        for at in range(3):
            group.start_soon(host.save, "note@1.0", {"name": "a", "text": str(at)})
        group.start_soon(host.delete, "NOTE@1.0", {"name": "a"})
        group.start_soon(host.save, "note@1.0", {"name": "b"})
        await handler.until(2)
        assert sorted(handler.inside) == ["a", "b"]
        assert (await host.get("note@1.0", {"name": "a"})).identifiers == {"name": "a"}
        handler.gates["a"].set()
        handler.gates["b"].set()
    assert handler.most == {"a": 1, "b": 1}
    assert sorted(handler.order) == ["a-", "a0", "a1", "a2", "b"]


async def test_a_deadline_ends_the_call_and_frees_its_identity():
    handler = Gated()
    async with serving(handler) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a"}, deadline_seconds=0.05)
        assert failed.value.failure.code == "DeadlineExceeded"
        handler.gates["a"].set()
        assert (await host.save("note@1.0", {"name": "a"})).identifiers == {"name": "a"}


async def test_a_deadline_counts_while_the_call_waits_for_its_turn():
    handler = Gated()
    async with serving(handler) as host, anyio.create_task_group() as group:
        group.start_soon(host.save, "note@1.0", {"name": "a"})
        await handler.until(1)
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a"}, deadline_seconds=0.05)
        assert failed.value.failure.code == "DeadlineExceeded"
        handler.gates["a"].set()
    assert handler.order == ["a"]


async def test_a_timeout_of_the_handlers_own_is_no_deadline(capsys: pytest.CaptureFixture[str]):
    class Impatient(ResourceHandler[Note]):
        async def save(self, ctx: Context, desired: Note) -> Note:
            raise TimeoutError("the service is slow")

    async with serving(Impatient()) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a"}, deadline_seconds=30)
    assert failed.value.failure.code == "InternalError"
    assert "the service is slow" in capsys.readouterr().err


async def test_what_exists_is_told_when_the_deadline_strikes():
    class Slow(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            ctx.record({"name": desired.name})
            await anyio.sleep_forever()
            return desired

    async with serving(Slow()) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a"}, deadline_seconds=0.05)
    assert failed.value.failure.resource == {"identifiers": {"name": "a"}}


class Plain(ResourceHandler[Note]):
    def __init__(self) -> None:
        self.threads: list[int] = []
        self.go_on = threading.Event()
        self.began = threading.Event()
        self.saw_cancel = threading.Event()
        self.order: list[str] = []

    def save(self, ctx: SaveContext, desired: Note) -> Note:
        self.threads.append(threading.get_ident())
        self.order.append(f"begin {desired.text}")
        ctx.progress("half way", 50)
        if desired.text == "slow":
            self.began.set()
            assert self.go_on.wait(10)
            if ctx.canceled:
                self.saw_cancel.set()
        self.order.append(f"end {desired.text}")
        return desired

    def get(self, ctx: Context, wanted: Note) -> Note | None:
        return Note(name=wanted.name, text=ctx.wait(ctx.token(["notes"])))

    def delete(self, ctx: Context, wanted: Note) -> None:
        raise OperationFailed("no", code="Never")


async def test_plain_functions_run_in_threads_and_their_progress_comes_before_the_answer():
    handler = Plain()
    async with serving(handler) as host:
        result = await host.save("note@1.0", {"name": "a", "text": "x"})
        assert host.progress[0]["message"] == "half way"
        assert host.progress[0]["percent"] == 50
        with pytest.raises(OperationFailed) as failed:
            await host.delete("note@1.0", {"name": "a"})
    assert result.properties == {"name": "a", "text": "x"}
    assert failed.value.failure.code == "Never"
    assert threading.get_ident() not in handler.threads


async def test_a_plain_function_may_wait_for_the_host():
    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Plain)
    with anyio.fail_after(10):
        async with connect(provider, tokens={"notes": "t0ken"}) as host:
            assert (await host.get("note@1.0", {"name": "a"})).properties == {"name": "a", "text": "t0ken"}


async def test_a_plain_function_that_outlives_its_call_keeps_its_identity_locked():
    handler = Plain()
    async with serving(handler) as host, anyio.create_task_group() as group:
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a", "text": "slow"}, deadline_seconds=0.05)
        assert failed.value.failure.code == "DeadlineExceeded"
        group.start_soon(host.save, "note@1.0", {"name": "a", "text": "next"})
        assert (await host.save("note@1.0", {"name": "b", "text": "other"})).identifiers == {"name": "b"}
        handler.go_on.set()
    assert handler.saw_cancel.is_set()
    assert handler.order.index("end slow") < handler.order.index("begin next")


async def test_a_plain_function_that_fails_after_its_call_has_ended_is_logged():
    go_on = threading.Event()

    class Late(ResourceHandler[Note]):
        def save(self, ctx: SaveContext, desired: Note) -> Note:
            assert go_on.wait(10)
            raise RuntimeError("too late")

    async with serving(Late()) as host:
        with pytest.raises(OperationFailed):
            await host.save("note@1.0", {"name": "a"}, deadline_seconds=0.05)
        go_on.set()
        while not host.logs:
            await host.peer.call("provider/ping", {})
    assert host.logs[0]["message"] == "Late.save failed after its call had ended: RuntimeError('too late')"


async def test_locks_are_first_come_first_served_and_leave_nothing_behind():
    locks = IdentityLocks(current_runtime())
    order: list[int] = []
    await locks.acquire("x")

    async def take(at: int) -> None:
        await locks.acquire("x")
        order.append(at)
        locks.release("x")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for at in range(4):
                group.start_soon(take, at)
                await anyio.wait_all_tasks_blocked()
            locks.release("x")
    assert order == [0, 1, 2, 3]
    assert len(locks) == 0


async def test_a_lock_given_to_a_canceled_task_goes_to_the_next():
    locks = IdentityLocks(current_runtime())
    await locks.acquire("x")
    got: list[str] = []

    async def take(name: str, scope: anyio.CancelScope) -> None:
        with scope:
            await locks.acquire("x")
            got.append(name)
            locks.release("x")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            first, second, third = anyio.CancelScope(), anyio.CancelScope(), anyio.CancelScope()
            for name, scope in (("first", first), ("second", second), ("third", third)):
                group.start_soon(take, name, scope)
                await anyio.wait_all_tasks_blocked()
            first.cancel()
            await anyio.wait_all_tasks_blocked()
            locks.release("x")  # to the second, which is canceled before it can run
            second.cancel()
    assert got in (["third"], ["second", "third"])
    assert len(locks) == 0


async def test_worker_threads_are_bounded_end_when_idle_and_come_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("extensor.authoring.threads.IDLE_SECONDS", 0.001)
    threads, post, idents = Threads(), poster(), set[int]()
    finished = anyio.Event()
    left = 200

    def done(result: int, error: BaseException | None) -> None:
        def settle() -> None:
            nonlocal left
            idents.add(result)
            left -= 1
            if not left:
                finished.set()

        post(settle)

    with anyio.fail_after(20):
        for _ in range(3):
            finished, left = anyio.Event(), 200
            idents.clear()
            for _ in range(200):
                threads.run(threading.get_ident, done)
            await finished.wait()
            assert 1 <= len(idents) <= 200
            while idents & {thread.ident for thread in threading.enumerate()}:
                await anyio.lowlevel.checkpoint()
