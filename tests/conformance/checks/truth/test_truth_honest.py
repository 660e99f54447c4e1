"""The honest provider is clean in every check of previews, idempotency and deletion, however odd it is."""

from collections.abc import Callable

import pytest

from extensor_conformance.fixture import Fixture, TypeFixture
from extensor_conformance.verdicts import Outcome, Verdict

CONFIG = {"endpoint": "http://here", "apiKey": "sesame-open-42"}
GROUPS = ("PRV-*", "IDM-*", "DEL-*")
QUIET = {Verdict.PASS, Verdict.NOT_APPLICABLE}
ODD = {
    "H1": TypeFixture(consistency_window=0.06),
    "H7": TypeFixture(random=(("badge",),)),
    "H9": TypeFixture(unordered=(("spec", "ports"),)),
}
Truth = Callable[..., list[Outcome]]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_reference_is_clean(truth: Truth, told: Callable[..., str], seed: int) -> None:
    """With probe and fault hook every check has a verdict, and it is a good one."""
    outcomes = truth(GROUPS, seed=seed, max_examples=2, workers=2)
    assert {outcome.verdict for outcome in outcomes} <= QUIET, told(outcomes)
    passed = {outcome.check for outcome in outcomes if outcome.verdict is Verdict.PASS}
    assert len(passed) == 30, told(outcomes)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_provider_that_says_so_is_clean(truth: Truth, told: Callable[..., str], name: str) -> None:
    """What the author's file declares is no failure."""
    fixture = Fixture(config=CONFIG, types={"box": ODD[name], "shelf": ODD[name]})
    outcomes = truth(GROUPS, name, fixture=fixture, max_examples=2, workers=2, probe=False)
    assert {outcome.verdict for outcome in outcomes} <= {*QUIET, Verdict.NOT_TESTED}, told(outcomes)
    untested = {outcome.check for outcome in outcomes if outcome.verdict is Verdict.NOT_TESTED}
    assert untested == {"IDM-09", "IDM-10"}, told(outcomes)


def test_an_odd_provider_that_does_not_say_so_is_found(truth: Truth) -> None:
    """The same old reads without a declared window are a failure of read-your-writes."""
    outcomes = truth("IDM-02", "H1")
    assert Verdict.FAIL in {outcome.verdict for outcome in outcomes}


def test_objects_that_end_with_the_process_are_not_adopted(truth: Truth) -> None:
    """A type that is declared ephemeral has nothing to adopt; one that is not fails."""
    fixture = Fixture(config=CONFIG, types={"box": TypeFixture(ephemeral=True)})
    verdicts = {outcome.type: outcome.verdict for outcome in truth("IDM-11", store=False, fixture=fixture)}
    assert verdicts == {"box@1.0": Verdict.NOT_APPLICABLE, "shelf@1.0": Verdict.FAIL}
