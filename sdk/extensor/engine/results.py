"""What a run asks for and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from extensor.contract import Fault, Json, JsonObject
from extensor.engine.events import RunStatus

if TYPE_CHECKING:
    from extensor.template import Template

ChangeType: TypeAlias = Literal["Create", "Delete", "Modify", "NoChange", "Ignore", "Unsupported"]
"""ARM's vocabulary. `Unsupported`: there may be a change and it cannot be told beforehand; `reason` says why."""

PropertyChangeKind: TypeAlias = Literal["Create", "Delete", "Modify"]

OutcomeStatus: TypeAlias = Literal["Saved", "Read", "Deleted", "Failed", "Unclear", "Skipped", "Canceled"]
"""`Unclear`: nobody knows whether the call took effect; `Canceled`: the run was stopped before its turn or between two
tries."""

DEFAULT_PARALLELISM = 32
DEFAULT_BUDGET_SECONDS = 1800.0
DEFAULT_STOP_GRACE_SECONDS = 10.0


@dataclass(slots=True)
class DeploymentRequest:
    """One run over a template.

    `providers` maps a provider's name to the command that starts it, instead of the installed one. `parallelism` bounds
    the calls at once, `budget_seconds` the time for one resource with all its retries, `stop_grace_seconds` how long
    running calls may take to end after the run was asked to stop.
    """

    template: "Template"
    template_path: Path
    parameters: Mapping[str, Json]
    stack: str
    state_dir: Path
    providers: Mapping[str, str] = field(default_factory=dict[str, str])
    parallelism: int = DEFAULT_PARALLELISM
    budget_seconds: float = DEFAULT_BUDGET_SECONDS
    stop_grace_seconds: float = DEFAULT_STOP_GRACE_SECONDS


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """One property that would change. Secrets are masked on both sides; a value not known yet is an `Unknown`."""

    path: str
    kind: PropertyChangeKind
    before: Json = None
    after: Json = None


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one resource."""

    change_type: ChangeType
    symbolic_name: str
    type: str
    identifiers: JsonObject
    delta: tuple[PropertyChange, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceFault:
    """What is wrong, and with which resource; ``None`` when it is the template or the run as a whole."""

    symbolic_name: str | None
    fault: Fault


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """`changes` holds what would change, in the template's order, deletions last; `unchanged` counts the rest."""

    changes: tuple[Change, ...]
    unchanged: int
    faults: tuple[ResourceFault, ...] = ()
    not_compared: tuple[tuple[str, str], ...] = ()
    """Symbolic name and path of each write-only property given to a resource that exists: it may have changed."""

    @property
    def succeeded(self) -> bool:
        """Whether nothing stood in the way of the preview."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class ResourceOutcome:
    """What became of one resource in a deployment or destruction; `reason` says why nothing was done."""

    symbolic_name: str
    type: str
    identifiers: JsonObject
    status: OutcomeStatus
    faults: tuple[Fault, ...] = ()
    reason: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OutputValue:
    """One output of the template. A secure one holds the mask as its value."""

    type: str
    value: Json


@dataclass(frozen=True, slots=True)
class DeployResult:
    """How a deployment ended. `outputs` is empty unless it succeeded."""

    status: RunStatus
    deployment_id: str
    resources: tuple[ResourceOutcome, ...]
    outputs: Mapping[str, OutputValue] = field(default_factory=dict[str, OutputValue])
    errors: tuple[ResourceFault, ...] = ()


@dataclass(frozen=True, slots=True)
class DestroyResult:
    """How a destruction ended."""

    status: RunStatus
    deployment_id: str
    resources: tuple[ResourceOutcome, ...]
    errors: tuple[ResourceFault, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordView:
    """One recorded resource. `status` is ``Saved``, ``Saving``, ``Deleting``, ``Failed`` or ``Unclear``."""

    symbolic_name: str
    type: str
    identifiers: JsonObject
    provider: str
    status: str
    note: str | None
    """What else there is to say of the status."""
    updated: str
    """RFC 3339, UTC."""


@dataclass(frozen=True, slots=True)
class StackView:
    """What is recorded of one stack.

    `status` is that of its last run: ``Succeeded``, ``Failed``, ``Canceled``, ``Running``, ``Interrupted`` (its process
    died), or ``Empty`` when nothing was ever recorded.
    """

    stack: str
    status: str
    last_run: str | None
    """``deploy`` or ``destroy``."""
    last_run_started: str | None
    holder_pid: int | None
    """The process that works on the stack right now."""
    resources: tuple[RecordView, ...]
