"""The checks of the group protocol: each catches its mutants where they are wrong, and passes the reference."""

import pytest
from tests.conformance.checks.conftest import Play, caught, clean, told

MUTANTS = [
    ("PROTO-02", "any-version", "$.protocolVersion", "refuse"),
    ("PROTO-02", "versions-untold", "$.error.data.supportedVersions", "refuse"),
    ("PROTO-04", "frame-per-chunk", None, "all at once"),
    ("PROTO-04", "splits-lines", "$.params", "one by one"),
    ("PROTO-04", "lines-only", None, "headers"),
    ("PROTO-06", "dies-of-broken-json", "$", "half a message"),
    ("PROTO-06", "zero-for-null", None, "half a message"),
    ("PROTO-06", "envelope-is-internal", "$.error.code", "a number"),
    ("PROTO-06", "method-is-internal", "$.error.code", "unknown method"),
    ("PROTO-06", "no-batch", None, "batch with a number in it"),
    ("PROTO-07", "rounds-integers", "$.properties.count", "save"),
    ("PROTO-07", "cuts-at-nul", "$.properties", "save"),
    ("PROTO-07", "normalises-text", "$.properties", "save"),
    ("PROTO-07", "drops-empty-names", "$.properties.spec.labels", "save"),
    ("PROTO-08", "no-limit", "$", "above"),
]


@pytest.mark.parametrize(("check", "mutant", "path", "step"), MUTANTS)
def test_the_named_check_catches_the_mutant_at_its_place(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    outcomes = play(check, mutant, retries=0, timeout=1.5)
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize("check", sorted({row[0] for row in MUTANTS}))
def test_the_reference_passes(play: Play, check: str) -> None:
    outcomes = play(check)
    assert clean(outcomes), told(outcomes)
