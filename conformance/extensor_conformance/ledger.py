"""What the kit made, written down before it is made: one JSON line before each save, one after.

A line is written with one system call before the save leaves, so that a kit that is killed leaves a ledger from which
`provider-conformance cleanup` can remove exactly what was made. What a delete was answered for stays in it until a get
says that it is gone. Nothing that is not in the ledger is ever deleted.
Bodies are not written, only types, identifiers and configId.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from extensor.contract import JsonObject


@dataclass(frozen=True, slots=True)
class Made:
    """Something that may exist because of the kit."""

    number: int
    type: str
    identifiers: JsonObject
    config_id: str | None = None
    certain: bool = False
    """Whether a save was answered with success; else it may have failed half-way."""
    deleted: bool = False
    """Whether a delete was answered with success since, and nobody has looked whether it is gone."""

    @property
    def key(self) -> str:
        """Equal for the same object."""
        return f"{self.type.lower()} {json.dumps(self.identifiers, sort_keys=True)}"


class Ledger:
    """Append-only; used by all workers."""

    def __init__(self, path: Path | None, header: JsonObject | None = None) -> None:
        """Begin a new ledger at `path` (kept in memory alone when ``None``) with a first line of facts of the run."""
        self.path = path
        self._lock = threading.Lock()
        self._open: dict[str, Made] = {}
        self._count = 0
        self.created = 0
        """Saves that were answered with success, of new objects."""
        self.removed = 0
        """Objects of these whose delete was answered with success and that no get finds any more."""
        self.unverified: dict[str, int] = {}
        """How many of the removed nobody could look at afterwards, by reason."""
        self._fd: int | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o600)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write({"ledger": 1, "at": datetime.now(UTC).isoformat(timespec="seconds"), **(header or {})})

    def before_save(self, type_: str, identifiers: JsonObject) -> Made:
        """A save is about to be sent. The line is on its way to the disk when this returns."""
        with self._lock:
            self._count += 1
            made = Made(self._count, type_, identifiers)
            known = self._open.get(made.key)
            if known is not None:
                if known.deleted:
                    known = self._open[made.key] = replace(known, deleted=False)
                    self._write({"op": "save", "n": known.number, "type": type_, "identifiers": identifiers})
                return known
            self._open[made.key] = made
            self._write({"op": "save", "n": made.number, "type": type_, "identifiers": identifiers})
            return made

    def saved(self, made: Made, config_id: str | None) -> None:
        """The save was answered with success, or the object was seen."""
        with self._lock:
            known = self._open.get(made.key)
            if known is None:
                known = made
            self.created += not known.certain
            if not known.certain or known.deleted:
                self._write({"op": "saved", "n": known.number, "configId": config_id})
            self._open[made.key] = replace(known, config_id=config_id or known.config_id, certain=True, deleted=False)

    def refused(self, made: Made) -> bool:
        """The save was refused before it touched anything, as its error says. Whether the object cannot exist then."""
        with self._lock:
            known = self._open.get(made.key)
            if known is None or known.certain:
                return False
            del self._open[made.key]
            self._write({"op": "refused", "n": known.number})
            return True

    def told_deleted(self, type_: str, identifiers: JsonObject) -> Made | None:
        """A delete was answered with success. The object as it stands in the ledger; ``None`` when it does not."""
        with self._lock:
            key = Made(0, type_, identifiers).key
            known = self._open.get(key)
            if known is not None and not known.deleted:
                known = self._open[key] = replace(known, deleted=True)
                self._write({"op": "told-deleted", "n": known.number})
            return known

    def deleted(self, type_: str, identifiers: JsonObject, unverified: str | None = None) -> None:
        """The object is gone; `unverified` says why nobody could look."""
        with self._lock:
            gone = self._open.pop(Made(0, type_, identifiers).key, None)
            if gone is None:
                return
            self.removed += gone.certain
            if unverified is not None and gone.certain:
                self.unverified[unverified] = self.unverified.get(unverified, 0) + 1
            self._write({"op": "deleted", "n": gone.number})

    def left(self) -> list[Made]:
        """What may still exist, newest first."""
        with self._lock:
            return sorted(self._open.values(), key=lambda made: -made.number)

    def since(self, number: int) -> list[Made]:
        """What may still exist and was begun after that number, newest first."""
        return [made for made in self.left() if made.number > number]

    @property
    def position(self) -> int:
        """For `since`."""
        with self._lock:
            return self._count

    def close(self) -> None:
        """No more will be written; the file is removed when nothing is left."""
        with self._lock:
            if self._fd is None:
                return
            os.close(self._fd)
            self._fd = None
            if not self._open and self.path is not None:
                with suppress(FileNotFoundError):
                    self.path.unlink()

    def _write(self, line: JsonObject) -> None:
        if self._fd is not None:
            os.write(self._fd, f"{json.dumps(line, separators=(',', ':'))}\n".encode())


def read_ledger(path: Path) -> tuple[JsonObject, list[Made]]:
    """The first line's facts, and what a ledger says may still exist, newest first. A torn last line is passed over.

    Raises `ValueError` for a file that is no ledger.
    """
    header: JsonObject = {}
    open_: dict[int, Made] = {}
    for index, line in enumerate(path.read_text("utf-8", errors="replace").splitlines()):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if index == 0:
            header = entry
            continue
        number = entry["n"]
        match entry["op"]:
            case "save" if number in open_:
                open_[number] = replace(open_[number], deleted=False)
            case "save":
                open_[number] = Made(number, entry["type"], entry["identifiers"])
            case "saved" if number in open_:
                open_[number] = replace(open_[number], config_id=entry["configId"], certain=True, deleted=False)
            case "told-deleted" if number in open_:
                open_[number] = replace(open_[number], deleted=True)
            case "deleted" | "refused":
                open_.pop(number, None)
            case _:
                continue
    if header.get("ledger") != 1:
        raise ValueError(f"{path} is no ledger")
    return header, sorted(open_.values(), key=lambda made: -made.number)


def in_use(path: Path) -> bool:
    """Whether a kit that runs still writes to a ledger: nothing of it is left over yet."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return False
    return False


def strike(path: Path, made: Made) -> None:
    """Note in a ledger that is not in use that something is gone; the file is removed when nothing is left."""
    with path.open("ab") as file:
        file.write(f"\n{json.dumps({'op': 'deleted', 'n': made.number})}\n".encode())
    if not read_ledger(path)[1]:
        path.unlink()


def ledgers(folder: Path) -> Iterable[Path]:
    """The ledgers in a folder, oldest first."""
    return sorted(folder.glob("ledger-*.jsonl"))
