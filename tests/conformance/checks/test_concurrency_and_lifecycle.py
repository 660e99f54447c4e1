"""The checks of the groups concurrency and lifecycle: each catches its mutants, and passes the reference."""

import pytest
from tests.conformance.checks.conftest import Play, caught, clean, told

MUTANTS = [
    ("CON-01", "shared-default", "$.properties", "save"),
    ("CON-02", "no-lock", "$.error.data.transient", "save"),
    ("CON-03", "blend", "$.properties", "get"),
    ("CON-04", "zombie", "$", None),
    ("CON-05", "torn-read", "$.properties", "get"),
    ("CON-05", "written-in-place", "$", "get"),
    ("CON-06", "global-lock", "$", "get"),
    ("CON-06", "in-line", "$", "ping"),
    ("LIF-01", "cancel-ignored", "$", "cancel"),
    ("LIF-01", "cancel-unanswered", "$", "cancel"),
    ("LIF-01", "cancel-answered-twice", "$.id", "cancel"),
    ("LIF-01", "unknown-cancel-kills", None, None),
    ("LIF-02", "half-cancel", "$.properties.label", "get after a cancel"),
    ("LIF-03", "no-deadline", "$.context.deadlineSeconds", "deadline"),
    ("LIF-03", "late-answer", "$.id", "deadline"),
    ("LIF-04", "end-ignored", "$", "end of input"),
    ("LIF-04", "leaves-child", "$", "end of input"),
    ("LIF-04", "exits-with-3", "$", "end of input"),
    ("LIF-05", "term-ignored", "$", "SIGTERM"),
    ("LIF-05", "term-kills", "$", "SIGTERM"),
    ("LIF-06", "torn-write", "$", "get after SIGKILL"),
    ("LIF-07", "memory-only", "$", "get"),
]
ON_SOCKETS = [
    ("LIF-04", "socket-left", "$", "shutdown"),
    ("LIF-08", "stale-socket-refused", "$", "stale socket file"),
    ("LIF-08", "takes-address-over", "$", "second instance"),
    ("LIF-08", "answers-to-last-client", "$", "several clients"),
    ("LIF-08", "client-end-ends-all", "$", "client breaks off"),
    ("LIF-08", "shutdown-for-one", "$.error.data.errors[0].code", "shutdown by another"),
    ("LIF-08", "shutdown-cuts-others", "$", "shutdown by another"),
]
WITHOUT_HOOK = {"LIF-02"}
"""Where the box whose label is ``slow`` is what makes a save take long."""


@pytest.mark.parametrize(("check", "mutant", "path", "step"), MUTANTS)
def test_the_named_check_catches_the_mutant_at_its_place(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    outcomes = play(check, mutant, retries=0, faults=None if check in WITHOUT_HOOK else "hook", types=("box",))
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize(("check", "mutant", "path", "step"), ON_SOCKETS)
def test_the_named_check_catches_the_mutant_on_a_socket(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    outcomes = play(check, mutant, wire="unix", retries=0, types=("box",))
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize("faults", ["hook", None])
def test_the_reference_passes(play: Play, faults: str | None) -> None:
    checks = sorted({row[0] for row in MUTANTS})
    outcomes = play(checks, faults=faults, types=("shelf",) if faults else ("box",), workers=2)
    assert clean(outcomes), told(outcomes)
    assert {outcome.check for outcome in outcomes} == set(checks)


@pytest.mark.parametrize("wire", ["unix", "tcp"])
def test_the_reference_passes_on_sockets(play: Play, wire: str) -> None:
    outcomes = play(("LIF-04", "LIF-08"), wire=wire)
    assert clean(outcomes), told(outcomes)
