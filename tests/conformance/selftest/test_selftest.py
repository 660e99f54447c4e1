"""The kit on trial: the matrix is good, and it is not when the kit or the bed is not."""

import json
import shutil
from pathlib import Path

import pytest
from tests.conformance.checks import (
    test_concurrency_and_lifecycle,
    test_schema_and_errors,
    test_secrets_and_performance,
    test_wire,
)
from tests.conformance.checks.truth import test_truth_mutants

from extensor_conformance.cli import main
from extensor_conformance.selftest import BedMissing, Matrix, Progress, SelftestSettings, run_selftest
from extensor_conformance.selftest.bed import BED, read_bed
from extensor_conformance.selftest.worker import Worker

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
LITTLE = """
cheap = ["SCH-03", "ERR-01"]

[exempt]

[programs.plain]
command = ["{python}", "{bed}/plain.py"]

[[mutant]]
name = "it"
program = "plain"
switch = "%s"
check = "ERR-03"
path = "%s"
"""


def trial(*only: str, bed: Path | None = None) -> Matrix:
    return run_selftest(SelftestSettings(bed, only, seeds=1, workers=2), lambda _: None)


def little(folder: Path, switch: str, path: str = "$.properties") -> Path:
    for name in ("plain.py", "truth.py"):
        shutil.copy(BED / name, folder / name)
    (folder / "bed.toml").write_text(LITTLE % (switch, path), encoding="utf-8")
    return folder


def told(matrix: Matrix) -> str:
    return "\n".join(f"{row.name}: {row.trouble}" for row in matrix.rows if row.trouble)


def test_three_mutants_are_killed_and_the_reference_is_green() -> None:
    matrix = trial("plain", "first-fault", "null-when-absent", "M48")
    assert all(row.good for row in matrix.rows), told(matrix)
    seen = {row.name: row.expected for row in matrix.rows}
    assert seen["first-fault"] == ("ERR-03",)
    assert seen["M48"] == ("DEL-02",)
    assert next(row for row in matrix.rows if row.kind == "reference").seen == ()


@NODE
def test_a_mutant_in_another_language_is_killed_and_its_reference_is_green() -> None:
    matrix = trial("node", "node-number-as-text", "node-ids-as-text")
    assert all(row.good and row.runs for row in matrix.rows), told(matrix)


def test_each_check_has_a_mutant_or_a_reason() -> None:
    bed = read_bed(None)
    assert bed.uncovered == ()
    assert all(bed.exempt.values())
    assert len({entry.name for entry in bed.entries}) == len(bed.entries)


def test_the_bed_holds_what_the_tests_of_the_checks_plant() -> None:
    entries = {(entry.check, entry.switch, entry.path, entry.step) for entry in read_bed(None).entries}
    groups = (test_wire, test_schema_and_errors, test_secrets_and_performance, test_concurrency_and_lifecycle)
    rows = {row for group in groups for row in group.MUTANTS} | set(test_concurrency_and_lifecycle.ON_SOCKETS)
    untruths = (*test_truth_mutants.PREVIEW, *test_truth_mutants.IDEMPOTENCY, *test_truth_mutants.DELETION)
    rows |= set(test_wire.ON_TCP) | {(check, switch, path, step) for switch, check, path, step in untruths}
    assert rows <= entries


def test_a_right_program_that_is_named_a_mutant_lives(tmp_path: Path) -> None:
    row = trial(bed=little(tmp_path, "none")).rows[0]
    assert not row.good
    assert "it lives: ERR-03 says PASS" in row.trouble


def test_a_kill_at_another_place_does_not_count(tmp_path: Path) -> None:
    row = trial(bed=little(tmp_path, "first-fault", "$.import")).rows[0]
    assert not row.good
    assert "at the wrong place" in row.trouble


def test_an_unrelated_failure_is_told(tmp_path: Path) -> None:
    bed = little(tmp_path, "first-fault")
    text = (bed / "bed.toml").read_text(encoding="utf-8").replace('"SCH-03", ', '"ERR-05", ').replace("first-", "no-")
    text = text.replace("no-fault", "null-when-absent").replace('check = "ERR-03"', 'check = "SCH-03"')
    (bed / "bed.toml").write_text(text, encoding="utf-8")
    row = trial(bed=bed).rows[0]
    assert not row.good
    assert "ERR-05 failed too" in row.trouble


def test_a_program_that_cannot_run_here_is_told_and_not_counted_as_killed(tmp_path: Path) -> None:
    bed = little(tmp_path, "none")
    text = (
        (bed / "bed.toml").read_text(encoding="utf-8").replace("\n[[mutant]]", 'needs = "no-such-thing"\n\n[[mutant]]')
    )
    (bed / "bed.toml").write_text(text, encoding="utf-8")
    row = trial(bed=bed).rows[0]
    assert (row.runs, row.seen) == (0, ())
    assert "there is no no-such-thing here" in row.trouble


def test_each_seed_has_a_turn_of_its_own_and_the_references_have_twice_as_many(tmp_path: Path) -> None:
    bed = little(tmp_path, "first-fault")
    with (bed / "bed.toml").open("a", encoding="utf-8") as file:
        file.write('[[reference]]\nname = "right"\nprogram = "plain"\n')
    told: list[str] = []
    last: list[Progress] = []
    matrix = run_selftest(SelftestSettings(bed, seeds=2, seed=5), lambda row: told.append(row.name), last.append)
    right, mutant = matrix.rows
    assert [turn.seed for turn in right.turns] == [5, 6, 7, 8]
    assert [turn.seed for turn in mutant.turns] == [5, 6]
    assert [turn.runs for turn in mutant.turns] == [2, 1]  # the cheap checks on the first seed alone
    assert sorted(told) == ["it", "right"]
    assert (last[-1].done, last[-1].total, last[-1].bad) == (6, 6, 0)


def test_a_process_of_the_kit_that_ends_is_told_and_the_next_turn_gets_another(tmp_path: Path) -> None:
    bed = little(tmp_path, "first-fault")
    worker = Worker(bed)
    try:
        lost = worker.play("no-such-program", 0, 1)
        assert "the kit's process ended with 1" in lost.trouble
        found = worker.play("it", 1, 1)
        assert (found.trouble, found.seen) == ("", ("ERR-03",))
    finally:
        worker.close()


def test_a_folder_without_a_bed_and_a_name_that_is_nowhere_are_told(tmp_path: Path) -> None:
    with pytest.raises(BedMissing, match="no bed of mutants"):
        trial(bed=tmp_path)
    with pytest.raises(BedMissing, match="nothing"):
        trial("no-such-mutant")


def test_the_command_writes_the_matrix_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["selftest", "--only", "first-fault", "--seeds", "1", "--output", "json"])
    document = json.loads(capsys.readouterr().out)
    assert code == 0
    assert document["good"] is True
    assert document["rows"][0]["seen"][0] == "ERR-03"
