"""A declared window: a read waits until what was done last has to show, and for the object that it is about alone."""

import sys
from pathlib import Path

import pytest
from tests.conformance.checks.conftest import Play, clean, told

from extensor.contract import Verb
from extensor.types import Flag, ResourceType, model
from extensor_conformance.fixture import Fixture, TypeFixture
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange
from extensor_conformance.patience import KEPT, Patience

LATE = Path(__file__).parents[1] / "mutants" / "truth.py"
FIXTURE = Fixture(
    config={"endpoint": "http://here"},
    types={name: TypeFixture(consistency_window=0.06) for name in ("box", "shelf")},
)
ONE, OTHER = {"name": "one"}, {"name": "other"}


def kind(window: float) -> Kind:
    named = model.Property(model.StringType(), Flag.IDENTIFIER)
    body = model.ObjectType("Thing", {"name": named})
    return Kind("thing@1.0", ResourceType("thing@1.0", body), fixture=TypeFixture(consistency_window=window))


def exchange(verb: Verb) -> Exchange:
    return Exchange(verb.method, {"properties": ONE}, 1, verb, "thing@1.0")


class Clock:
    """Stands still."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_read_waits_for_the_window_of_its_object_and_of_no_other() -> None:
    clock = Clock()
    patience, thing = Patience(clock), kind(60)
    patience.changing(thing, {"properties": ONE})
    clock.now += 10
    assert patience.left(thing, ONE) == 50
    assert patience.left(thing, OTHER) == 0
    assert patience.left(thing, {}) == 0
    clock.now += 51
    assert patience.left(thing, ONE) == 0


def test_without_a_window_nothing_waits() -> None:
    patience, thing = Patience(Clock()), kind(0)
    patience.changing(thing, {"properties": ONE})
    assert list(patience.answered(exchange(Verb.SAVE), thing)) == []
    assert patience.left(thing, ONE) == 0


@pytest.mark.parametrize(("verb", "left"), [(Verb.SAVE, 60), (Verb.DELETE, 60), (Verb.GET, 50)])
def test_the_window_begins_anew_when_a_change_is_answered(verb: Verb, left: float) -> None:
    clock = Clock()
    patience, thing = Patience(clock), kind(60)
    patience.changing(thing, {"properties": ONE})
    clock.now += 10
    assert list(patience.answered(exchange(verb), thing)) == []
    assert patience.left(thing, ONE) == left


def test_what_is_cut_off_may_have_been_done_until_then() -> None:
    clock = Clock()
    patience, thing = Patience(clock), kind(60)
    patience.changing(thing, {"properties": ONE})
    clock.now += 10
    patience.ended("1")
    assert patience.left(thing, ONE) == 60
    clock.now += 10
    patience.ended("2")
    assert patience.left(thing, ONE) == 50


def test_what_is_over_is_forgotten_in_time() -> None:
    clock = Clock()
    patience, thing = Patience(clock), kind(60)
    for number in range(KEPT + 2):
        patience.changing(thing, {"properties": {"name": f"{number}"}})
        clock.now += 1
    assert patience.left(thing, {"name": f"{KEPT + 1}"}) == 59
    assert patience.remembered < 100


@pytest.mark.parametrize("check", ["CON-01", "CON-02", "CON-03", "CON-04", "SCH-07", "ERR-08", "LIF-02", "LIF-03"])
def test_reads_that_are_old_inside_the_declared_window_are_no_failure(play: Play, tmp_path: Path, check: str) -> None:
    command = (sys.executable, str(LATE), "--store", str(tmp_path / "store"))
    outcomes = play(check, "H1", fixture=FIXTURE, command=command)
    assert clean(outcomes), told(outcomes)
