"""The bed as data: the programs, what is planted in each, and which check has to find it where."""

import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from extensor.contract import Json, JsonObject
from extensor_conformance.catalogue import chosen, load
from extensor_conformance.selftest.model import BedMissing

BED = Path(__file__).parents[3] / "tests" / "conformance" / "mutants"
"""Where a checkout has its bed."""


@dataclass(frozen=True, slots=True)
class Program:
    """How to start one provider of the bed, and what to tell the kit about it."""

    command: tuple[str, ...]
    """Words in which ``{python}``, ``{bed}`` and ``{work}`` stand for this interpreter, the bed and an empty folder."""
    listen: tuple[str, ...] = ()
    """Added on a socket; ``{address}`` stands for the place."""
    store: tuple[str, ...] = ()
    """Added unless the program is to keep its objects in memory."""
    probe: tuple[str, ...] = ()
    needs: str | None = None
    """The program on the path without which it cannot run."""
    fixture: str = ""
    """The text of the author's file."""
    timeout: float = 5.0
    faults: bool = True
    """Whether it reads the fault hook."""

    @property
    def missing(self) -> str | None:
        """Why it cannot run here."""
        return f"there is no {self.needs} here" if self.needs and shutil.which(self.needs) is None else None


@dataclass(frozen=True, slots=True)
class Entry:
    """One provider of the bed: a program with a switch set, or none."""

    name: str
    kind: str
    """``mutant``, ``odd`` or ``reference``."""
    program: str
    switch: str = ""
    """Value of the environment's ``MUTANT``."""
    check: str | None = None
    """The id of the check that must fail; ``None`` for what must stay green."""
    path: str | None = None
    """How the path of the problem begins."""
    step: str | None = None
    """How the name of the problem's step begins."""
    also: tuple[str, ...] = ()
    """Checks that may fail too, since the same flaw breaks their rule."""
    checks: tuple[str, ...] = ()
    """What is played on an odd program or a reference; the bed's cheap checks when empty."""
    summary: str = ""
    wire: str = "stdio"
    store: bool = True
    faults: bool | None = None
    probe: bool = True
    timeout: float | None = None
    types: tuple[str, ...] = ()
    fixture: str | None = None
    workers: tuple[int, ...] = (1,)
    """Each seed is played with each of these numbers of workers."""
    baseline: str | None = None
    """The text of an earlier report."""
    older: bool = False
    """Whether the types of the program without the switch are given as those of an earlier release."""


@dataclass(frozen=True, slots=True)
class Bed:
    """The whole file."""

    folder: Path
    programs: dict[str, Program]
    entries: tuple[Entry, ...]
    cheap: tuple[str, ...]
    """Checks that are played on every mutant, to see that no unrelated one fails."""
    exempt: dict[str, str] = field(default_factory=dict[str, str])
    """Checks that need no mutant, with the reason."""
    numbers: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What plants the mutants of the table from which the kit was designed, by their numbers there."""

    def chosen(self, only: Sequence[str]) -> list[Entry]:
        """The entries with these names, or like these patterns, or of these numbers where no name is so; all for none.

        Raises `BedMissing` for a word that means nothing here, with those that are like it.
        """
        wanted = {name for word in only for name in self._names(word)}
        return [entry for entry in self.entries if not only or entry.name in wanted]

    def _names(self, word: str) -> set[str]:
        names = [entry.name for entry in self.entries]
        found = {name for name in names if fnmatchcase(name, word)}
        found = found or {name for number in self.numbers if fnmatchcase(number, word) for name in self.numbers[number]}
        if not found:
            near = get_close_matches(word, dict.fromkeys([*names, *self.numbers]), n=5, cutoff=0.5)
            hint = f"; near are {', '.join(near)}" if near else ""
            raise BedMissing(f"nothing in {self.folder} is named {word}{hint}")
        return found

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Ids of checks for which nothing is planted."""
        shown = {entry.check for entry in self.entries} | set(self.exempt)
        rows = chosen(load("1").values(), (), (), 4)
        return tuple(row.id for row in rows if row.id not in shown)


def read_bed(folder: Path | None) -> Bed:
    """Read `bed.toml` of the folder, or of the checkout. Raises `BedMissing`."""
    place = folder if folder is not None else BED
    try:
        data = tomllib.loads((place / "bed.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BedMissing(f"there is no bed of mutants at {place}: {error}") from None
    try:
        programs = {name: Program(**_tuples(table)) for name, table in data["programs"].items()}
        entries = tuple(
            Entry(kind=kind, **_tuples(table))
            for kind in ("reference", "odd", "mutant")
            for table in data.get(kind, [])
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise BedMissing(f"{place / 'bed.toml'}: {error}") from None
    for entry in entries:
        if entry.program not in programs:
            raise BedMissing(f"{place / 'bed.toml'}: {entry.name}: there is no program {entry.program}")
    numbers = {name: tuple(planted) for name, planted in data.get("numbers", {}).items()}
    return Bed(place, programs, entries, tuple(data.get("cheap", ())), data.get("exempt", {}), numbers)


def filled(words: tuple[str, ...], bed: Path, work: Path) -> tuple[str, ...]:
    """The words with the places put in."""
    places = {"{python}": sys.executable, "{bed}": str(bed.resolve()), "{work}": str(work)}
    made: list[str] = []
    for word in words:
        for mark, place in places.items():
            word = word.replace(mark, place)
        made.append(word)
    return tuple(made)


def _tuples(table: JsonObject) -> dict[str, Json]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
