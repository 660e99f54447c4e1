"""The monitors of a run."""

from extensor_conformance.canary import Canaries
from extensor_conformance.monitors.base import Monitor
from extensor_conformance.monitors.stdout import StdoutMonitor


def every_monitor(canaries: Canaries) -> list[Monitor]:
    """A new set; each worker has its own."""
    del canaries
    return [StdoutMonitor()]
