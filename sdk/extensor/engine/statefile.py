"""The SQLite file of a state folder: opened, checked, and given its tables."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from extensor.engine.records import SCHEMA, UPGRADES
from extensor.errors import StateError

FILE_NAME = "state.db"
SCHEMA_VERSION = 2
_APPLICATION_ID = 0x65787473  # "exts"
_BUSY_SECONDS = 30.0
_T = TypeVar("_T")


def connect(file: Path) -> sqlite3.Connection:
    """A connection to the state file, made and given its tables if need be. Raises `StateError`.

    Where the file may only be read, the connection reads it as it is.
    """

    def ready() -> sqlite3.Connection:
        connection = sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            _prepare(connection, file)
        except BaseException:
            connection.close()
            raise
        return connection

    def reachable() -> sqlite3.Connection:
        if file.is_dir():
            raise StateError(f"{file} is a folder; the records of stacks are kept in a file of that name: move it away")
        if not file.exists():
            file.touch(mode=0o600)
        return ready()

    return guarded(file, reachable)


def connect_to_read(file: Path) -> sqlite3.Connection:
    """A connection that only reads, also where nothing can be written. Raises `StateError`."""

    def ready() -> sqlite3.Connection:
        connection = sqlite3.connect(_uri(file, "mode=ro"), timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
        try:
            _check(connection, file)
        except sqlite3.OperationalError:  # there is no place for the index of a log of changes, and no log
            connection.close()
            if file.with_name(f"{file.name}-wal").exists():
                raise
            connection = sqlite3.connect(_uri(file, "immutable=1"), isolation_level=None, uri=True)
            _check(connection, file)
        except BaseException:
            connection.close()
            raise
        return connection

    return guarded(file, ready) if _is_sealed(file) else connect(file)


def file_id(file: Path) -> tuple[int, int] | None:
    """What tells a file from another one in its place; ``None`` when nothing is there."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _is_sealed(file: Path) -> bool:
    acting = os.access in os.supports_effective_ids
    return file.is_file() and not all(os.access(place, os.W_OK, effective_ids=acting) for place in (file, file.parent))


def _uri(file: Path, how: str) -> str:
    return f"{file.absolute().as_uri()}?{how}"


def _prepare(connection: sqlite3.Connection, file: Path) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if _pragma(connection, "user_version") == 0:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if _pragma(connection, "user_version") == 0:  # another process may have been first
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise _foreign(file)
                for statement in SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    _check(connection, file)
    while _pragma(connection, "user_version") < SCHEMA_VERSION:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            version = _pragma(connection, "user_version")
            if version < SCHEMA_VERSION:  # another process may have been first
                connection.execute(UPGRADES[version])
                connection.execute(f"PRAGMA user_version = {version + 1}")


def _check(connection: sqlite3.Connection, file: Path) -> None:
    version = _pragma(connection, "user_version")
    if _pragma(connection, "application_id") != _APPLICATION_ID:
        raise _foreign(file)
    if version > SCHEMA_VERSION:
        raise StateError(
            f"{file} was written by a newer extensor (schema {version}, this one knows {SCHEMA_VERSION}); "
            "update extensor"
        )


def _foreign(file: Path) -> StateError:
    return StateError(f"{file} is a database of another program; choose another state folder")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def guarded(place: Path, action: Callable[[], _T]) -> _T:
    """The result of an action; what SQLite or the system complains of becomes a `StateError` with a remedy."""
    try:
        return action()
    except (sqlite3.Error, OSError, json.JSONDecodeError) as error:
        raise _trouble(place, error) from error


def _trouble(place: Path, error: Exception) -> StateError:
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) or (isinstance(error, sqlite3.OperationalError) and not _is_damage(text)):
        return StateError(
            f"the state in {place} cannot be read or written: {text}; give a folder that may be written to, on a disk "
            "with room, and try again: what was recorded stays recorded"
        )
    return StateError(
        f"the state file {place} cannot be used: {text}; restore it from a copy, or move it away and deploy again: "
        "resources are adopted by their identity"
    )


def _is_damage(text: str) -> bool:
    return any(word in text for word in ("malformed", "no such table", "no such column", "corrupt"))
