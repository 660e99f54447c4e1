"""Long runs."""

import gc
import tracemalloc

import pytest

from extensor_conformance.canary import Canaries
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names


def growth(rich: Kind, rounds: int, each: int) -> int:
    """Bytes by which the memory in use grew while that many cases were made, after as many to warm up."""
    names, canaries = Names("memory"), Canaries("cnry0123abcd")

    def plan(draw: Draw) -> int:
        body = rich.valid(draw)
        change = rich.change(draw, body)
        return len(body) + (change is not None)

    def play(first: int, count: int) -> None:
        for number in range(count):
            collect(plan, seed=first + number, count=each, names=names, canaries=canaries)
            names.taken()

    play(0, rounds // 4)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        play(rounds, rounds)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_hundreds_of_cases_keep_memory_flat(rich: Kind) -> None:
    assert growth(rich, 40, 6) < 400_000


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_cases_keep_memory_flat(rich: Kind) -> None:
    assert growth(rich, 500, 20) < 1_000_000
