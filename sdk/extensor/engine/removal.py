"""Deleting recorded resources: dependants before what they depend on, and never what something alive still is."""

import time
from collections.abc import Iterable, Mapping, Sequence

import anyio

from extensor.contract import ErrorCode, Fault, Verb
from extensor.engine.calls import Caller, Failed, canceled, is_absent
from extensor.engine.events import OnEvent, ResourceForgotten, ResourceRef, ResourceSkipped
from extensor.engine.executor import Executor
from extensor.engine.graph import CycleError, Graph
from extensor.engine.ledger import Ledger
from extensor.engine.notes import note_of
from extensor.engine.providers import RecordedProviders
from extensor.engine.records import ProviderRecord, Record
from extensor.engine.results import OutcomeStatus, ResourceOutcome
from extensor.engine.sessions import SessionPool
from extensor.errors import ExtensorError

ABSENT = "it was absent already"
"""The reason of a deletion that had nothing to delete, where the provider says so."""


class Removal:
    """Deletes records of one stack through their providers and takes them out of the state."""

    def __init__(
        self,
        ledger: Ledger,
        providers: Mapping[int, ProviderRecord],
        recorded: RecordedProviders,
        pool: SessionPool,
        caller: Caller,
        on_event: OnEvent,
    ) -> None:
        self._ledger = ledger
        self._providers = providers
        self._recorded = recorded
        self._pool = pool
        self._caller = caller
        self._on_event = on_event
        self._outcomes: dict[int, ResourceOutcome] = {}

    async def run(
        self, records: Iterable[Record], executor: Executor, *, stop: anyio.Event | None = None
    ) -> list[ResourceOutcome]:
        """Delete records, in parallel where their dependencies allow; one outcome each, in the order of deletion."""
        due: dict[str, Record] = {}
        for record in records:
            if not await self._forgotten(record):
                due[str(record.id)] = record
        graph = removal_graph(list(due.values()))

        async def perform(key: str) -> bool:
            return await self._delete(due[key])

        def skipped(key: str, cause: str) -> None:
            reason = f"{due[cause].symbol} depends on it and is still there"
            self._note(due[key], "Skipped", reason=reason)
            self._on_event(ResourceSkipped(ref_of(due[key]), reason))

        left = await executor.run(graph, perform, on_skipped=skipped, stop=stop)
        for key in left:
            self._note(due[key], "Canceled", reason="the run was stopped before its turn")
        return [self._outcomes[int(key)] for key in graph.order if int(key) in self._outcomes]

    async def _forgotten(self, record: Record) -> bool:
        """Take a record out that needs no delete: what surely does not exist, or lives on under another name."""
        if record.surely_absent:
            await self._ledger.deleted(record)
            return True
        twin = self._ledger.alive_twin(record)
        if twin is None:
            return False
        await self._ledger.deleted(record)
        self._on_event(ResourceForgotten(ref_of(record), f"it is the same resource as {twin}"))
        return True

    async def _delete(self, record: Record) -> bool:
        started = time.monotonic()
        if not record.identifiers:
            return self._failed(record, (Fault(ErrorCode.INVALID_REQUEST, _why_nameless(record)),), started)
        provider = self._providers[record.provider]
        try:
            imported = self._recorded.imported(provider, record.config_id)
            session = await self._pool.session(self._pool.like(self._recorded.wanted(provider)))
        except ExtensorError as error:
            return self._failed(record, self._caller.failed(error).faults, started)
        await self._ledger.intend_delete(record)
        try:
            answer = await self._caller.call(
                session, Verb.DELETE, imported, ref_of(record), record.identifiers, expected=is_absent
            )
        except anyio.get_cancelled_exc_class():
            await self._ledger.delete_failed(record, canceled(Verb.DELETE).message, unclear=True)
            self._note(record, "Unclear", (canceled(Verb.DELETE),), started=started)
            raise
        if isinstance(answer, Failed) and not is_absent(answer):
            await self._ledger.delete_failed(record, f"delete: {note_of(answer.faults)}", unclear=answer.unclear)
            canceled_between = answer.code == ErrorCode.CANCELED and self._caller.pauses.stopping
            status: OutcomeStatus = "Unclear" if answer.unclear else "Canceled" if canceled_between else "Failed"
            self._note(record, status, answer.faults, started=started)
            return False
        await self._ledger.deleted(record)
        self._note(record, "Deleted", reason=ABSENT if isinstance(answer, Failed) else None, started=started)
        return True

    def _failed(self, record: Record, faults: tuple[Fault, ...], started: float) -> bool:
        self._note(record, "Failed", faults, started=started)
        return False

    def _note(
        self,
        record: Record,
        status: OutcomeStatus,
        faults: tuple[Fault, ...] = (),
        *,
        reason: str | None = None,
        started: float | None = None,
    ) -> None:
        self._outcomes[record.id] = ResourceOutcome(
            record.symbol,
            record.type,
            record.identifiers or {},
            status,
            faults,
            reason,
            0.0 if started is None else time.monotonic() - started,
        )


def _why_nameless(record: Record) -> str:
    """Why a record has no identifiers to delete by, and what to do."""
    if record.status == "Failed" and record.note is not None:
        return (
            f"there is nothing to delete it by: {record.note}; deploy again, so that the provider names it, "
            "or remove it by hand"
        )
    return (
        "its save was cut off before the provider told how it is named; deploy again to find out, or remove it by hand"
    )


def removal_graph(records: Sequence[Record]) -> Graph:
    """Records by id, each waiting for those that depend on it.

    Records of several deployments can depend on each other in a ring; then what was saved later goes first.
    """
    by_symbol: dict[str, list[Record]] = {}
    for record in records:
        by_symbol.setdefault(record.symbol, []).append(record)
    newest_first = sorted(records, key=lambda record: record.sequence, reverse=True)
    edges: dict[str, list[str]] = {str(record.id): [] for record in newest_first}
    for record in newest_first:
        for symbol in record.depends_on:
            for other in by_symbol.get(symbol, ()):
                if other is not record:
                    edges[str(other.id)].append(str(record.id))
    sequence = {str(record.id): record.sequence for record in records}
    while True:
        try:
            return Graph.of(edges)
        except CycleError as error:
            for waiting, first in zip(error.cycle, error.cycle[1:], strict=False):
                if sequence[first] <= sequence[waiting]:
                    edges[waiting] = [one for one in edges[waiting] if one != first]


def ref_of(record: Record) -> ResourceRef:
    """How a record is named in events."""
    return ResourceRef(record.symbol, record.type, record.identifiers or {})
