"""The kit on trial: planted bugs that it must catch, odd but honest providers that it must let pass.

`run_selftest` is what the command calls; the work is done by `extensor_conformance.selftest.matrix.run`.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from extensor_conformance.selftest.model import BedMissing, Matrix, Row, SelftestSettings

__all__ = ["BedMissing", "Matrix", "Row", "SelftestSettings", "run_selftest"]


def run_selftest(settings: SelftestSettings, tell: Callable[[Row], None]) -> Matrix:
    """Run the kit against every program of the bed; `tell` gets each row when it is known, from any thread.

    Raises `BedMissing` when there are no programs to run against.
    """
    if find_spec("extensor_conformance.selftest.matrix") is None:
        raise BedMissing("this installation of the kit has no bed of mutants")
    matrix: Matrix = import_module("extensor_conformance.selftest.matrix").run(settings, tell)
    return matrix
