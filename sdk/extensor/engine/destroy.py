"""Delete everything that a stack recorded."""

import uuid
from collections.abc import Mapping
from pathlib import Path

import anyio

from extensor.contract import Json
from extensor.engine.calls import Caller
from extensor.engine.connector import connected
from extensor.engine.events import (
    OnEvent,
    ResourcePlanned,
    ResourceRef,
    RunFinished,
    RunStarted,
    RunStatus,
    ignore_events,
)
from extensor.engine.executor import Executor, InProcessExecutor
from extensor.engine.grouping import ungrouped
from extensor.engine.ledger import Ledger
from extensor.engine.outlet import Outlet
from extensor.engine.providers import RecordedProviders, defaults_in, missing_parameters
from extensor.engine.removal import Removal
from extensor.engine.results import (
    DEFAULT_BUDGET_SECONDS,
    DEFAULT_PARALLELISM,
    DEFAULT_STOP_GRACE_SECONDS,
    DestroyResult,
    ResourceFault,
)
from extensor.engine.secrecy import RunRedactor
from extensor.engine.sessions import Connector, SessionPool
from extensor.engine.state import StackState, open_stack, read_stack

_NOTHING: Mapping[str, str] = {}


async def destroy(
    stack: str,
    state_dir: Path,
    *,
    parameters: Mapping[str, Json] = _NOTHING,
    providers: Mapping[str, str] = _NOTHING,
    template_path: Path | None = None,
    on_event: OnEvent = ignore_events,
    stop: anyio.Event | None = None,
    connector: Connector | None = None,
    executor: Executor | None = None,
    parallelism: int = DEFAULT_PARALLELISM,
    budget_seconds: float = DEFAULT_BUDGET_SECONDS,
    stop_grace_seconds: float = DEFAULT_STOP_GRACE_SECONDS,
) -> DestroyResult:
    """Delete every recorded resource, dependants before what they depend on. What is gone already counts as deleted.

    `parameters` gives the secure parameters that the providers' configurations need again; the others are recorded.
    Those that had the template's default are read from the template, at `template_path` or where it was deployed from,
    if it is still there.

    Raises `TemplateError` that names the parameters when some are missing, `StateError` when the state cannot be used.
    """
    redactor = RunRedactor()
    defaults = defaults_in(template_path or _deployed_template(state_dir, stack))
    for value in (*parameters.values(), *defaults.values()):
        redactor.learn(value)
    run_id = str(uuid.uuid4())
    started = anyio.current_time()
    outlet = Outlet(on_event, redactor, recorded=True)
    on_event = outlet.event
    with outlet.errors(), ungrouped():
        state = open_stack(state_dir, stack)
        try:
            recorded = RecordedProviders(state_dir, parameters, providers, defaults)
            _require_parameters(state, recorded)
            async with connected(connector, on_event, redactor) as connection:
                state.begin(run_id, "destroy", "")
                status: RunStatus = "Failed"
                try:
                    caller = Caller(run_id, budget_seconds, on_event, redactor)
                    removal = Removal(
                        Ledger(state, run_id),
                        state.providers,
                        recorded,
                        SessionPool(connection, on_event, redact=redactor.text),
                        caller,
                        on_event,
                    )
                    records = list(state.records.values())
                    on_event(RunStarted("destroy", stack, run_id, len(records)))
                    for record in records:
                        ref = ResourceRef(record.symbol, record.type, record.identifiers or {})
                        on_event(ResourcePlanned(ref, record.depends_on))
                    async with caller.pauses.until(stop):
                        outcomes = await removal.run(
                            records, executor or InProcessExecutor(parallelism, stop_grace_seconds), stop=stop
                        )
                    stopped = stop is not None and stop.is_set()
                    if all(outcome.status == "Deleted" for outcome in outcomes):
                        status = "Succeeded"
                    elif stopped and not any(outcome.status == "Failed" for outcome in outcomes):
                        status = "Canceled"
                except anyio.get_cancelled_exc_class():
                    status = "Canceled"
                    raise
                finally:
                    state.finish(run_id, status)
                    on_event(RunFinished("destroy", stack, run_id, status, anyio.current_time() - started))
        finally:
            state.close()
    errors = tuple(ResourceFault(outcome.symbolic_name, fault) for outcome in outcomes for fault in outcome.faults)
    return outlet.shown(DestroyResult(status, run_id, tuple(outcomes), errors))


def _deployed_template(state_dir: Path, stack: str) -> Path | None:
    paths = [run.template for run in read_stack(state_dir, stack).runs if run.template]
    return Path(paths[-1]) if paths else None


def _require_parameters(state: StackState, recorded: RecordedProviders) -> None:
    used = {record.provider for record in state.records.values() if not record.surely_absent}
    for provider_id in sorted(used):
        provider = state.providers[provider_id]
        if missing := recorded.missing(provider):
            raise missing_parameters(provider, missing)
