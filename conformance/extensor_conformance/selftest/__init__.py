"""The kit on trial: planted bugs that it must catch, odd but honest providers that it must let pass.

`run_selftest` is what the command calls; the work is done by `extensor_conformance.selftest.matrix.run`.
"""

from collections.abc import Callable

from extensor_conformance.selftest.model import BedMissing, Matrix, Progress, Row, SelftestSettings, Turn

__all__ = ["BedMissing", "Matrix", "Progress", "Row", "SelftestSettings", "Turn", "run_selftest"]


def run_selftest(
    settings: SelftestSettings, tell: Callable[[Row], None], progress: Callable[[Progress], None] = lambda _: None
) -> Matrix:
    """Run the kit against every program of the bed.

    `tell` gets each row when it is known, `progress` how far it is; both are called from any thread, one call at a
    time. Raises `BedMissing` when there are no programs to run against.
    """
    from extensor_conformance.selftest.matrix import run

    return run(settings, tell, progress)
