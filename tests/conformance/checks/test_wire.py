"""The checks of the group protocol: each catches its mutants where they are wrong, and passes the reference."""

import pytest
from tests.conformance.checks.conftest import Play, caught, clean, told

from extensor_conformance.checks import wire_framing
from extensor_conformance.checks.handshake import is_semantic
from extensor_conformance.verdicts import Verdict

MUTANTS = [
    ("PROTO-01", "limits-untold", "$.limits", "greeting"),
    ("PROTO-01", "limit-as-text", "$.limits.maxMessageBytes", "greeting"),
    ("PROTO-01", "limit-of-nothing", "$.limits.maxConcurrentRequests", "greeting"),
    ("PROTO-01", "version-of-two-parts", "$.provider.version", "greeting"),
    ("PROTO-01", "version-of-its-own", "$.protocolVersion", "greeting"),
    ("PROTO-01", "capability-in-words", "$.capabilities.cancel", "greeting"),
    ("PROTO-01", "no-versions-needed", "$.protocolVersions", "malformed"),
    ("PROTO-01", "greeting-needed", "$.error", "before the handshake"),
    ("PROTO-01", "dies-before-greeting", "$", "before the handshake"),
    ("PROTO-02", "any-version", "$.protocolVersion", "refuse"),
    ("PROTO-02", "versions-untold", "$.error.data.supportedVersions", "refuse"),
    ("PROTO-04", "frame-per-chunk", None, "all at once"),
    ("PROTO-04", "splits-lines", "$.params", "one by one"),
    ("PROTO-04", "lines-only", None, "headers"),
    ("PROTO-05", "ids-as-numbers", "$.id", "ids"),
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
    ("PROTO-08", "no-answer-limit", "$.result", "answer above"),
    ("PROTO-08", "long-answer-is-internal", "$.error.code", "answer above"),
]
ON_TCP = [
    ("PROTO-01", "token-unneeded", "$.error", "before the handshake"),
    ("PROTO-01", "any-token", "$.token", "wrong token"),
]


@pytest.mark.parametrize(("check", "mutant", "path", "step"), MUTANTS)
def test_the_named_check_catches_the_mutant_at_its_place(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    outcomes = play(check, mutant, retries=0, timeout=1.5)
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize(("check", "mutant", "path", "step"), ON_TCP)
def test_the_named_check_catches_the_mutant_that_has_a_token(
    play: Play, check: str, mutant: str, path: str, step: str
) -> None:
    outcomes = play(check, mutant, wire="tcp", retries=0, timeout=1.5)
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize(("name", "value", "reason"), [("LONG_ANSWER", 10**9, "longest"), ("LARGEST_SENT", 9, "limit")])
def test_a_limit_that_cannot_be_reached_is_not_tested(
    play: Play, monkeypatch: pytest.MonkeyPatch, name: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(wire_framing, name, value)
    outcome = play("PROTO-08")[0]
    assert outcome.verdict is Verdict.NOT_TESTED
    assert reason in str(outcome.reason)


@pytest.mark.parametrize("wire", ["unix", "tcp"])
def test_the_reference_greets_on_sockets_too(play: Play, wire: str) -> None:
    outcomes = play("PROTO-01", wire=wire)
    assert clean(outcomes), told(outcomes)


@pytest.mark.parametrize("version", ["1.0.0", "0.0.1-rc.1+build.5", "10.20.30-0a.b-c", "1.2.3+001"])
def test_versions_of_semantic_versioning_are_known(version: str) -> None:
    assert is_semantic(version)


@pytest.mark.parametrize(
    "version", ["", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3", "1.2.3+", "1.2.3 ", "1.2.3-a..b"]
)
def test_other_versions_are_none(version: str) -> None:
    assert not is_semantic(version)


@pytest.mark.parametrize("check", sorted({row[0] for row in MUTANTS}))
def test_the_reference_passes(play: Play, check: str) -> None:
    outcomes = play(check)
    assert clean(outcomes), told(outcomes)
