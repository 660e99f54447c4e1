"""Say whether a template with these parameters could be deployed: every fault that can be found beforehand."""

import anyio

from extensor.contract import Fault
from extensor.engine.connector import connected
from extensor.engine.describe import describe
from extensor.engine.events import OnEvent, RunFinished, ignore_events
from extensor.engine.executor import InProcessExecutor
from extensor.engine.grouping import ungrouped
from extensor.engine.ledger import Register
from extensor.engine.outlet import Outlet
from extensor.engine.prepare import prepare
from extensor.engine.preview import Previewer
from extensor.engine.results import DeploymentRequest
from extensor.engine.secrecy import RunRedactor
from extensor.engine.sessions import Connector
from extensor.errors import TemplateError
from extensor.template import Template, check_template


async def validate(
    request: DeploymentRequest,
    *,
    on_event: OnEvent = ignore_events,
    connector: Connector | None = None,
) -> list[Fault]:
    """Check parameters, names, order and types, and let the providers preview each resource. Nothing is written.

    Paths are places in the template. An empty list says that nothing is known to stand in the way.
    """
    redactor = RunRedactor()
    outlet = Outlet(on_event, redactor)
    on_event = outlet.event
    with outlet.errors(), ungrouped():
        async with connected(connector, on_event, redactor) as connection:
            try:
                run = prepare("validate", request, connection, on_event, redactor)
                await describe(run, strict=True)
            except TemplateError as error:
                faults = list(outlet.shown(error.faults))
                return [*faults, *_unmet(request.template, faults)]
            executor = InProcessExecutor(request.parallelism, request.stop_grace_seconds)
            previewer = Previewer(run, Register({}, {}), compare=False)
            await executor.run(run.graph, previewer.perform, on_skipped=lambda _key, _cause: None)
        faults = [outlet.shown(item.fault) for item in run.faults]
        faults += _unmet(request.template, faults)
        status = "Failed" if faults else "Succeeded"
        on_event(RunFinished("validate", request.stack, run.deployment_id, status, anyio.current_time() - run.started))
        return faults


def _unmet(template: Template, faults: list[Fault]) -> list[Fault]:
    """Faults of expressions that nothing has evaluated, in branches and outputs for instance."""
    told = {fault.path for fault in faults}
    return [fault for fault in check_template(template) if fault.path not in told]
