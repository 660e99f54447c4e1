"""What is remembered: plain records, and how they lie in the tables of the state file."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from extensor.contract import Json, JsonObject

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

RecordStatus: TypeAlias = Literal["Saving", "Saved", "Deleting", "Failed", "Unclear"]

SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, stack TEXT NOT NULL, kind TEXT NOT NULL, template TEXT NOT NULL,
    started TEXT NOT NULL, finished TEXT, status TEXT NOT NULL);
CREATE INDEX runs_by_stack ON runs (stack, started);
CREATE TABLE providers (
    stack TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, command TEXT,
    folder TEXT NOT NULL, config TEXT NOT NULL, parameters TEXT NOT NULL, PRIMARY KEY (stack, id));
CREATE TABLE resources (
    stack TEXT NOT NULL, id INTEGER NOT NULL, symbol TEXT NOT NULL, type TEXT NOT NULL, provider INTEGER NOT NULL,
    wanted TEXT, identifiers TEXT, config_id TEXT, status TEXT NOT NULL, made INTEGER NOT NULL, note TEXT,
    depends_on TEXT NOT NULL, sequence INTEGER NOT NULL, run TEXT NOT NULL, updated TEXT NOT NULL,
    secret TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (stack, id));
"""
UPGRADES = {1: "ALTER TABLE resources ADD COLUMN secret TEXT NOT NULL DEFAULT '[]'"}
"""What makes the tables of an older schema those of the next one."""
EVERYTHING = "*"
"""In place of the names of secret properties, where those cannot be told without the secret."""


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """How to reach a provider again: name, least version, command (``None``: the installed one), folder, config.

    `folder` is relative to the state folder. `config` is in wire form: values of secure parameters are markers that
    hold the expression, and `parameters` names the parameters those need; `defaults` those of them that had the value
    which the template gives by default, in so many words.
    """

    id: int
    name: str
    version: str
    command: str | None
    folder: str
    config: JsonObject
    parameters: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Record:
    """One resource that exists or may exist. `made` is False until a save was answered in a way that says so."""

    id: int
    symbol: str
    type: str
    provider: int
    wanted: JsonObject | None
    """The identifiers that the template asked for; ``None`` when they could not be told before the save."""
    identifiers: JsonObject | None
    """The identifiers that the provider answered, or those wanted until it has."""
    status: RecordStatus
    made: bool = True
    config_id: str | None = None
    note: str | None = None
    depends_on: tuple[str, ...] = ()
    """Symbols of what must outlive it."""
    sequence: int = 0
    """Grows with each save of the stack: what was saved later has the greater number."""
    run: str = ""
    updated: str = ""
    secret: tuple[str, ...] = ()
    """Names of properties whose values depended on a secret when it was saved; `EVERYTHING` for all."""

    @property
    def surely_absent(self) -> bool:
        """Whether its only save was refused, so that there is nothing to delete."""
        return self.status == "Failed" and not self.made


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One deployment or destruction. `status` is ``Running`` until it ends; ``Interrupted`` when its process died."""

    id: str
    kind: str
    template: str
    started: str
    finished: str | None
    status: str


def now() -> str:
    """This moment, RFC 3339 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


UPSERT_RECORD = f"INSERT OR REPLACE INTO resources VALUES ({', '.join('?' * 16)})"  # noqa: S608 - only question marks


def record_row(stack: str, record: Record) -> tuple[Json, ...]:
    """The values for `UPSERT_RECORD`."""
    return (
        stack,
        record.id,
        record.symbol,
        record.type,
        record.provider,
        None if record.wanted is None else dump(record.wanted),
        None if record.identifiers is None else dump(record.identifiers),
        record.config_id,
        record.status,
        int(record.made),
        record.note,
        dump(list(record.depends_on)),
        record.sequence,
        record.run,
        record.updated,
        dump(list(record.secret)),
    )


def read_records(connection: sqlite3.Connection, stack: str) -> Iterable[Record]:
    """A stack's records, in the order of their saves."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(resources)")}
    secret = "secret" if "secret" in columns else "'[]'"  # an older file that may only be read stays as it is
    rows = connection.execute(
        "SELECT id, symbol, type, provider, wanted, identifiers, status, made, config_id, note, depends_on, sequence, "  # noqa: S608
        f"run, updated, {secret} FROM resources WHERE stack = ? ORDER BY sequence, id",
        (stack,),
    )
    for (
        id_,
        symbol,
        type_,
        provider,
        wanted,
        identifiers,
        status,
        made,
        config_id,
        note,
        needs,
        sequence,
        run,
        at,
        secrets,
    ) in rows:
        yield Record(
            id_,
            symbol,
            type_,
            provider,
            None if wanted is None else json.loads(wanted),
            None if identifiers is None else json.loads(identifiers),
            status,
            bool(made),
            config_id,
            note,
            tuple(json.loads(needs)),
            sequence,
            run,
            at,
            tuple(json.loads(secrets)),
        )


def read_providers(connection: sqlite3.Connection, stack: str) -> Iterable[ProviderRecord]:
    """A stack's providers."""
    rows = connection.execute(
        "SELECT id, name, version, command, folder, config, parameters FROM providers WHERE stack = ?", (stack,)
    )
    for id_, name, version, command, folder, config, parameters in rows:
        needed = [one if isinstance(one, dict) else {"name": one} for one in json.loads(parameters)]
        yield ProviderRecord(
            id_,
            name,
            version,
            command,
            folder,
            json.loads(config),
            tuple(one["name"] for one in needed),
            tuple(one["name"] for one in needed if one.get("default")),
        )


def dump_parameters(record: ProviderRecord) -> str:
    """The parameters that a provider's configuration needs, as they lie in their column."""
    return dump([{"name": name, "default": True} if name in record.defaults else name for name in record.parameters])


def read_runs(connection: sqlite3.Connection, stack: str) -> Iterable[RunRecord]:
    """A stack's runs, the last one last."""
    rows = connection.execute(
        "SELECT id, kind, template, started, finished, status FROM runs WHERE stack = ? ORDER BY started, rowid",
        (stack,),
    )
    for row in rows:
        yield RunRecord(*row)


def dump(value: Json) -> str:
    """A value as compact JSON text."""
    return _ENCODE(value)
