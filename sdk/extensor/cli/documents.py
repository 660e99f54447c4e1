"""The JSON documents of ``--output json``; `docs/cli.md` describes each."""

from collections.abc import Iterable, Mapping

from extensor.contract import Fault, JsonObject, encode_unknowns
from extensor.engine.results import (
    Change,
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


def what_if_document(result: WhatIfResult) -> JsonObject:
    """``{status, changes, unchanged, notCompared, errors}``; a value not known yet is a ``$unknown`` marker."""
    return {
        "status": "Succeeded" if result.succeeded else "Failed",
        "changes": [_change(change) for change in result.changes],
        "unchanged": result.unchanged,
        "notCompared": [{"symbolicName": name, "path": path} for name, path in result.not_compared],
        "errors": _faults(result.faults),
    }


def deploy_document(result: DeployResult) -> JsonObject:
    """``{status, deploymentId, resources, outputs, errors}``."""
    return {
        "status": result.status,
        "deploymentId": result.deployment_id,
        "resources": [_outcome(outcome) for outcome in result.resources],
        "outputs": _outputs(result.outputs),
        "errors": _faults(result.errors),
    }


def destroy_document(result: DestroyResult) -> JsonObject:
    """``{status, deploymentId, resources, errors}``."""
    return {
        "status": result.status,
        "deploymentId": result.deployment_id,
        "resources": [_outcome(outcome) for outcome in result.resources],
        "errors": _faults(result.errors),
    }


def show_document(view: StackView) -> JsonObject:
    """``{stack, status, lastRun, lastRunStarted, holderPid, resources, errors}``; `status` is that of the last run."""
    return {
        "stack": view.stack,
        "status": view.status,
        "lastRun": view.last_run,
        "lastRunStarted": view.last_run_started,
        "holderPid": view.holder_pid,
        "resources": [_record(record) for record in view.resources],
        "errors": [],
    }


def errors_document(faults: Iterable[Fault], *, status: str = "Failed") -> JsonObject:
    """``{status, errors}``: what is printed when nothing else could be."""
    return {"status": status, "errors": [fault.to_wire() for fault in faults]}


def _change(change: Change) -> JsonObject:
    document: JsonObject = {
        "changeType": change.change_type,
        "symbolicName": change.symbolic_name,
        "type": change.type,
        "identifiers": encode_unknowns(change.identifiers),
        "delta": [_property(item) for item in change.delta],
    }
    if change.reason is not None:
        document["reason"] = change.reason
    return document


def _property(item: PropertyChange) -> JsonObject:
    return {
        "path": item.path,
        "changeType": item.kind,
        "before": encode_unknowns(item.before),
        "after": encode_unknowns(item.after),
    }


def _outcome(outcome: ResourceOutcome) -> JsonObject:
    document: JsonObject = {
        "symbolicName": outcome.symbolic_name,
        "type": outcome.type,
        "identifiers": encode_unknowns(outcome.identifiers),
        "status": outcome.status,
        "seconds": round(outcome.seconds, 3),
    }
    if outcome.reason is not None:
        document["reason"] = outcome.reason
    if outcome.faults:
        document["errors"] = [fault.to_wire() for fault in outcome.faults]
    return document


def _outputs(outputs: Mapping[str, OutputValue]) -> JsonObject:
    return {name: {"type": output.type, "value": output.value} for name, output in outputs.items()}


def _record(record: RecordView) -> JsonObject:
    document: JsonObject = {
        "symbolicName": record.symbolic_name,
        "type": record.type,
        "identifiers": encode_unknowns(record.identifiers),
        "provider": record.provider,
        "status": record.status,
        "updated": record.updated,
    }
    if record.note is not None:
        document["note"] = record.note
    return document


def _faults(faults: Iterable[ResourceFault]) -> list[JsonObject]:
    return [
        item.fault.to_wire()
        if item.symbolic_name is None
        else {"symbolicName": item.symbolic_name, **item.fault.to_wire()}
        for item in faults
    ]
