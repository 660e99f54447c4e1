"""The state file and its lock."""

import sqlite3
import subprocess
import sys
import textwrap

import anyio
import pytest

from extensor.engine.lock import StackLock
from extensor.engine.records import ProviderRecord, Record
from extensor.engine.show import show
from extensor.engine.state import open_stack, read_stack, stacks
from extensor.errors import StateError

PROVIDER = ProviderRecord(0, "boxes", "1.0.0", None, "..", {"place": "here"})


def a_record(state, name: str, **more) -> Record:
    provider = state.provider(PROVIDER)
    return Record(state.new_id(), name, "box@1.0", provider.id, {"name": name}, {"name": name}, "Saving", **more)


@pytest.mark.anyio
async def test_records_come_back_as_they_were_written(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    record = a_record(state, "naïve 日本 🚀", depends_on=("a", "b"), note="n", sequence=3, config_id="c", made=False)
    await state.write(record)
    state.close()
    (found,) = read_stack(tmp_path, "main").records
    for name in (
        "id",
        "symbol",
        "wanted",
        "identifiers",
        "status",
        "made",
        "config_id",
        "note",
        "depends_on",
        "sequence",
    ):
        assert getattr(found, name) == getattr(record, name)


@pytest.mark.anyio
async def test_records_that_become_due_together_share_a_transaction(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    records = [a_record(state, f"r{index}") for index in range(50)]
    statements: list[str] = []
    state._connection.set_trace_callback(statements.append)
    async with anyio.create_task_group() as tasks:
        for record in records:
            tasks.start_soon(state.write, record)
    assert statements.count("BEGIN IMMEDIATE") < 5
    state.close()
    assert len(read_stack(tmp_path, "main").records) == 50


@pytest.mark.anyio
async def test_stacks_in_one_folder_do_not_see_each_other(tmp_path) -> None:
    one, two = open_stack(tmp_path, "one"), open_stack(tmp_path, "two")
    await one.write(a_record(one, "a"))
    await two.write(a_record(two, "b"))
    one.begin("1", "deploy", "")
    two.begin("2", "deploy", "")
    one.close()
    two.close()
    assert [record.symbol for record in read_stack(tmp_path, "one").records] == ["a"]
    assert stacks(tmp_path) == ("one", "two")


@pytest.mark.anyio
async def test_a_write_that_fails_says_so_to_everyone_who_waits(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    record = a_record(state, "a")
    state._connection.execute("DROP TABLE resources")
    with pytest.raises(StateError):
        await state.write(record)
    state.close()


def test_the_state_is_for_its_owner_only(tmp_path) -> None:
    open_stack(tmp_path / "state", "main").close()
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    assert (tmp_path / "state" / "state.db").stat().st_mode & 0o077 == 0


def test_what_is_on_disk_survives_a_power_cut(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    assert state._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert state._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    state.close()


def test_a_stack_that_nobody_knows_is_empty_and_reading_makes_nothing(tmp_path) -> None:
    view = show("main", tmp_path / "none")
    assert (view.status, view.resources) == ("Empty", ())
    assert not (tmp_path / "none").exists()
    assert stacks(tmp_path / "none") == ()


@pytest.mark.parametrize("name", ["main", "../up", "a/b", "ü 1", "."])
def test_any_name_makes_a_stack_inside_the_folder(tmp_path, name) -> None:
    folder = tmp_path / "state"
    open_stack(folder, name).close()
    assert {path.name for path in tmp_path.iterdir()} == {"state"}


def test_a_damaged_file_is_named_with_a_remedy(tmp_path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all, and long enough to be looked at" * 100)
    with pytest.raises(StateError) as caught:
        open_stack(tmp_path, "main")
    assert "state.db" in str(caught.value)
    assert StackLock(tmp_path, "main").holder() is None


def test_a_newer_or_foreign_file_is_refused(tmp_path) -> None:
    open_stack(tmp_path, "main").close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match="newer"):
        open_stack(tmp_path, "main")
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("PRAGMA application_id = 1")
    connection.close()
    with pytest.raises(StateError, match="another program"):
        open_stack(tmp_path, "main")


def test_a_second_holder_is_refused_and_told_who_has_the_lock(tmp_path) -> None:
    import os

    with StackLock(tmp_path, "main"), pytest.raises(StateError, match=f"process {os.getpid()}"):
        StackLock(tmp_path, "main").acquire()
    with StackLock(tmp_path, "main"):
        assert StackLock(tmp_path, "main").holder() == os.getpid()
        assert StackLock(tmp_path, "other").holder() is None
    assert StackLock(tmp_path, "main").holder() is None


def test_the_lock_of_a_process_that_was_killed_is_free_again(tmp_path) -> None:
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from extensor.engine.lock import StackLock
        StackLock(Path(sys.argv[1]), "main").acquire()
        print("held", flush=True)
        sys.stdin.read()
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert StackLock(tmp_path, "main").holder() == child.pid
        with pytest.raises(StateError, match=f"process {child.pid}"):
            StackLock(tmp_path, "main").acquire()
        child.kill()
    assert StackLock(tmp_path, "main").holder() is None
    with StackLock(tmp_path, "main"):
        pass


def test_a_run_that_never_ended_was_interrupted(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    state.begin("1", "deploy", "main.json")
    assert show("main", tmp_path).status == "Running"
    state.close()
    assert show("main", tmp_path).status == "Interrupted"
    state = open_stack(tmp_path, "main")
    state.begin("2", "deploy", "main.json")
    state.finish("2", "Succeeded")
    state.close()
    assert [run.status for run in read_stack(tmp_path, "main").runs] == ["Interrupted", "Succeeded"]
