"""What the kit keeps of a planted bug, made small, passes as soon as the bug is gone."""

from pathlib import Path

import pytest

from extensor_conformance.casefile import case_files
from extensor_conformance.check import CaseCheck, Passive, load_checks
from extensor_conformance.replay import Ending, replay
from extensor_conformance.runner import Run
from extensor_conformance.selftest.bed import Entry, filled, read_bed
from extensor_conformance.selftest.playing import fixture_for
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Verdict

BED = read_bed(None)
ANY_TIME = {"no-lock", "double-at-once", "blend", "zombie", "torn-read", "written-in-place"}
"""Calls that meet by chance show them: a smaller case need not."""


def played_by_case() -> list[Entry]:
    """The mutants that a check finds which sends cases, or a monitor in them."""
    checks = load_checks()
    return [
        entry
        for entry in BED.entries
        if entry.check is not None
        and isinstance(checks[entry.check], CaseCheck | Passive)
        and entry.wire == "stdio"
        and BED.programs[entry.program].missing is None
        and entry.name != "node-late"  # takes a minute
    ]


def settings(entry: Entry, switch: str, work: Path) -> Settings:
    program = BED.programs[entry.program]
    words = filled((*program.command, *(program.store if entry.store else ())), BED.folder, work)
    assert entry.check is not None
    return Settings(
        Subject(words, None, work, {"MUTANT": switch}),
        fixture_for(program, entry, work),
        seed=1,
        checks=(entry.check,),
        types=entry.types,
        folder=work / "kit",
        retries=1,
        shrink_budget=2.0,
        allow_kill=True,
        timeout=entry.timeout or program.timeout,
        faults="hook" if (program.faults if entry.faults is None else entry.faults) else None,
        probe=filled(program.probe, BED.folder, work) if entry.probe and entry.store else (),
    )


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.name) for entry in played_by_case()])
def test_the_small_case_of_a_planted_bug_passes_without_the_bug(entry: Entry, tmp_path: Path) -> None:
    outcomes = Run(settings(entry, entry.switch, tmp_path)).execute().outcomes
    red = {outcome.type for outcome in outcomes if outcome.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.FLAKY)}
    files = list(case_files(tmp_path / "kit" / "cases"))
    assert files or (red and entry.name in ANY_TIME), outcomes

    for file in files:
        told = "; ".join(problem.message for problem in file.problems)
        mended = replay(settings(entry, "", tmp_path), file)
        assert mended.ending is Ending.FIXED, f"{told}: {mended.reason or mended.problems}"
        if entry.name not in ANY_TIME:
            assert replay(settings(entry, entry.switch, tmp_path), file).ending is Ending.STILL_FAILS, told


def test_at_least_one_mutant_of_each_group_is_among_them() -> None:
    groups = {str(entry.check).partition("-")[0] for entry in played_by_case()}
    assert groups >= {"PROTO", "SCH", "PRV", "IDM", "DEL", "ERR", "SEC", "CON", "LIF"}
    assert len(played_by_case()) >= 60
