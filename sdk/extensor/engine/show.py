"""What is recorded of a stack, for people."""

from pathlib import Path

from extensor.engine.records import Record
from extensor.engine.results import RecordView, StackView
from extensor.engine.state import Snapshot, read_stack


def show(stack: str, state_dir: Path) -> StackView:
    """What the state says of a stack now; also while a run works on it. Raises `StateError`."""
    snapshot = read_stack(state_dir, stack)
    last = snapshot.runs[-1] if snapshot.runs else None
    status = "Empty" if last is None else last.status
    if status == "Running" and snapshot.holder is None:
        status = "Interrupted"
    return StackView(
        stack,
        status,
        last.kind if last is not None else None,
        last.started if last is not None else None,
        snapshot.holder,
        tuple(_view(record, snapshot) for record in snapshot.records),
    )


def _view(record: Record, snapshot: Snapshot) -> RecordView:
    return RecordView(
        record.symbol,
        record.type,
        record.identifiers or {},
        snapshot.providers[record.provider].name,
        record.status,
        _note(record, snapshot.holder),
        record.updated,
    )


def _note(record: Record, holder: int | None) -> str | None:
    if record.status == "Saving":
        return (
            "a save is under way"
            if holder is not None
            else "the save was cut off; the next run finds out what became of it"
        )
    if record.status == "Deleting":
        return (
            "a delete is under way"
            if holder is not None
            else "the delete was cut off; the next run finds out what became of it"
        )
    if record.surely_absent:
        return f"nothing was made: {record.note}"
    return record.note
