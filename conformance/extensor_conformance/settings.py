"""Everything a run can be told."""

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from extensor.contract import JsonObject
from extensor_conformance.fixture import Fixture, Waiver
from extensor_conformance.subject import Subject

KEEP = Literal["never", "on-failure", "always"]


def new_seed() -> int:
    """A seed for a run that was given none."""
    return secrets.randbelow(10**10)


@dataclass(frozen=True, slots=True)
class Settings:
    """As the command's flags; all times in seconds."""

    subject: Subject
    fixture: Fixture = field(default_factory=Fixture)
    seed: int = field(default_factory=new_seed)
    # selection
    checks: tuple[str, ...] = ()
    """Ids or patterns (``PRV-*``); all when empty."""
    exclude: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    """Type names or patterns; all when empty."""
    level: int = 4
    """Checks of higher levels are left out."""
    requirements: str = "1"
    read_only: bool = False
    """Nothing that saves or deletes is run."""
    # generation
    max_examples: int = 6
    shrink: bool = True
    shrink_budget: float = 10.0
    repeat: int = 3
    """How often an idempotent call is repeated."""
    # execution
    workers: int = 1
    timeout: float = 10.0
    """For an answer."""
    start_timeout: float = 30.0
    budget: float = 600.0
    """For the whole run."""
    rate_limit: float | None = None
    """Calls a second, over all workers."""
    max_failures: int | None = None
    """After so many FAIL the rest is NOT-TESTED."""
    retries: int = 2
    """Reruns of a failure, to tell FAIL from FLAKY."""
    allow_kill: bool = False
    probe: tuple[str, ...] = ()
    """The command; the fixture's when empty."""
    faults: Literal["hook", "proxy", "triggers"] | None = None
    # policy
    strict: bool = False
    waivers: tuple[Waiver, ...] = ()
    """Added to the fixture's."""
    # output and safety
    folder: Path | None = Path(".conformance")
    """For the ledger and failing cases; ``None`` writes nothing."""
    transcripts: Path | None = None
    """Folder for the messages of every case; ``None`` keeps those of failures alone."""
    name_prefix: str = ""
    keep_resources: KEEP = "never"
    baseline: Path | None = None
    """An earlier JSON report, for regressions."""
    old_types: Path | None = None
    """A folder with the types of an earlier release, for compatibility."""
    max_case_failures: int = 1
    """Failing cases of one check and type after which it stops."""

    @property
    def start(self) -> JsonObject:
        """How the provider is started or reached, for ledgers and case files."""
        source = self.fixture.source
        return {
            "command": list(self.subject.command),
            "address": self.subject.address,
            "cwd": str(self.subject.cwd) if self.subject.cwd else None,
            "fixture": str(source.resolve()) if source else None,
        }

    def with_(self, **changes: object) -> "Settings":
        """The same with some settings changed."""
        return replace(self, **changes)  # pyright: ignore[reportArgumentType]
