"""How providers end: by themselves, killed, asked, made to; and what their callers and the machine see of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import psutil
import pytest

from extensor.contract import ResourceData, Verb
from extensor.errors import ConnectionLost, ProviderExited, StartFailed
from extensor.hosting import Host, LaunchSpec, ProviderSession, StopLadder

pytestmark = pytest.mark.anyio
Program = Callable[..., LaunchSpec]
Note = Callable[..., ResourceData]
PROGRAMS = Path(__file__).parent / "programs"
QUICK = StopLadder(0.2, 0.2, 2.0)


async def failure_of(call: Awaitable[object], into: list[BaseException]) -> None:
    try:
        await call
    except Exception as error:
        into.append(error)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(pid: int) -> None:
    """Another program's end gives us no event."""
    while is_running(pid):  # noqa: ASYNC110
        await anyio.sleep(0.01)


@pytest.mark.reported("W15")
async def test_all_pending_calls_fail_within_a_second_with_exit_code_and_stderr(
    program: Program, note: Note, tmp_path: Path
):
    errors: list[BaseException] = []
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("dies_in_save", tmp_path / "state", 1, "undone"))
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(failure_of, session.call(Verb.SAVE, note("patient")), errors)
                await anyio.wait_all_tasks_blocked()
                with anyio.fail_after(1 + 1):  # a second, and one for a loaded machine
                    await failure_of(session.call(Verb.SAVE, note("fatal")), errors)
    assert len(errors) == 3
    for error in errors:
        assert isinstance(error, ProviderExited)
        assert error.returncode == 3
        assert "panic while saving fatal" in str(error)


@pytest.mark.reported("W15")
async def test_a_killed_provider_is_reported_with_its_signal(program: Program, note: Note):
    errors: list[BaseException] = []
    started = anyio.Event()
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("slow"), on_progress=lambda notice: started.set())
            async with anyio.create_task_group() as group:
                group.start_soon(failure_of, session.call(Verb.SAVE, note()), errors)
                await started.wait()
                assert session.pid is not None
                os.kill(session.pid, signal.SIGKILL)
    (error,) = errors
    assert isinstance(error, ProviderExited)
    assert error.returncode == -signal.SIGKILL
    assert "SIGKILL" in str(error)


async def test_the_next_call_after_a_death_starts_the_provider_again(program: Program, note: Note, tmp_path: Path):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("dies_in_save", tmp_path / "state", 1, "undone"))
            with pytest.raises(ProviderExited):
                await session.call(Verb.SAVE, note("a"))
            assert session.pid is None
            assert (await session.call(Verb.SAVE, note("a"))).properties == {"name": "a"}
            assert session.starts == 2


@pytest.mark.reported("W16")
async def test_a_provider_that_ignores_everything_is_killed_in_bounded_time(program: Program):
    with anyio.fail_after(10):
        async with Host(ladder=QUICK) as host:
            session = await host.start(program("stubborn"))
            pid = session.pid
            assert pid is not None
            with anyio.fail_after(QUICK.total):
                await session.aclose()
            assert not is_running(pid)


async def test_a_provider_that_ignores_the_end_of_its_input_gets_sigterm_before_sigkill(
    program: Program, tmp_path: Path
):
    with anyio.fail_after(10):
        async with Host(ladder=StopLadder(0.2, 5.0, 1.0)) as host:
            session = await host.start(program("wants_sigterm", tmp_path / "seen"))
            await session.aclose()
    assert (tmp_path / "seen").read_text() == "terminated"


async def test_a_polite_provider_is_only_asked(program: Program):
    with anyio.fail_after(4):  # less than the first step of the ladder
        async with Host() as host:
            session = await host.start(program("notes"))
            await session.aclose()
            await session.aclose()


async def test_leaving_the_host_stops_all_providers_at_the_same_time(program: Program):
    pids: list[int | None] = []
    ladder = StopLadder(0.5, 0.5, 2.0)
    with anyio.fail_after(10):
        async with Host(ladder=ladder) as host:
            sessions = [await host.start(program("stubborn")) for _ in range(4)]
            pids += [session.pid for session in sessions]
            with anyio.fail_after(4 * (0.5 + 0.5) - 0.5):
                await host.aclose()
    assert not any(pid is not None and is_running(pid) for pid in pids)


async def test_a_grandchild_that_holds_the_pipes_does_not_delay_the_news_and_does_not_stay(
    program: Program, note: Note, tmp_path: Path
):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("has_grandchild", tmp_path / "pid"))
            with anyio.fail_after(2), pytest.raises(ProviderExited, match="leaving my child alone") as caught:
                await session.call(Verb.SAVE, note())
            assert caught.value.returncode == 4
            await gone(int((tmp_path / "pid").read_text()))


async def test_a_grandchild_is_stopped_with_its_provider(program: Program, tmp_path: Path):
    with anyio.fail_after(10):
        async with Host(ladder=QUICK) as host:
            session = await host.start(program("has_grandchild", tmp_path / "pid"))
            await session.aclose()
            await gone(int((tmp_path / "pid").read_text()))


