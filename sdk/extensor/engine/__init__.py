"""Plan, preview, deploy, destroy: what turns a template into calls of providers and remembers what it did."""

from extensor.engine.events import Event, OnEvent, ResourceRef, ignore_events, rebuild_graph, to_json
from extensor.engine.results import (
    Change,
    DeploymentRequest,
    DeployResult,
    DestroyResult,
    OutputValue,
    PropertyChange,
    RecordView,
    ResourceFault,
    ResourceOutcome,
    StackView,
    WhatIfResult,
)

__all__ = [
    "Change",
    "DeployResult",
    "DeploymentRequest",
    "DestroyResult",
    "Event",
    "OnEvent",
    "OutputValue",
    "PropertyChange",
    "RecordView",
    "ResourceFault",
    "ResourceOutcome",
    "ResourceRef",
    "StackView",
    "WhatIfResult",
    "ignore_events",
    "rebuild_graph",
    "to_json",
]
