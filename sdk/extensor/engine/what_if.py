"""Tell what a deployment would change, without changing anything."""

import anyio

from extensor.contract import JsonObject, Path, Verb, format_path
from extensor.engine.calls import Failed, is_absent
from extensor.engine.connector import connected
from extensor.engine.describe import describe
from extensor.engine.diff import Rules, left_out, names_of, property_changes
from extensor.engine.events import OnEvent, RunFinished, ignore_events
from extensor.engine.executor import InProcessExecutor
from extensor.engine.grouping import ungrouped
from extensor.engine.ledger import Register
from extensor.engine.outlet import Outlet
from extensor.engine.prepare import Prepared, Run, prepare
from extensor.engine.preview import Previewer, Seen
from extensor.engine.providers import RecordedProviders, literal_defaults
from extensor.engine.records import Record
from extensor.engine.removal import ref_of
from extensor.engine.results import Change, ChangeType, DeploymentRequest, PropertyChange, WhatIfResult
from extensor.engine.secrecy import RunRedactor
from extensor.engine.sessions import Connector
from extensor.engine.state import Snapshot, read_stack
from extensor.errors import ExtensorError


async def what_if(
    request: DeploymentRequest,
    *,
    on_event: OnEvent = ignore_events,
    connector: Connector | None = None,
) -> WhatIfResult:
    """Compare what is there with what would be, resource by resource. Providers get `get` and `previewSave` calls only.

    The engine works out the differences itself. A property that the template leaves out is not managed and never a
    change; the keys of a map are its value, and one that the preview of the map does not show is a removal. A value
    that depends on a resource that will change is shown as unknown, unless the provider's own preview tells it.
    Recorded resources that the template no longer declares are deletions. Works while a deployment runs, too.

    Raises `TemplateError` for a template or parameters that cannot be, `StateError` when the state cannot be read.
    """
    redactor = RunRedactor()
    outlet = Outlet(on_event, redactor)
    on_event = outlet.event
    with outlet.errors(), ungrouped():
        snapshot = read_stack(request.state_dir, request.stack)
        async with connected(connector, on_event, redactor) as connection:
            run = prepare("what-if", request, connection, on_event, redactor)
            result = await _Comparison(run, snapshot).run()
        status = "Succeeded" if result.succeeded else "Failed"
        on_event(RunFinished("what-if", request.stack, run.deployment_id, status, anyio.current_time() - run.started))
        return outlet.shown(result)


class _Comparison:
    def __init__(self, run: Run, snapshot: Snapshot) -> None:
        self._run = run
        self._snapshot = snapshot
        self._register = Register({record.id: record for record in snapshot.records}, snapshot.providers)
        self._previewer = Previewer(run, self._register, compare=True, decide=self._decide)
        self._changes: dict[str, Change] = {}
        self._blind: list[tuple[str, str]] = []

    async def run(self) -> WhatIfResult:
        run = self._run
        await describe(run, strict=True)
        executor = InProcessExecutor(run.request.parallelism, run.request.stop_grace_seconds)
        await executor.run(run.graph, self._previewer.perform, on_skipped=lambda _key, _cause: None)
        ordered = [self._changes[key] for key in run.plan.instances if key in self._changes]
        changes = [change for change in ordered if change.change_type not in ("NoChange", "Ignore")]
        unchanged = sum(change.change_type == "NoChange" for change in ordered)
        if not run.faults:
            changes += await self._deletions()
        return WhatIfResult(tuple(changes), unchanged, tuple(run.faults), tuple(self._blind))

    def _decide(self, seen: Seen) -> None:
        prepared = seen.prepared
        if prepared.instance.existing:
            if seen.looked:
                self._note(seen, "Ignore")
            return
        if seen.after is None or seen.after.properties is None:
            if seen.reason is not None:
                self._note(seen, "Unsupported", reason=seen.reason)
            return
        after = seen.after.properties
        if not seen.looked:
            self._note(
                seen,
                "Unsupported",
                self._delta(prepared, None, after, seen),
                "whether it exists cannot be told before the deployment runs",
            )
            return
        delta = self._delta(prepared, seen.before, after, seen)
        if seen.before is None:
            self._note(seen, "Create", delta, _why_new(seen))
            return
        self._blind += [(prepared.instance.key, path) for path in _not_compared(prepared)]
        if delta:
            self._note(seen, "Modify", delta)
        else:
            self._previewer.unchanged(seen)
            self._note(seen, "NoChange")

    def _delta(
        self, prepared: Prepared, before: JsonObject | None, after: JsonObject, seen: Seen
    ) -> tuple[PropertyChange, ...]:
        shape = prepared.shape
        rules, lost = Rules(), frozenset[Path]()
        if shape is not None:
            lost = lost if before is None else shape.lost_keys(before, after)
            rules = Rules(frozenset(map(names_of, shape.calculated)), frozenset(map(names_of, shape.read_only)))
        if seen.after is not None:
            rules = rules.told(seen.after.metadata)
        return property_changes(before, after, rules, lambda body: self._run.shown(prepared, body), lost)

    def _note(
        self, seen: Seen, change_type: ChangeType, delta: tuple[PropertyChange, ...] = (), reason: str | None = None
    ) -> None:
        instance = seen.prepared.instance
        self._changes[instance.key] = Change(
            change_type, instance.key, instance.type, seen.identifiers or {}, delta, reason
        )

    async def _deletions(self) -> list[Change]:
        """What a successful deployment would delete afterwards, in reverse order of creation."""
        run = self._run
        recorded = RecordedProviders(
            run.request.state_dir, run.request.parameters, run.request.providers, literal_defaults(run.request.template)
        )
        due = [
            record
            for record in reversed(self._register.left_over())
            if not record.surely_absent and self._register.alive_twin(record) is None
        ]
        return [
            Change("Delete", record.symbol, record.type, record.identifiers or {}, (), self._why_deleted(record))
            for record in due
            if await self._is_there(record, recorded)
        ]

    async def _is_there(self, record: Record, recorded: RecordedProviders) -> bool:
        """Whether there is still something to delete; what cannot be looked at counts as there."""
        if not record.identifiers:
            return True
        provider = self._snapshot.providers[record.provider]
        try:
            imported = recorded.imported(provider, record.config_id)
            session = await self._run.pool.session(self._run.pool.like(recorded.wanted(provider)))
        except ExtensorError:
            return True
        answer = await self._run.caller.call(
            session, Verb.GET, imported, ref_of(record), record.identifiers, expected=lambda _: True
        )
        return not (isinstance(answer, Failed) and is_absent(answer))

    def _why_deleted(self, record: Record) -> str:
        if record.symbol in self._run.plan.instances:
            return "the template now gives this name to another resource"
        if record.symbol in self._run.plan.skipped:
            return "its condition is false"
        return "the template no longer declares it"


def _not_compared(prepared: Prepared) -> list[str]:
    """The write-only properties that a resource is given: no `get` shows what they are now."""
    if prepared.shape is None:
        return []
    shown = prepared.shape.without_write_only(prepared.properties)
    return [format_path(("properties", *path)) for path in left_out(prepared.properties, shown)]


def _why_new(seen: Seen) -> str | None:
    if seen.record is not None and seen.record.status in ("Saved", "Unclear", "Saving", "Deleting"):
        return "it was deployed before and is not there any more" if seen.record.status == "Saved" else None
    return None
