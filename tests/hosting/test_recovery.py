"""Real providers that die or throttle under `perform`."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import anyio
import pytest

from extensor.contract import ResourceData, ResourceResult, Verb
from extensor.errors import ProviderExited
from extensor.hosting import Clock, Host, LaunchSpec, RetryNotice

pytestmark = pytest.mark.anyio
Program = Callable[..., LaunchSpec]
Note = Callable[..., ResourceData]


class HandClock(Clock, Protocol):
    """What the fixture `clock` gives."""

    slept: list[float]


def calls(state: Path) -> list[str]:
    return json.loads(state.read_text())["calls"]


async def test_a_save_that_was_done_before_the_crash_is_not_done_again(
    program: Program, note: Note, tmp_path: Path, clock: HandClock
):
    heard: list[RetryNotice] = []
    state = tmp_path / "state"
    with anyio.fail_after(20):
        async with Host(clock=clock) as host:
            session = await host.start(program("dies_in_save", state, 1, "done"))
            result = await session.perform(Verb.SAVE, note("n", text="t"), budget=60, on_retry=heard.append)
    assert result.properties == {"name": "n", "text": "t", "words": 3}
    assert calls(state) == ["save", "get"]
    assert session.starts == 2
    assert [(notice.code, notice.next) for notice in heard] == [("ProviderExited", "look")]
    assert "panic while saving n" in heard[0].message


async def test_a_save_that_was_not_done_before_the_crash_is_done_after_a_look(
    program: Program, note: Note, tmp_path: Path, clock: HandClock
):
    state = tmp_path / "state"
    with anyio.fail_after(20):
        async with Host(clock=clock) as host:
            session = await host.start(program("dies_in_save", state, 1, "undone"))
            result = await session.perform(Verb.SAVE, note("n", text="t"), budget=60)
    assert result.properties == {"name": "n", "text": "t"}
    assert calls(state) == ["save", "get", "save"]


async def test_a_save_that_ends_its_provider_each_time_fails_with_the_exit_and_the_outcome(
    program: Program, note: Note, tmp_path: Path, clock: HandClock
):
    state = tmp_path / "state"
    with anyio.fail_after(20):
        async with Host(clock=clock) as host:
            session = await host.start(program("dies_in_save", state, 99, "undone"))
            with pytest.raises(ProviderExited, match=r"code 3(.|\n)*no such note; it was not saved again"):
                await session.perform(Verb.SAVE, note("n"), budget=600)
    assert calls(state) == ["save", "get"] * 3


async def test_saves_beside_the_one_that_ends_the_provider_get_through(
    program: Program, note: Note, tmp_path: Path, clock: HandClock
):
    saved: list[ResourceResult] = []
    failed: list[ProviderExited] = []

    async def save(name: str) -> None:
        try:
            saved.append(await session.perform(Verb.SAVE, note(name), budget=6000))
        except ProviderExited as error:
            failed.append(error)

    with anyio.fail_after(60):
        async with Host(clock=clock) as host:
            session = await host.start(program("one_is_fatal", tmp_path / "state"))
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(save, f"n{number}")
                group.start_soon(save, "fatal")
    assert len(failed) == 1
    assert sorted(result.identifiers["name"] for result in saved) == [f"n{number}" for number in range(8)]


async def test_a_provider_killed_in_the_middle_of_a_save_is_asked_before_the_save_is_repeated(
    program: Program, note: Note, tmp_path: Path
):
    journal = tmp_path / "journal"
    with anyio.fail_after(20):
        async with Host() as host:
            session = await host.start(program("notes", "--state", tmp_path / "state", "--journal", journal))
            assert session.pid is not None
            os.kill(session.pid, signal.SIGSTOP)  # the save is sent, and nobody takes it
            async with anyio.create_task_group() as group:
                group.start_soon(kill_when_sent, session.pid, group)
                await session.perform(Verb.SAVE, note("n"), budget=60)
    methods = [json.loads(line)["method"] for line in journal.read_text().splitlines()]
    assert methods == ["provider/initialize", "provider/initialize", "resource/get", "resource/save"]


async def kill_when_sent(pid: int, group: anyio.abc.TaskGroup) -> None:
    await anyio.wait_all_tasks_blocked()
    os.kill(pid, signal.SIGKILL)


@pytest.mark.reported("E04", "E07")
@pytest.mark.parametrize("verb", Verb)
async def test_throttling_is_waited_out_over_the_wire_for_every_verb(
    verb: Verb, program: Program, note: Note, clock: HandClock
):
    with anyio.fail_after(10):
        async with Host(clock=clock) as host:
            session = await host.start(program("throttles"))
            await session.perform(verb, note("n"), budget=60)
    assert len(clock.slept) == 2
    assert min(clock.slept) >= 2


async def test_a_provider_that_died_while_idle_is_started_again_without_a_word(
    program: Program, note: Note, tmp_path: Path
):
    heard: list[RetryNotice] = []
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes", "--state", tmp_path / "state"))
            assert session.pid is not None
            os.kill(session.pid, signal.SIGKILL)
            while session.pid is not None:
                await anyio.lowlevel.checkpoint()
            await session.perform(Verb.SAVE, note("n"), budget=60, on_retry=heard.append)
    assert session.starts == 2
    assert heard == []
