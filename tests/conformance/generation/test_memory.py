"""Long runs."""

import gc
import resource

import pytest

from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names


def growth(rich: Kind, rounds: int, each: int) -> tuple[int, int]:
    """By how many objects, and KiB at its peak, memory grew while so many cases were made, after a quarter as many."""
    names, canaries = Names("memory"), Canaries("cnry0123abcd")

    def plan(draw: Draw) -> int:
        body = rich.valid(draw)
        change = rich.change(draw, body)
        return len(body) + (change is not None)

    def play(first: int, count: int) -> tuple[int, int]:
        for number in range(count):
            collect(plan, seed=first + number, count=each, names=names, canaries=canaries)
            names.taken()
        gc.collect()
        return len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    objects, peak = play(0, max(1, rounds // 4))
    more_objects, higher_peak = play(rounds, rounds)
    return more_objects - objects, higher_peak - peak


def test_hundreds_of_cases_keep_memory_flat(rich: Kind) -> None:
    assert growth(rich, 40, 6)[0] < 3000


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_cases_keep_memory_flat(rich: Kind) -> None:
    objects, kibibytes = growth(rich, 500, 20)
    assert objects < 5000
    assert kibibytes < 8 * 1024
