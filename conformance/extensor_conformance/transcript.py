"""What went over the wire, for people: the current case only, bounded, with secrets masked when it is read."""

import json
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from extensor.contract import JsonObject
from extensor_conformance.canary import Needles

Direction: TypeAlias = Literal[">", "<", "!"]
"""From the kit, from the provider, or an event such as an exit."""

MAX_ENTRIES = 2000
MAX_SIZE = 4_000_000
"""Of all entries together; the oldest go first."""
MAX_TEXT = 20_000
"""Characters of one entry that are kept."""
_SPARE = 2000
"""Kept beyond that until secrets are masked, so that none is cut in two at the end."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One frame or event."""

    at: float
    """Seconds since the case began."""
    direction: Direction
    text: str
    note: str = ""
    connection: str = "1"
    """Which connection of the case."""

    def to_json(self) -> JsonObject:
        """As in an NDJSON transcript."""
        wire: JsonObject = {"at": round(self.at, 6), "dir": self.direction, "text": self.text}
        if self.note:
            wire["note"] = self.note
        if self.connection != "1":
            wire["connection"] = self.connection
        return wire


class Transcript:
    """Takes frames from any thread; the oldest are dropped when there are too many."""

    def __init__(self) -> None:
        self._ring: deque[tuple[float, Direction, bytes | str, int, str, str]] = deque()
        self._lock = threading.Lock()
        self._begin = time.monotonic()
        self._size = 0

    def restart(self) -> None:
        """A new case begins: what was there is dropped."""
        with self._lock:
            self._ring.clear()
            self._size = 0
            self._begin = time.monotonic()

    def add(self, direction: Direction, data: bytes | str, note: str = "", connection: str = "1") -> None:
        """Record a frame (without its framing, or as raw bytes) or an event."""
        kept = data[: MAX_TEXT + _SPARE] if len(data) > MAX_TEXT else data
        with self._lock:
            self._ring.append((time.monotonic() - self._begin, direction, kept, len(data), note, connection))
            self._size += len(kept)
            while self._ring and (self._size > MAX_SIZE or len(self._ring) > MAX_ENTRIES):
                self._size -= len(self._ring.popleft()[2])

    def entries(self, secrets: Needles | None = None) -> tuple[Entry, ...]:
        """Everything of the current case, with the secrets masked."""
        with self._lock:
            taken = list(self._ring)
        made: list[Entry] = []
        for at, direction, data, size, note, connection in taken:
            text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
            if secrets is not None:
                text = secrets.mask_text(text)
            if size > MAX_TEXT:
                text = text[:MAX_TEXT]
                note = f"{note} cut, {size} in all".strip()
            made.append(Entry(at, direction, text, note, connection))
        return tuple(made)


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a transcript as NDJSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(entry.to_json(), ensure_ascii=False)}\n" for entry in entries)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
