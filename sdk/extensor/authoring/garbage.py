"""Python's garbage collector in a provider's process: off while it starts, patient while it serves."""

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager

VARIABLE = "EXTENSOR_GC"
"""Set it to ``default`` to leave Python's garbage collector as it is."""
THRESHOLDS = (50_000, 20, 100)


@contextmanager
def paused() -> Generator[None]:
    """No collections in the block: what imports make stays, and looking at it again and again is a tenth of a start."""
    if not gc.isenabled() or _left_alone():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def tune() -> None:
    """Collect less often, and never look again at what the start has made.

    Large messages are millions of live objects; with the default thresholds the collector walks them over and over,
    which takes half the time of decoding 10 MiB. The price is garbage in reference cycles that is kept a little
    longer.
    """
    if not _left_alone():
        gc.set_threshold(*THRESHOLDS)
        gc.freeze()


def _left_alone() -> bool:
    return os.environ.get(VARIABLE) == "default"
