"""What the engine remembers of its stacks: identifiers, providers and order, never bodies or secrets.

One SQLite file in a state folder holds all its stacks. Before a provider is asked to save or delete, the intent is on
disk; after its answer, the outcome is. Records that become due in one turn of the event loop share a transaction, which
makes it affordable to have each on disk for good (``synchronous=FULL``) before the call leaves; see decision 0006.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.lowlevel

from extensor.contract import Json
from extensor.engine.lock import StackLock
from extensor.engine.records import (
    UPSERT_RECORD,
    ProviderRecord,
    Record,
    RunRecord,
    dump,
    dump_parameters,
    now,
    read_providers,
    read_records,
    read_runs,
    record_row,
)
from extensor.engine.statefile import FILE_NAME, connect, connect_to_read, file_id, guarded
from extensor.errors import StateError


@dataclass(slots=True)
class _Batch:
    statements: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list[tuple[str, tuple[Json, ...]]])
    done: anyio.Event = field(default_factory=anyio.Event)
    led: bool = False
    error: Exception | None = None


class StackState:
    """The records of one stack, held by one run. Open it with `open_stack`."""

    def __init__(self, connection: sqlite3.Connection, lock: StackLock, stack: str, file: Path) -> None:
        self.stack = stack
        self._file = file
        self._file_id = file_id(file)
        self._connection = connection
        self._lock = lock
        self._batch = _Batch()
        self.records = {record.id: record for record in read_records(connection, stack)}
        self.providers = {provider.id: provider for provider in read_providers(connection, stack)}
        self._next_id = max(self.records, default=0) + 1
        self._sequence = max((record.sequence for record in self.records.values()), default=0)

    def begin(self, run_id: str, kind: str, template: str) -> None:
        """Note that a run begins; one that never ended is noted as interrupted."""
        self._write(
            [
                ("UPDATE runs SET status = 'Interrupted' WHERE stack = ? AND status = 'Running'", (self.stack,)),
                (
                    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, NULL, 'Running')",
                    (run_id, self.stack, kind, template, now()),
                ),
            ]
        )

    def finish(self, run_id: str, status: str) -> None:
        """Note how a run ended; providers that no record needs any more are forgotten."""
        used = {record.provider for record in self.records.values()}
        unused = [provider for provider in self.providers if provider not in used]
        self._write(
            [
                ("UPDATE runs SET status = ?, finished = ? WHERE id = ?", (status, now(), run_id)),
                *(("DELETE FROM providers WHERE stack = ? AND id = ?", (self.stack, one)) for one in unused),
            ]
        )
        for provider in unused:
            del self.providers[provider]

    def provider(self, wanted: ProviderRecord) -> ProviderRecord:
        """The recorded provider that equals `wanted` but for its id, recorded now if there is none."""
        for known in self.providers.values():
            if replace(known, id=wanted.id) == wanted:
                return known
        record = replace(wanted, id=max(self.providers, default=0) + 1)
        row = (
            self.stack,
            record.id,
            record.name,
            record.version,
            record.command,
            record.folder,
            dump(record.config),
            dump_parameters(record),
        )
        self._write([("INSERT INTO providers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)])
        self.providers[record.id] = record
        return record

    def new_id(self) -> int:
        """A number no record has."""
        self._next_id += 1
        return self._next_id - 1

    def next_sequence(self) -> int:
        """The next number in the order of saves."""
        self._sequence += 1
        return self._sequence

    async def write(self, record: Record) -> None:
        """Have a record on disk as it is now; returns when it is there."""
        record.updated = now()
        self.records[record.id] = record
        await self._commit(UPSERT_RECORD, record_row(self.stack, record))

    async def remove(self, record: Record) -> None:
        """Forget a record; returns when the disk has, too."""
        self.records.pop(record.id, None)
        await self._commit("DELETE FROM resources WHERE stack = ? AND id = ?", (self.stack, record.id))

    async def _commit(self, statement: str, values: tuple[Json, ...]) -> None:
        """Join the transaction of this turn of the event loop; the first to come writes for all."""
        batch = self._batch
        batch.statements.append((statement, values))
        with anyio.CancelScope(shield=True):
            if batch.led:
                await batch.done.wait()
            else:
                batch.led = True
                await anyio.lowlevel.checkpoint()
                self._batch = _Batch()
                try:
                    self._write(batch.statements)
                except StateError as error:
                    batch.error = error
                finally:
                    batch.done.set()
        if batch.error is not None:
            raise StateError(str(batch.error)) from batch.error

    def _write(self, statements: Iterable[tuple[str, tuple[Json, ...]]]) -> None:
        """One transaction. Raises `StateError`, also when the file is no longer where the next run looks for it."""

        def transaction() -> None:
            if file_id(self._file) != self._file_id:
                raise _vanished(self._file)
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    self._connection.execute(statement, values)

        guarded(self._file, transaction)

    def close(self) -> None:
        """Close the file and give the lock back."""
        try:
            guarded(self._file, self._connection.close)
        finally:
            self._lock.release()


def open_stack(state_dir: Path, stack: str) -> StackState:
    """The stack's records, locked for one run. The folder and the file are made when they are missing.

    Raises `StateError`: another run holds the stack (its pid is named), or the file is damaged or of a newer version.
    """
    if not stack:
        raise StateError("a stack needs a name")
    _refuse_other_than_folder(state_dir)
    file = state_dir / FILE_NAME
    lock = StackLock(state_dir, stack)

    def ready() -> None:
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.acquire()

    guarded(state_dir, ready)
    try:
        connection = connect(file)
        try:
            return guarded(file, lambda: StackState(connection, lock, stack, file))
        except BaseException:
            connection.close()
            raise
    except BaseException:
        lock.release()
        raise


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stack as another process sees it, without a lock. `holder` is the pid of the run that has it."""

    runs: tuple[RunRecord, ...]
    records: tuple[Record, ...]
    providers: dict[int, ProviderRecord]
    holder: int | None


