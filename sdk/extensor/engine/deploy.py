"""Make what a template says so, and write down each step before and after it happens."""

import time

import anyio

from extensor.contract import (
    ErrorCode,
    Fault,
    Import,
    JsonObject,
    ResourceResult,
    Verb,
    find_unknowns,
    format_path,
    has_unknown,
)
from extensor.engine.answers import Answers, shows_secret
from extensor.engine.calls import Failed, canceled
from extensor.engine.connector import connected
from extensor.engine.describe import (
    describe,
    duplicate_fault,
    duplicate_key,
    known_identifiers,
    learn_types,
    start_fault,
)
from extensor.engine.events import OnEvent, OperationFailed, ResourceSkipped, RunFinished, RunStatus, ignore_events
from extensor.engine.executor import Executor, InProcessExecutor
from extensor.engine.grouping import ungrouped
from extensor.engine.ledger import Ledger
from extensor.engine.notes import note_of
from extensor.engine.outlet import Outlet
from extensor.engine.prepare import Prepared, Run, prepare
from extensor.engine.providers import RecordedProviders, literal_defaults, recorded_provider
from extensor.engine.records import ProviderRecord, Record
from extensor.engine.removal import Removal
from extensor.engine.results import (
    DeploymentRequest,
    DeployResult,
    OutcomeStatus,
    OutputValue,
    ResourceFault,
    ResourceOutcome,
)
from extensor.engine.secrecy import RunRedactor, shown_outputs
from extensor.engine.sessions import Connector, Session
from extensor.engine.state import StackState, open_stack
from extensor.errors import ExtensorError, TemplateError

_PROVIDER_FAULTS = frozenset({"StartFailed", "ProviderNotFound", ErrorCode.UNSUPPORTED_VERSION})


async def deploy(
    request: DeploymentRequest,
    *,
    on_event: OnEvent = ignore_events,
    stop: anyio.Event | None = None,
    connector: Connector | None = None,
    executor: Executor | None = None,
) -> DeployResult:
    """Save every resource of the template in dependency order, then delete what earlier deployments of the stack left.

    Faults that show before anything is touched end the run before it touches anything. A failure later skips what
    depends on it and nothing else. After `stop` is set nothing new begins, and what runs is given
    `request.stop_grace_seconds`; the result's status is ``Canceled`` then. In every case, also when this process dies,
    the state says what may exist, and the next run goes on from there.

    Raises `TemplateError` for a template or parameters that cannot be, `StateError` when the state cannot be used.
    """
    redactor = RunRedactor()
    outlet = Outlet(on_event, redactor)
    on_event = outlet.event
    with outlet.errors(), ungrouped():
        state = open_stack(request.state_dir, request.stack)
        try:
            async with connected(connector, on_event, redactor) as connection:
                run = prepare("deploy", request, connection, on_event, redactor)
                state.begin(run.deployment_id, "deploy", str(request.template_path.absolute()))
                status: RunStatus = "Failed"
                try:
                    result = await _Deployment(run, state, stop, executor).run()
                    status = result.status
                except anyio.get_cancelled_exc_class():
                    status = "Canceled"
                    raise
                finally:
                    state.finish(run.deployment_id, status)
                    seconds = anyio.current_time() - run.started
                    on_event(RunFinished("deploy", request.stack, run.deployment_id, status, seconds))
                return outlet.shown(result)
        finally:
            state.close()


