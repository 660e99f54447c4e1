"""The state file and its lock."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from extensor.contract import Verb
from extensor.engine.lock import StackLock
from extensor.engine.records import ProviderRecord, Record, read_records
from extensor.engine.show import show
from extensor.engine.state import StackState, open_stack, read_stack, stacks
from extensor.errors import StateError

PROVIDER = ProviderRecord(0, "boxes", "1.0.0", None, "..", {"place": "here"})


def a_record(state, name: str, **more) -> Record:
    provider = state.provider(PROVIDER)
    return Record(state.new_id(), name, "box@1.0", provider.id, {"name": name}, {"name": name}, "Saving", **more)


@pytest.mark.anyio
async def test_records_come_back_as_they_were_written(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    record = a_record(
        state, "naïve 日本 🚀", depends_on=("a", "b"), note="n", sequence=3, config_id="c", made=False, secret=("s",)
    )
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
        "secret",
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


@pytest.mark.anyio
async def test_a_file_of_the_first_schema_is_read_as_it_is_and_brought_up_to_date_to_be_written(tmp_path) -> None:
    state = open_stack(tmp_path, "main")
    await state.write(a_record(state, "old", note="n"))
    state.close()
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        connection.execute("ALTER TABLE resources DROP COLUMN secret")
        connection.execute("PRAGMA user_version = 1")
    with closing(sqlite3.connect(f"file:{tmp_path / 'state.db'}?mode=ro", uri=True)) as connection:
        (seen,) = read_records(connection, "main")
    assert (seen.symbol, seen.note, seen.secret) == ("old", "n", ())
    state = open_stack(tmp_path, "main")
    (found,) = state.records.values()
    found.secret = ("text",)
    await state.write(found)
    state.close()
    assert [(record.symbol, record.secret) for record in read_stack(tmp_path, "main").records] == [("old", ("text",))]


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


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/inside", "/proc/nowhere"])
@pytest.mark.anyio
async def test_a_place_where_no_state_can_be_is_told_with_a_remedy(stack, make, place: str) -> None:
    source = make.template({"a": make.box("a")})
    with pytest.raises(StateError, match=r"give (the|a) folder"):
        await stack.deploy(source, state_dir=Path(place))


@pytest.mark.anyio
async def test_a_state_folder_that_is_a_file_is_told_by_those_that_only_read_too(stack, make, tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StateError, match="is no folder"):
        await stack.what_if(make.template({"a": make.box("a")}), state_dir=file)
    with pytest.raises(StateError, match="is no folder"):
        read_stack(file, "main")


@pytest.mark.anyio
async def test_a_folder_in_the_state_files_place_is_told_by_every_command(stack, make) -> None:
    (stack.folder / ".extensor/state.db").mkdir(parents=True)
    source = make.template({"a": make.box("a")})
    for command in (stack.deploy(source), stack.what_if(source), stack.destroy()):
        with pytest.raises(StateError, match="is a folder"):
            await command
    with pytest.raises(StateError, match="is a folder"):
        stack.show()


@pytest.mark.anyio
async def test_a_damaged_page_is_told_by_every_command(stack, make) -> None:
    source = make.template({f"r{n}": make.box(f"box {n}", text="x") for n in range(60)})
    await stack.deploy(source)
    file = stack.folder / ".extensor/state.db"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + bytes(range(256)) * ((len(content) - 4096) // 256))
    for command in (stack.deploy(source), stack.what_if(source), stack.destroy()):
        with pytest.raises(StateError, match="restore it from a copy"):
            await command
    with pytest.raises(StateError, match="restore it from a copy"):
        stack.show()


@pytest.mark.anyio
async def test_a_disk_that_fills_up_during_a_run_fails_it_and_what_was_intended_stays_recorded(
    stack, make, world, monkeypatch
) -> None:
    connect = sqlite3.connect

    def small(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 9")
        return connection

    entries = {f"r{n}": make.box(f"box {n}", needs=[f"r{n - 1}"] if n else [], text="x") for n in range(60)}
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", small)
        with pytest.raises(StateError, match="disk"):
            await stack.deploy(make.template(entries))
    assert world.names() <= {record.identifiers["name"] for record in stack.show().resources}
    assert world.names()
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


@pytest.mark.parametrize("how", ["removed", "replaced"])
@pytest.mark.anyio
async def test_a_state_folder_that_goes_away_during_a_run_fails_it(stack, make, world, how: str) -> None:
    folder = stack.folder / ".extensor"
    gone: list[Path] = []

    def after(verb: Verb, data: Any) -> None:
        if verb is Verb.SAVE and data.properties["name"] == "b" and not gone:
            gone.append(folder.rename(stack.folder / "away"))
            if how == "replaced":
                shutil.copytree(stack.folder / "away", folder)

    world.after = after
    source = make.template({"a": make.box("a"), "b": make.box("b", needs=["a"]), "c": make.box("c", needs=["b"])})
    with pytest.raises(StateError, match="removed or replaced"):
        await stack.deploy(source)
    assert "c" not in world.names()
    shutil.rmtree(folder, ignore_errors=True)
    assert (await stack.deploy(source)).status == "Succeeded"
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


@pytest.mark.anyio
async def test_a_state_folder_that_goes_away_after_the_last_answer_fails_the_run_too(stack, make, monkeypatch) -> None:
    finish = StackState.finish

    def late(self: StackState, run_id: str, status: str) -> None:
        shutil.rmtree(stack.folder / ".extensor")
        finish(self, run_id, status)

    monkeypatch.setattr(StackState, "finish", late)
    with pytest.raises(StateError, match="removed or replaced"):
        await stack.deploy(make.template({"a": make.box("a")}))


def test_a_state_that_may_only_be_read_is_shown_and_no_run_begins_on_it() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "state"
        open_stack(folder, "main").close()
        folder.chmod(0o555)
        (folder / "state.db").chmod(0o444)
        Path(name).chmod(0o755)
        root = os.geteuid() == 0
        if root:
            for place in (folder, *folder.iterdir()):
                os.chown(place, 65534, 65534)
            os.seteuid(65534)
        try:
            assert show("main", folder).status == "Empty"
            assert stacks(folder) == ()
            with pytest.raises(StateError, match="give a folder that may be written to"):
                open_stack(folder, "main")
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)
