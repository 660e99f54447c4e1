"""The SQLite file of a state folder: opened, checked, and given its tables."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from extensor.engine.records import SCHEMA
from extensor.errors import StateError

FILE_NAME = "state.db"
SCHEMA_VERSION = 1
_APPLICATION_ID = 0x65787473  # "exts"
_BUSY_SECONDS = 30.0
_T = TypeVar("_T")


def connect(file: Path) -> sqlite3.Connection:
    """A connection to the state file, made and given its tables if need be. Raises `StateError`."""

    def ready() -> sqlite3.Connection:
        connection = sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            _prepare(connection, file)
        except BaseException:
            connection.close()
            raise
        return connection

    if not file.exists():
        file.touch(mode=0o600)
    return guarded(file, ready)


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


def guarded(file: Path, action: Callable[[], _T]) -> _T:
    """The result of an action; what SQLite complains of becomes a `StateError` with a remedy."""
    try:
        return action()
    except sqlite3.DatabaseError as error:
        raise StateError(
            f"the state file {file} cannot be used: {error}; restore it from a copy, or move it away and deploy again: "
            "resources are adopted by their identity"
        ) from error
