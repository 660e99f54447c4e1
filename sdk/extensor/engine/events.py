"""What happens during a run, as data. Whoever listens prints it, logs it or throws it away.

Events name a resource by symbolic name, type and identifiers and hold nothing else of its body, and a deployment's
graph can be rebuilt from them (`rebuild_graph`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from extensor.contract import Fault, Json, JsonObject, Verb

RunKind: TypeAlias = Literal["validate", "what-if", "deploy", "destroy"]
RunStatus: TypeAlias = Literal["Succeeded", "Failed", "Canceled"]


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """Which resource is meant. `symbolic_name` is ``name``, or ``name[3]`` for an element of a loop."""

    symbolic_name: str
    type: str
    identifiers: JsonObject = field(default_factory=dict[str, Json])
    """Empty while they are not known."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; `resources` is how many instances the template has, skipped ones not counted."""

    kind: RunKind
    stack: str
    deployment_id: str
    resources: int


@dataclass(frozen=True, slots=True)
class ResourcePlanned:
    """A resource takes part; `depends_on` are symbolic names of instances that come before it."""

    resource: ResourceRef
    depends_on: tuple[str, ...] = ()
    existing: bool = False


@dataclass(frozen=True, slots=True)
class ProviderStarted:
    """A provider answers. `alias` is the name the template gives it."""

    alias: str
    provider: str
    version: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ProviderFailed:
    """A provider could not be started; the message holds exit code and the tail of its stderr."""

    alias: str
    provider: str
    message: str


@dataclass(frozen=True, slots=True)
class ProviderLogged:
    """A provider says something for people."""

    alias: str
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class OperationStarted:
    """A verb is about to be called."""

    resource: ResourceRef
    verb: Verb


@dataclass(frozen=True, slots=True)
class OperationProgressed:
    """A provider tells how far a call is. `percent` is 0 to 100, or ``None``."""

    resource: ResourceRef
    message: str
    percent: float | None = None


@dataclass(frozen=True, slots=True)
class OperationRetried:
    """A call is tried again after `delay` seconds. `left` is how many the whole operation still has."""

    resource: ResourceRef
    verb: Verb
    attempt: int
    delay: float
    reason: str
    left: float | None = None


@dataclass(frozen=True, slots=True)
class OperationSucceeded:
    """A verb was answered. `was_absent`: the provider said that there is no such resource, and that was no failure."""

    resource: ResourceRef
    verb: Verb
    seconds: float
    was_absent: bool = False


@dataclass(frozen=True, slots=True)
class OperationFailed:
    """A verb failed for good. `unclear`: nobody knows whether it took effect; the next run finds out."""

    resource: ResourceRef
    verb: Verb
    seconds: float
    faults: tuple[Fault, ...]
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class ResourceSkipped:
    """A resource's turn never came; `reason` says why."""

    resource: ResourceRef
    reason: str


@dataclass(frozen=True, slots=True)
class ResourceForgotten:
    """A recorded resource left the record without a delete, because something alive has the same identity."""

    resource: ResourceRef
    reason: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of a run."""

    kind: RunKind
    stack: str
    deployment_id: str
    status: RunStatus
    seconds: float


Event: TypeAlias = (
    RunStarted
    | ResourcePlanned
    | ProviderStarted
    | ProviderFailed
    | ProviderLogged
    | OperationStarted
    | OperationProgressed
    | OperationRetried
    | OperationSucceeded
    | OperationFailed
    | ResourceSkipped
    | ResourceForgotten
    | RunFinished
)
OnEvent: TypeAlias = Callable[[Event], None]


def ignore_events(event: Event) -> None:
    """The listener of whoever does not listen."""


def to_json(event: Event) -> JsonObject:
    """An event as a JSON object; `event` names its kind."""
    return {"event": type(event).__name__, **asdict(event)}


def rebuild_graph(events: Iterable[Event]) -> Mapping[str, tuple[str, ...]]:
    """The deployment's graph as its events tell it: symbolic name to the names it depends on."""
    return {event.resource.symbolic_name: event.depends_on for event in events if isinstance(event, ResourcePlanned)}