def read_stack(state_dir: Path, stack: str) -> Snapshot:
    """What is recorded of a stack now. Nothing is made or changed; a stack nobody knows is empty."""
    file = _file_in(state_dir)
    if file is None:
        return Snapshot((), (), {}, None)

    def read(connection: sqlite3.Connection) -> Snapshot:
        connection.execute("BEGIN")
        return Snapshot(
            tuple(read_runs(connection, stack)),
            tuple(read_records(connection, stack)),
            {provider.id: provider for provider in read_providers(connection, stack)},
            holder,
        )

    holder = guarded(state_dir, StackLock(state_dir, stack).holder)
    with closing(connect_to_read(file)) as connection:
        return guarded(file, lambda: read(connection))


def stacks(state_dir: Path) -> tuple[str, ...]:
    """The names of the stacks recorded in a folder, sorted."""
    file = _file_in(state_dir)
    if file is None:
        return ()
    with closing(connect_to_read(file)) as connection:
        rows = guarded(file, lambda: connection.execute("SELECT DISTINCT stack FROM runs ORDER BY stack").fetchall())
    return tuple(str(row[0]) for row in rows)


def _file_in(state_dir: Path) -> Path | None:
    """The folder's state file, ``None`` where there is none yet. Raises `StateError` for what cannot become one."""
    _refuse_other_than_folder(state_dir)
    file = state_dir / FILE_NAME
    return file if guarded(file, file.exists) else None


def _refuse_other_than_folder(state_dir: Path) -> None:
    if guarded(state_dir, state_dir.exists) and not state_dir.is_dir():
        raise StateError(f"{state_dir} is no folder; give the folder in which stacks are recorded")


def _vanished(file: Path) -> StateError:
    return StateError(
        f"the state file {file} was removed or replaced while the run was at work, so that what the run did is not "
        "recorded; put it back, or deploy again: resources are adopted by their identity"
    )
