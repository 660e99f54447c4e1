"""The kill matrix as data."""

from dataclasses import dataclass
from pathlib import Path

from extensor.contract import JsonObject


class BedMissing(Exception):
    """There are no programs to run the kit against; the text says where they were looked for."""


@dataclass(frozen=True, slots=True)
class SelftestSettings:
    """What the command was told."""

    bed: Path | None = None
    """The folder with the programs; found from the checkout when ``None``."""
    only: tuple[str, ...] = ()
    """Names or patterns of programs; all when empty."""
    seeds: int = 10
    """Seeds for each mutant; twice as many for the reference."""
    workers: int = 2
    """Programs at once."""
    seed: int = 1
    """The first seed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One program."""

    name: str
    """``M23``, ``H04``, ``reference``."""
    kind: str
    """``mutant``, ``odd`` or ``reference``."""
    expected: tuple[str, ...]
    """Ids of the checks that must fail; empty for what must stay green."""
    seen: tuple[str, ...]
    """Ids of the checks that failed in any of the runs."""
    good: bool
    """Whether all is as it must be: the named check fails, at the right place, and no unrelated one does."""
    summary: str = ""
    """What is planted."""
    trouble: str = ""
    """What is wrong, when it is not good."""
    runs: int = 0
    seconds: float = 0.0

    def to_json(self) -> JsonObject:
        """As in the matrix's document."""
        return {
            "name": self.name,
            "kind": self.kind,
            "summary": self.summary,
            "expected": list(self.expected),
            "seen": list(self.seen),
            "good": self.good,
            "trouble": self.trouble,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Matrix:
    """All programs."""

    rows: tuple[Row, ...]
    uncovered: tuple[str, ...] = ()
    """Ids of checks that no mutant of the bed shows."""

    @property
    def good(self) -> bool:
        """Whether the kit passes."""
        return bool(self.rows) and all(row.good for row in self.rows) and not self.uncovered

    def to_json(self) -> JsonObject:
        """As one document."""
        return {"good": self.good, "uncovered": list(self.uncovered), "rows": [row.to_json() for row in self.rows]}
