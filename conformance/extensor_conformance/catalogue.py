"""The requirements as data, frozen for each revision of the protocol."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from extensor_conformance.verdicts import Severity

LEVELS = {1: "Wire", 2: "Lifecycle", 3: "Truthful", 4: "Robust"}
GROUPS = (
    "protocol",
    "schema",
    "preview",
    "idempotency",
    "deletion",
    "errors",
    "secrets",
    "concurrency",
    "lifecycle",
    "performance",
)
CURRENT = "1"
"""The newest revision."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the catalogue: what has to hold, and all that a person needs to understand a failure of it."""

    id: str
    title: str
    rule: tuple[str, ...]
    """Ids of the rules in `docs/protocol.md` it comes from."""
    sentence: str
    """What passes."""
    severity: Severity
    tier: str
    """``core`` or ``extended``."""
    level: int
    group: str
    needs: tuple[str, ...]
    """Of ``probe``, ``faults``, ``kill``: what makes it stronger, or possible at all."""
    why: str
    cause: str
    """What is usually wrong when it fails."""
    fix: str
    mutants: tuple[str, ...]
    """Planted bugs that it has to catch."""

    @property
    def core(self) -> bool:
        """Whether it belongs to the core tier."""
        return self.tier == "core"


@cache
def load(revision: str = CURRENT) -> dict[str, Requirement]:
    """The requirements of a protocol revision by id, in the catalogue's order. Raises `ValueError` for no such."""
    place = files("extensor_conformance").joinpath("data", f"requirements-{revision}.toml")
    if not place.is_file():
        raise ValueError(f"there are no requirements for revision {revision!r}; there is {CURRENT!r}")
    data = tomllib.loads(place.read_text("utf-8"))
    return {
        id_: Requirement(
            id_,
            row["title"],
            tuple(row["rule"]),
            row["sentence"],
            Severity(row["severity"]),
            row["tier"],
            row["level"],
            row["group"],
            tuple(row.get("needs", ())),
            row["why"],
            row["cause"],
            row["fix"],
            tuple(row.get("mutants", ())),
        )
        for id_, row in data["requirements"].items()
    }


def chosen(
    requirements: Iterable[Requirement], include: Iterable[str] = (), exclude: Iterable[str] = (), level: int = 4
) -> list[Requirement]:
    """Those whose id matches one of `include` (all when empty) and none of `exclude`, up to a level.

    Raises `ValueError` for an id or pattern that matches nothing.
    """
    rows = list(requirements)
    for pattern in (*include, *exclude):
        if not any(fnmatchcase(row.id, pattern.upper()) for row in rows):
            raise ValueError(f"{pattern!r} matches no check")
    wanted = [pattern.upper() for pattern in include]
    unwanted = [pattern.upper() for pattern in exclude]
    return [
        row
        for row in rows
        if row.level <= level
        and (not wanted or any(fnmatchcase(row.id, pattern) for pattern in wanted))
        and not any(fnmatchcase(row.id, pattern) for pattern in unwanted)
    ]