async def test_a_descendant_that_left_the_group_and_holds_the_pipes_does_not_delay_the_news(
    program: Program, note: Note, tmp_path: Path
):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("escaped_grandchild", tmp_path / "pid"))
            with anyio.fail_after(2), pytest.raises(ProviderExited) as caught:
                await session.call(Verb.SAVE, note())
            assert caught.value.returncode == 4
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_a_provider_that_closes_its_output_and_runs_on_is_reported_and_ended(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("closes_stdout"))
            pid = session.pid
            assert pid is not None
            with anyio.fail_after(2), pytest.raises(ConnectionLost, match=r"ran on(.|\n)*no more from me") as caught:
                await session.call(Verb.SAVE, note())
            assert not isinstance(caught.value, ProviderExited)
            await gone(pid)


async def test_closing_a_session_fails_its_pending_calls_and_later_ones(program: Program, note: Note):
    errors: list[BaseException] = []
    started = anyio.Event()
    with anyio.fail_after(10):
        async with Host(ladder=QUICK) as host:
            session = await host.start(program("slow"), on_progress=lambda notice: started.set())
            async with anyio.create_task_group() as group:
                group.start_soon(failure_of, session.call(Verb.SAVE, note()), errors)
                await started.wait()
                await session.aclose()
            with pytest.raises(ConnectionLost, match="is closed"):
                await session.call(Verb.SAVE, note())
    assert [str(error) for error in errors] == ["the session with provider slow was closed before the answer came"]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_handles_close_in_any_order_from_any_task(program: Program, order: tuple[int, ...]):
    sessions: list[ProviderSession] = []

    async def start(host: Host) -> None:
        sessions.append(await host.start(program("notes")))

    with anyio.fail_after(20):
        async with Host() as host:
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(start, host)
            for number in order:
                async with anyio.create_task_group() as group:
                    group.start_soon(sessions[number].aclose)
                for other in order[order.index(number) + 1 :]:
                    await sessions[other].ping()


async def test_an_error_in_the_hosts_body_comes_out_as_itself(program: Program):
    async def body() -> None:
        async with Host() as host:
            await host.start(program("notes"))
            raise ZeroDivisionError

    with anyio.fail_after(10), pytest.raises(ZeroDivisionError):
        await body()


async def test_a_canceled_body_still_leaves_no_process(program: Program):
    pid: int | None = None
    with anyio.fail_after(10):
        with anyio.CancelScope() as scope:
            async with Host(ladder=QUICK) as host:
                pid = (await host.start(program("stubborn"))).pid
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
    assert pid is not None
    assert not is_running(pid)


async def test_no_descriptor_is_left_open(program: Program):
    with anyio.fail_after(20):
        async with Host() as host:
            await (await host.start(program("notes"))).aclose()
            before = psutil.Process().num_fds()
            for _ in range(5):
                await (await host.start(program("notes"))).aclose()
            assert psutil.Process().num_fds() == before


async def test_without_process_descriptors_the_exit_is_seen_all_the_same(
    program: Program, note: Note, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("has_grandchild", tmp_path / "pid"))
            with pytest.raises(ProviderExited, match="code 4"):
                await session.call(Verb.SAVE, note())
            await gone(int((tmp_path / "pid").read_text()))


async def test_a_session_closed_while_its_provider_starts_leaves_no_process(program: Program):
    errors: list[BaseException] = []
    with anyio.fail_after(10):
        async with Host() as host:
            session = host.lazy(program("silent"))
            async with anyio.create_task_group() as group:
                group.start_soon(failure_of, session.start(), errors)
                while session.pid is None:
                    await anyio.lowlevel.checkpoint()
                pid = session.pid
                await session.aclose()
                assert not is_running(pid)
    assert "was closed" in str(errors[0])


HOST_PROGRAM = """
import anyio, sys
from extensor.hosting import Host, LaunchSpec

async def main():
    async with Host() as host:
        session = await host.start(LaunchSpec("notes", (sys.executable, sys.argv[1])))
        print(session.pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def test_a_host_that_is_killed_leaves_no_provider_behind():
    with subprocess.Popen(
        [sys.executable, "-c", HOST_PROGRAM, str(PROGRAMS / "notes.py")], stdout=subprocess.PIPE
    ) as host:
        assert host.stdout is not None
        provider = psutil.Process(int(host.stdout.readline()))
        host.kill()
        provider.wait(5)
    assert host.returncode == -signal.SIGKILL


async def test_starts_that_fail_leave_no_descriptor_open(program: Program):
    async with Host() as host:
        with pytest.raises(StartFailed):
            await host.start(program("dies_on_start"))
        before = psutil.Process().num_fds()
        for spec in (program("dies_on_start"), LaunchSpec("gone", ("/no/such/program",))) * 3:
            with pytest.raises(StartFailed):
                await host.start(spec)
        assert psutil.Process().num_fds() == before


async def test_no_more_calls_are_sent_at_once_than_the_provider_takes(program: Program, note: Note):
    most = 0

    async def save(session: ProviderSession) -> None:
        nonlocal most
        result = await session.call(Verb.SAVE, note())
        assert result.properties is not None
        most = max(most, int(result.properties["running"]))

    with anyio.fail_after(20):
        async with Host() as host:
            session = await host.start(program("two_at_once"))
            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(save, session)
    assert most == 2
