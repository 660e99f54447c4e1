"""The monitors of a run."""

from extensor_conformance.canary import Canaries
from extensor_conformance.monitors.base import Monitor
from extensor_conformance.monitors.correlation import CorrelationMonitor
from extensor_conformance.monitors.errors import ErrorMonitor
from extensor_conformance.monitors.pace import PaceMonitor
from extensor_conformance.monitors.schema import SchemaMonitor
from extensor_conformance.monitors.secrets import SecretMonitor
from extensor_conformance.monitors.stdout import StdoutMonitor

_KINDS: tuple[type[Monitor], ...] = (
    StdoutMonitor,
    CorrelationMonitor,
    SchemaMonitor,
    ErrorMonitor,
    SecretMonitor,
    PaceMonitor,
)
MONITORED = frozenset(check for kind in _KINDS for check in kind.checks)
"""The ids under which monitors report."""


def every_monitor(canaries: Canaries, secrets: tuple[str, ...] = ()) -> list[Monitor]:
    """A new set; each worker has its own. `secrets` are those of the fixture."""
    return [
        StdoutMonitor(),
        CorrelationMonitor(),
        SchemaMonitor(),
        ErrorMonitor(),
        SecretMonitor(canaries, secrets),
        PaceMonitor(),
    ]
