"""The checks of the groups schema and errors: each catches its mutants, and passes the reference."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.checks.conftest import PLAIN, Play, caught, clean, told

from extensor_conformance.verdicts import Verdict

MUTANTS = [
    ("SCH-01", "type-order", "$.indexFile", "second call"),
    ("SCH-01", "hash-order", "$.typeFiles", "second process"),
    ("SCH-01", "dangling-ref", "$.typeFiles", "getTypeFiles"),
    ("SCH-02", "no-delete", "$.types", "delete"),
    ("SCH-02", "any-api-version", "$.type", "other version of the type"),
    ("SCH-02", "type-without-path", "$.type", "other type"),
    ("SCH-04", "identifier-case", "$.identifiers.name", "get"),
    ("SCH-05", "too-tight", "$.properties.color", "preview"),
    ("SCH-06", "lax-preview", "$.properties", "preview"),
    ("SCH-06", "lax-extra", "$.properties", "save"),
    ("SCH-07", "immutable-changes", "$.properties.zone", "save"),
    ("SCH-07", "immutable-unseen", "$.properties.zone", "preview"),
    ("SCH-07", "write-only-echo", "$.properties.password", "save"),
    ("SCH-07", "read-only-taken", "$.properties.code", "save"),
    ("SCH-08", "other-default", "$.properties.color", "save"),
    ("SCH-08", "other-default-in-preview", "$.properties.spec.depth", "preview"),
    ("ERR-02", "root-path", "$.properties", "wrong"),
    ("ERR-02", "version-guard", "$.properties", "wrong"),
    ("ERR-02", "changing-code", "$.properties", "wrong"),
    ("ERR-03", "first-fault", "$.properties", "both"),
    ("ERR-04", "traceback", "$.error.message", "raise"),
    ("ERR-04", "exception-text", "$.error.message", "raise"),
    ("ERR-04", "dies-of-exception", None, None),
    ("ERR-05", "null-when-absent", "$.result", "never was"),
    ("ERR-05", "absent-is-internal", "$.error", "never was"),
    ("ERR-06", "throttle-is-internal", "$.error.data.transient", "throttle"),
    ("ERR-06", "throttle-for-ever", "$.context.deadlineSeconds", "throttle"),
    ("ERR-06", "throttled-half", "$.properties", "get after throttle"),
    ("ERR-07", "denied-is-absent", "$.error", "get"),
    ("ERR-08", "orphan", "$.error.data.resource", "half-create"),
]


@pytest.mark.parametrize(("check", "mutant", "path", "step"), MUTANTS)
def test_the_named_check_catches_the_mutant_at_its_place(
    play: Play, check: str, mutant: str, path: str | None, step: str | None
) -> None:
    types = ("box",) if path is None or ("spec" not in path and mutant != "no-delete") else ()
    outcomes = play(check, mutant, retries=0, types=types)
    assert caught(outcomes, path, step), told(outcomes)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_reference_passes_on_every_type(play: Play, seed: int) -> None:
    checks = sorted({row[0] for row in MUTANTS})
    outcomes = play(checks, seed=seed, workers=2)
    assert {outcome.check for outcome in outcomes if outcome.verdict is Verdict.PASS} == set(checks), told(outcomes)
    assert clean(outcomes), told(outcomes)


def test_a_release_without_a_property_is_told_against_the_types_of_the_one_before(play: Play, tmp_path: Path) -> None:
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "provider/getTypeFiles"})
    answer = subprocess.run(
        [sys.executable, str(PLAIN)], input=f"{request}\n", capture_output=True, text=True, check=True, timeout=10
    )
    files = json.loads(answer.stdout)["result"]
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "index.json").write_text(files["indexFile"])
    for name, text in files["typeFiles"].items():
        (folder / name).write_text(text)
    assert clean(play("SCH-09", old_types=folder))
    outcomes = play("SCH-09", "dropped-color", old_types=folder, retries=0)
    assert caught(outcomes, "$.properties.color", "compare"), told(outcomes)
    assert play("SCH-09")[0].verdict is Verdict.NOT_TESTED


def test_operations_that_are_polled_do_not_apply_and_the_reason_is_told(play: Play) -> None:
    outcome = play("ERR-09")[0]
    assert outcome.verdict is Verdict.NOT_APPLICABLE
    assert "polled" in str(outcome.reason)
