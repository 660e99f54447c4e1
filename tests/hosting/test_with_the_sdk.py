"""Our host with our own author's side at the other end of the pipe."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from extensor.contract import Import, ResourceData, Verb
from extensor.errors import ConnectionLost, OperationFailed, ProviderExited
from extensor.hosting import Host, LaunchSpec, LogEntry
from extensor.types import TypeIndex

pytestmark = pytest.mark.anyio
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def vault(tmp_path: Path) -> LaunchSpec:
    return LaunchSpec(
        "vault", (sys.executable, str(PROGRAMS / "vault.py")), tmp_path, {"VAULT": str(tmp_path / "vault.json")}
    )


def secret(name: str) -> ResourceData:
    return ResourceData(Import("vault", "2.0.0"), "secret@1.0", {"name": name, "owner": "me", "password": "hunter2"})


async def test_a_provider_made_with_the_sdk_is_started_called_described_and_stopped(vault: LaunchSpec):
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault, want_version="2.0.0")
            assert (session.name, session.version) == ("vault", "2.1.0")
            saved = await session.call(Verb.SAVE, secret("a"))
            assert saved.properties == {"name": "a", "owner": "me", "length": 7}
            assert saved.identifiers == {"name": "a"}
            (listed,) = await session.list_types()
            assert listed.type == "secret@1.0"
            types = await session.types()
            assert isinstance(types, TypeIndex)
            assert types is await session.types()
            assert await session.is_shown(secret("a"), {"name": "a", "owner": "me", "length": 7})
            assert not await session.is_shown(secret("a"), {"name": "a", "owner": "you", "length": 7})
            with anyio.fail_after(4):  # it leaves when asked: the ladder's second step is at 5
                await session.aclose()
            assert (session.returncode, session.stderr_tail) == (0, "")


async def test_a_get_that_still_shows_a_key_of_a_map_does_not_show_the_save_that_takes_it_out(vault: LaunchSpec):
    wanted = secret("a")
    wanted = ResourceData(wanted.imported, wanted.type, {**wanted.properties, "labels": {"tier": "1"}})
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault)
            assert await session.is_shown(wanted, {"name": "a", "owner": "me", "labels": {"tier": "1"}})
            assert not await session.is_shown(wanted, {"name": "a", "owner": "me", "labels": {"tier": "1", "old": "2"}})


async def test_a_save_with_a_write_only_property_that_was_done_before_the_crash_is_not_done_again(
    vault: LaunchSpec, tmp_path: Path
):
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault)
            saved = await session.perform(Verb.SAVE, secret("once"), budget=60)
    assert saved.properties == {"name": "once", "owner": "me", "length": 7}
    assert json.loads((tmp_path / "vault.json").read_text())["once"]["saves"] == 1
    assert session.starts == 2


async def test_a_crash_shows_its_code(vault: LaunchSpec):
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault)
            with pytest.raises(ProviderExited, match="exited with code 9"):
                await session.call(Verb.SAVE, secret("once"))


async def test_closing_in_the_middle_of_a_call_is_a_clean_end_for_the_provider(vault: LaunchSpec):
    working = anyio.Event()

    async def save() -> None:
        with pytest.raises(ConnectionLost):
            await session.call(Verb.SAVE, secret("forever"))

    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault, on_progress=lambda notice: working.set())
            async with anyio.create_task_group() as group:
                group.start_soon(save)
                await working.wait()
                with anyio.fail_after(4):
                    await session.aclose()
    assert session.returncode == 0
    assert "Traceback" not in session.stderr_tail


async def test_a_bug_in_a_handler_is_an_error_in_the_hosts_log_and_begins_at_the_authors_line(vault: LaunchSpec):
    heard: list[LogEntry] = []
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(vault, on_log=heard.append)
            with pytest.raises(OperationFailed, match="unexpectedly"):
                await session.call(Verb.SAVE, secret("bug"))
            await session.aclose()
    lines = [entry.message for entry in heard if entry.level == "error"]
    assert len(lines) == len(heard)
    assert lines[1].startswith('  File "')
    assert "vault.py" in lines[1]
    assert lines[-1].startswith("ZeroDivisionError: ")


def text(size: int) -> ResourceData:
    return ResourceData(Import("large", "1.0.0"), "text@1.0", {"name": str(size)})


@pytest.mark.reported("W12")
async def test_a_large_answer_arrives_and_one_above_the_limit_is_one_error():
    mib = 1024 * 1024
    with anyio.fail_after(30):
        async with Host() as host:
            session = await host.start(LaunchSpec("large", (sys.executable, str(PROGRAMS / "large.py"))))
            got = await session.call(Verb.GET, text(5 * mib))
            assert got.properties == {"name": str(5 * mib), "text": "é" * (5 * mib)}
            with pytest.raises(OperationFailed, match="larger than 16777216 bytes") as failed:
                await session.call(Verb.GET, text(8 * mib))
            assert failed.value.failure.code == "MessageTooLarge"
            assert (await session.call(Verb.GET, text(1))).properties == {"name": "1", "text": "é"}
            assert session.starts == 1
