"""Say whether a template with these parameters could be deployed: every fault that can be found beforehand."""

import anyio

from extensor.contract import Fault, format_path, parse_path
from extensor.contract.redaction import Redactor
from extensor.engine.connector import connected
from extensor.engine.describe import describe
from extensor.engine.events import OnEvent, RunFinished, ignore_events
from extensor.engine.executor import InProcessExecutor
from extensor.engine.grouping import ungrouped
from extensor.engine.ledger import Register
from extensor.engine.prepare import Run, prepare
from extensor.engine.preview import Previewer
from extensor.engine.results import DeploymentRequest, ResourceFault
from extensor.engine.sessions import Connector
from extensor.errors import TemplateError


async def validate(
    request: DeploymentRequest,
    *,
    on_event: OnEvent = ignore_events,
    connector: Connector | None = None,
) -> list[Fault]:
    """Check parameters, names, order and types, and let the providers preview each resource. Nothing is written.

    Paths are places in the template. An empty list says that nothing is known to stand in the way.
    """
    redactor = Redactor()
    with ungrouped():
        async with connected(connector, on_event, redactor) as connection:
            try:
                run = prepare("validate", request, connection, on_event, redactor)
                await describe(run, strict=True)
            except TemplateError as error:
                return [Fault(fault.code, redactor.text(fault.message), fault.path) for fault in error.faults]
            if not run.faults:
                executor = InProcessExecutor(request.parallelism, request.stop_grace_seconds)
                previewer = Previewer(run, Register({}, {}), compare=False)
                await executor.run(run.graph, previewer.perform, on_skipped=lambda _key, _cause: None)
        status = "Failed" if run.faults else "Succeeded"
        on_event(RunFinished("validate", request.stack, run.deployment_id, status, anyio.current_time() - run.started))
        return [_placed(run, item) for item in run.faults]


def _placed(run: Run, item: ResourceFault) -> Fault:
    """A provider's fault at a property, as a place in the template."""
    fault = item.fault
    if item.symbolic_name is None or fault.path is None or not fault.path.startswith("$.properties"):
        return fault
    instance = run.plan.instances[item.symbolic_name]
    try:
        inner = parse_path(fault.path)
    except ValueError:
        return fault
    return Fault(fault.code, fault.message, format_path((*instance.decl.path, *inner)))
