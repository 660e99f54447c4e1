"""What a run tells while it goes on; each event is one line of the NDJSON stream."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from extensor.contract import Json, JsonObject
from extensor_conformance.verdicts import Outcome


@dataclass(frozen=True, slots=True)
class RunStarted:
    """First of all, before the provider is started."""

    EVENT: ClassVar[str] = "run-started"
    facts: JsonObject
    """``kit``, ``requirements``, ``seed``, ``workers``, ``subject``, ``wire``."""


@dataclass(frozen=True, slots=True)
class ProviderReady:
    """The provider answered the handshake and named its types; missing when it did not."""

    EVENT: ClassVar[str] = "provider-ready"
    facts: JsonObject
    """``name``, ``version``, ``protocol``, ``startSeconds``, ``types``, ``configKeys``."""


@dataclass(frozen=True, slots=True)
class Planned:
    """How much there is to do: check ids and the number of jobs, before the first begins."""

    EVENT: ClassVar[str] = "planned"
    checks: tuple[str, ...]
    jobs: int


@dataclass(frozen=True, slots=True)
class CheckStarted:
    """A worker begins a check on a type."""

    EVENT: ClassVar[str] = "check-started"
    check: str
    type: str | None
    worker: int


@dataclass(frozen=True, slots=True)
class CheckEnded:
    """A check on a type has its verdict, before waivers of the whole run are looked at."""

    EVENT: ClassVar[str] = "check-ended"
    outcome: Outcome
    worker: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the reader should know: little was tested, a waiver is stale, a resource could not be removed."""

    EVENT: ClassVar[str] = "warned"
    message: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Last of all; the report follows as the return value."""

    EVENT: ClassVar[str] = "run-ended"
    facts: JsonObject = field(default_factory=dict[str, Json])
    """``counts`` by verdict, ``level``, ``seconds``, ``interrupted``."""


Event: TypeAlias = RunStarted | ProviderReady | Planned | CheckStarted | CheckEnded | Warned | RunEnded
OnEvent: TypeAlias = Callable[[Event], None]
"""Called from worker threads, one call at a time."""


def event_to_json(event: Event) -> JsonObject:
    """One line of the stream."""
    wire: JsonObject = {"event": event.EVENT}
    for name in type(event).__dataclass_fields__:
        if name == "EVENT":
            continue
        value = getattr(event, name)
        if isinstance(value, Outcome):
            from extensor_conformance.report.model import outcome_to_json

            value = outcome_to_json(value)
        wire[name] = list(value) if isinstance(value, tuple) else value
    return wire