class _Deployment:
    def __init__(self, run: Run, state: StackState, stop: anyio.Event | None, executor: Executor | None) -> None:
        self._run = run
        self._state = state
        self._stop = stop
        self._executor = executor or InProcessExecutor(run.request.parallelism, run.request.stop_grace_seconds)
        self._ledger = Ledger(state, run.deployment_id)
        self._outcomes: dict[str, ResourceOutcome] = {}
        self._errors: list[ResourceFault] = []
        self._providers: dict[str, ProviderRecord] = {}
        self._claims: dict[object, str] = {}
        self._answers = Answers(run)

    async def run(self) -> DeployResult:
        run = self._run
        await describe(run, strict=False)
        if run.faults:
            return self._result("Failed", tuple(run.faults))
        async with run.caller.pauses.until(self._stop):
            return await self._run_through()

    async def _run_through(self) -> DeployResult:
        run = self._run
        left = await self._executor.run(run.graph, self._perform, on_skipped=self._skipped, stop=self._stop)
        for key in left:
            self._note(run.prepared[key], "Canceled", reason="the run was stopped before its turn")
        if self._stopped:
            return self._result("Canceled", self._all_errors())
        if any(outcome.status not in ("Saved", "Read") for outcome in self._outcomes.values()):
            return self._result("Failed", self._all_errors())
        removed = await self._remove()
        status: RunStatus = "Canceled" if self._stopped and not removed else "Succeeded" if removed else "Failed"
        if status != "Succeeded":
            return self._result(status, self._all_errors())
        try:
            outputs = self._outputs()
        except TemplateError as error:
            return self._result("Failed", tuple(ResourceFault(None, fault) for fault in error.faults))
        return self._result("Succeeded", (), outputs)

    @property
    def _stopped(self) -> bool:
        return (
            self._stop is not None
            and self._stop.is_set()
            and any(outcome.status in ("Canceled", "Unclear") for outcome in self._outcomes.values())
        )

    async def _perform(self, key: str) -> bool:
        prepared = self._run.prepared[key]
        started = time.monotonic()
        try:
            properties = self._run.properties(prepared)
            self._refuse_unknown(prepared, properties)
            imported = self._imported(prepared)
            alias = prepared.instance.decl.import_alias
            session = await self._session(alias)
            if alias in self._run.late:
                await learn_types(self._run, alias, session)
        except TemplateError as error:
            return self._failed(prepared, error.faults, started)
        except ExtensorError as error:
            return self._failed(prepared, self._run.caller.failed(error).faults, started)
        except anyio.get_cancelled_exc_class():
            self._note(prepared, "Canceled", reason="the run was stopped before its turn")
            raise
        prepared.identifiers = prepared.identifiers or known_identifiers(prepared.shape, properties)
        self._run.learn(prepared, properties)
        if secret := self._run.secret_identifiers(prepared):
            prepared.identifiers = None
            return self._failed(prepared, tuple(secret), started)
        started = time.monotonic()  # the provider's start is nobody's in particular
        work = self._read if prepared.instance.existing else self._save
        return await work(prepared, properties, imported, session, started)

    async def _read(
        self, prepared: Prepared, properties: JsonObject, imported: Import, session: Session, started: float
    ) -> bool:
        try:
            answer = await self._run.caller.call(session, Verb.GET, imported, prepared.ref(), properties)
        except anyio.get_cancelled_exc_class():
            self._note(prepared, "Canceled", (canceled(Verb.GET),), started=started)
            raise
        if isinstance(answer, Failed):
            if answer.code == ErrorCode.CANCELED and self._run.caller.pauses.stopping:
                self._note(prepared, "Canceled", answer.faults, started=started)
                return False
            return self._failed(prepared, answer.faults, started)
        self._run.learn_answer(prepared, answer.properties)
        for identifiers in (prepared.identifiers, answer.identifiers):
            if identifiers:
                self._ledger.claim_unrecorded(
                    imported.provider, prepared.instance.type, identifiers, prepared.instance.key, answer.config_id
                )
        self._run.references.tell(prepared.instance.key, answer.properties)
        self._note(prepared, "Read", identifiers=answer.identifiers, started=started)
        return True

    async def _save(
        self, prepared: Prepared, properties: JsonObject, imported: Import, session: Session, started: float
    ) -> bool:
        run, key, wanted = self._run, prepared.instance.key, prepared.identifiers
        if wanted is not None:
            other = self._claims.setdefault(duplicate_key(run, prepared, wanted), key)
            if other != key:
                return self._failed(prepared, (duplicate_fault(run, prepared, other),), started)
        provider = self._provider(prepared)
        depends_on = run.graph.depends_on[key]
        record = await self._ledger.intend_save(
            key, prepared.instance.type, provider, wanted, depends_on, run.secret_names(prepared)
        )
        imported = Import(imported.provider, imported.version, imported.config, record.config_id)
        try:
            answer = await run.caller.call(session, Verb.SAVE, imported, prepared.ref(), properties)
        except anyio.get_cancelled_exc_class():
            await self._save_failed(prepared, record, Failed((canceled(Verb.SAVE),), ErrorCode.CANCELED, unclear=True))
            self._note(prepared, "Unclear", (canceled(Verb.SAVE),), started=started)
            raise
        if isinstance(answer, Failed):
            await self._save_failed(prepared, record, answer)
            canceled_between = answer.code == ErrorCode.CANCELED and run.caller.pauses.stopping
            status: OutcomeStatus = "Unclear" if answer.unclear else "Canceled" if canceled_between else "Failed"
            self._note(
                prepared, status, run.placed(prepared, *answer.faults), identifiers=record.identifiers, started=started
            )
            return False
        if (fault := self._answers.fault(prepared, answer, record.identifiers)) is not None:
            return await self._mistaken(prepared, record, answer, fault, started)
        run.learn_answer(prepared, answer.properties)
        await self._ledger.saved(record, answer.identifiers, answer.config_id, run.secret_names(prepared))
        run.references.tell(key, answer.properties)
        self._note(prepared, "Saved", identifiers=record.identifiers, started=started)
        return True

    async def _mistaken(
        self, prepared: Prepared, record: Record, answer: ResourceResult, fault: Fault, started: float
    ) -> bool:
        """A save succeeded, and its answer cannot stand: what there is goes on record, and the resource fails."""
        identifiers = None if fault.code == "SecretIdentifier" else answer.identifiers
        await self._ledger.save_failed(record, note_of((fault,)), refused=False, unclear=False, identifiers=identifiers)
        seconds = time.monotonic() - started
        self._run.on_event(OperationFailed(prepared.ref(record.identifiers), Verb.SAVE, seconds, (fault,)))
        self._note(prepared, "Failed", (fault,), identifiers=record.identifiers, started=started)
        return False

    async def _save_failed(self, prepared: Prepared, record: Record, failed: Failed) -> None:
        identifiers = failed.resource.get("identifiers") if failed.resource is not None else None
        if shows_secret(self._run, prepared, identifiers):
            identifiers = None
        await self._ledger.save_failed(
            record,
            note_of(failed.faults),
            refused=failed.refused,
            unclear=failed.unclear,
            identifiers=identifiers if isinstance(identifiers, dict) else None,
        )

    async def _remove(self) -> bool:
        """Delete what the template no longer declares. True when nothing of it is left."""
        run = self._run
        records = RecordedProviders(
            run.request.state_dir, run.request.parameters, run.request.providers, literal_defaults(run.request.template)
        )
        for alias in run.scope.template.imports:
            try:
                config = run.config(alias)
                if not has_unknown(config):
                    records.know(recorded_provider(run, alias), config)
            except TemplateError:
                continue  # an import that nothing uses any more
        removal = Removal(self._ledger, self._state.providers, records, run.pool, run.caller, run.on_event)
        outcomes = await removal.run(self._ledger.left_over(), self._executor, stop=self._stop)
        self._outcomes.update({f"-{position}": outcome for position, outcome in enumerate(outcomes)})
        return all(outcome.status == "Deleted" for outcome in outcomes)

    def _imported(self, prepared: Prepared) -> Import:
        alias = prepared.instance.decl.import_alias
        declared = self._run.scope.template.imports[alias]
        config = self._run.config(alias)
        for path, _ in find_unknowns(config):
            raise TemplateError(
                "the provider's configuration is not known when its first resource is due",
                format_path((*declared.path, "config", *path)),
                code=ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED,
            )
        return Import(declared.provider, declared.version, config)

    async def _session(self, alias: str) -> Session:
        """The provider's session. Raises `TemplateError` with why it cannot be used."""
        try:
            return await self._run.pool.session(self._run.wanted(alias))
        except ExtensorError as error:
            raise TemplateError.many([start_fault(self._run, alias, error)]) from error

    def _provider(self, prepared: Prepared) -> ProviderRecord:
        alias = prepared.instance.decl.import_alias
        if alias not in self._providers:
            self._providers[alias] = self._state.provider(recorded_provider(self._run, alias))
        return self._providers[alias]

    def _refuse_unknown(self, prepared: Prepared, properties: JsonObject) -> None:
        """A save or get never holds an unknown value: everything it refers to has answered by now."""
        if not has_unknown(properties):
            return
        faults = [
            Fault(
                ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED,
                f"the value is still not known{f', {unknown.expression}' if unknown.expression else ''}; "
                "name what it waits for in dependsOn",
                format_path((*prepared.instance.properties_path, *path)),
            )
            for path, unknown in find_unknowns(properties)
        ]
        raise TemplateError.many(faults)

    def _skipped(self, key: str, cause: str) -> None:
        prepared = self._run.prepared[key]
        if cause in self._outcomes and self._outcomes[cause].status == "Canceled":
            self._note(prepared, "Canceled", reason="the run was stopped before its turn")
            return
        reason = f"it depends on {cause}, which {'was skipped' if self._is_skipped(cause) else 'failed'}"
        self._note(prepared, "Skipped", reason=reason)
        self._run.on_event(ResourceSkipped(prepared.ref(), reason))

    def _is_skipped(self, key: str) -> bool:
        return key in self._outcomes and self._outcomes[key].status == "Skipped"

    def _failed(self, prepared: Prepared, faults: tuple[Fault, ...], started: float) -> bool:
        self._note(prepared, "Failed", self._run.placed(prepared, *faults), started=started)
        return False

    def _note(
        self,
        prepared: Prepared,
        status: OutcomeStatus,
        faults: tuple[Fault, ...] = (),
        *,
        identifiers: JsonObject | None = None,
        reason: str | None = None,
        started: float | None = None,
    ) -> None:
        key = prepared.instance.key
        known = identifiers or prepared.identifiers or {}
        seconds = 0.0 if started is None else time.monotonic() - started
        self._outcomes[key] = ResourceOutcome(key, prepared.instance.type, known, status, faults, reason, seconds)

    def _outputs(self) -> dict[str, OutputValue]:
        declared = self._run.scope.template.outputs
        return {
            name: OutputValue(declared[name].schema.type or "object", value)
            for name, value in shown_outputs(self._run.scope, self._run.secretless, self._run.redactor).items()
        }

    def _all_errors(self) -> tuple[ResourceFault, ...]:
        found: list[ResourceFault] = []
        told: set[Fault] = set()
        for outcome in self._ordered():
            for fault in outcome.faults:
                if fault.code in _PROVIDER_FAULTS and fault in told:
                    continue  # one provider that does not start fails each of its resources; the reason is told once
                told.add(fault)
                found.append(ResourceFault(None if fault.code in _PROVIDER_FAULTS else outcome.symbolic_name, fault))
        return tuple(found)

    def _ordered(self) -> list[ResourceOutcome]:
        place = {key: index for index, key in enumerate(self._run.plan.instances)}
        return [self._outcomes[key] for key in sorted(self._outcomes, key=lambda key: place.get(key, len(place)))]

    def _result(
        self, status: RunStatus, errors: tuple[ResourceFault, ...], outputs: dict[str, OutputValue] | None = None
    ) -> DeployResult:
        return DeployResult(status, self._run.deployment_id, tuple(self._ordered()), outputs or {}, errors)
