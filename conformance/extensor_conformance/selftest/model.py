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
    """Seeds for each mutant; twice as many for the references."""
    workers: int = 2
    """Programs at once, each in a process of the kit's own."""
    seed: int = 1
    """The first seed."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of one program on one seed."""

    seed: int
    seen: tuple[str, ...] = ()
    """Ids of the checks that failed."""
    trouble: str = ""
    """What is not as it must be."""
    runs: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One program on all its seeds."""

    name: str
    """``M23``, ``H4``, ``plain``."""
    kind: str
    """``mutant``, ``odd`` or ``reference``."""
    expected: tuple[str, ...]
    """Ids of the checks that must fail; empty for what must stay green."""
    summary: str = ""
    """What is planted."""
    turns: tuple[Turn, ...] = ()
    """In the order of the seeds."""
    missing: str = ""
    """Why it could not be run here."""

    @property
    def good(self) -> bool:
        """Whether all is as it must be on each seed: the named check fails, at the right place, and no other does."""
        return not self.bad

    @property
    def bad(self) -> tuple[Turn, ...]:
        """The turns with a trouble."""
        return tuple(turn for turn in self.turns if turn.trouble)

    @property
    def seen(self) -> tuple[str, ...]:
        """Ids of the checks that failed on any seed, sorted."""
        return tuple(sorted({id_ for turn in self.turns for id_ in turn.seen}))

    @property
    def trouble(self) -> str:
        """What is wrong, the first few seeds of it, or why it was not run."""
        bad = self.bad
        if not bad:
            return f"not run: {self.missing}" if self.missing else ""
        count = f"{len(bad)} of {len(self.turns)} seeds: " if len(self.turns) > 1 else ""
        more = f"; and on {len(bad) - 3} more" if len(bad) > 3 else ""
        return count + "; ".join(f"seed {turn.seed}: {turn.trouble}" for turn in bad[:3]) + more

    @property
    def runs(self) -> int:
        """Runs of the kit."""
        return sum(turn.runs for turn in self.turns)

    @property
    def seconds(self) -> float:
        """Of all turns, one after the other."""
        return sum(turn.seconds for turn in self.turns)

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
            "seeds": [turn.seed for turn in self.turns],
            "badSeeds": [turn.seed for turn in self.bad],
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Matrix:
    """All programs."""

    rows: tuple[Row, ...]
    uncovered: tuple[str, ...] = ()
    """Ids of checks that no mutant of the bed shows."""
    seed: int = 1
    """The first seed."""
    seeds: int = 1
    """Seeds for each mutant."""
    only: tuple[str, ...] = ()
    """The patterns that the programs were chosen by; empty for the whole bed."""
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether the kit passes."""
        return bool(self.rows) and all(row.good for row in self.rows) and not self.uncovered

    def to_json(self) -> JsonObject:
        """As one document."""
        from extensor_conformance.runner import kit_version

        return {
            "kit": kit_version(),
            "seed": self.seed,
            "seeds": self.seeds,
            "only": list(self.only),
            "good": self.good,
            "uncovered": list(self.uncovered),
            "seconds": round(self.seconds, 3),
            "rows": [row.to_json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is."""

    done: int
    """Turns that have ended."""
    total: int
    bad: int
    """Turns with a trouble."""
    running: tuple[str, ...]
    """The programs that are played now."""
    seconds: float
    """Since the start."""
