"""What a monitor is shown, and what it reports."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.answers import Answer
from extensor_conformance.verdicts import Problem

if TYPE_CHECKING:
    from extensor_conformance.kind import Kind


@dataclass(slots=True, eq=False)
class Exchange:
    """A request of the kit and, once it came, its answer."""

    method: str
    params: Json
    id: Json
    verb: Verb | None = None
    type: str | None = None
    """The type it is about, as asked for."""
    sent_at: float = field(default_factory=time.monotonic)
    answer: Answer | None = None
    connection: str = "1"
    wild: bool = False
    """Sent as raw bytes: the kit did not vouch for its form."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a monitor saw, for the check `check`."""

    check: str
    type: str | None
    problem: Problem


class Monitor:
    """Sees everything, drives nothing. Each method is a generator of findings; called on the reader's thread.

    A monitor may keep state for a connection under its name in `state`; it is dropped when the connection ends.
    """

    checks: tuple[str, ...] = ()
    """The ids it reports under."""

    def answered(self, exchange: Exchange, kind: "Kind | None") -> Iterator[Finding]:
        """An answer came to a request; `kind` is the type it is about, when the provider has it."""
        yield from ()

    def stray(self, message: Any, raw: bytes, reason: str, connection: str) -> Iterator[Finding]:
        """A message came that answers no request that is open: unknown or repeated id, wrong envelope."""
        yield from ()

    def notified(self, message: JsonObject, raw: bytes, connection: str) -> Iterator[Finding]:
        """A notification or a request of the provider came."""
        yield from ()

    def garbage(self, raw: bytes, reason: str, connection: str) -> Iterator[Finding]:
        """Bytes came that are no frame."""
        yield from ()

    def logged(self, text: bytes, connection: str) -> Iterator[Finding]:
        """The provider wrote to stderr; `text` overlaps what was shown before, so that nothing hides in the seam."""
        yield from ()

    def ended(self, connection: str) -> None:
        """A connection ended: forget what belongs to it."""

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """Check ids and types of which something was seen: they pass when nothing was found."""
        return frozenset()
