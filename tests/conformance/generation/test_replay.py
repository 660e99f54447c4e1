"""Failing cases in files: written, found, played again and forgotten; and the search without end."""

import json
import sys
from pathlib import Path

import pytest

from extensor.contract import Verb
from extensor_conformance.canary import Canaries
from extensor_conformance.case import Case
from extensor_conformance.casefile import (
    CaseFileError,
    adopted,
    find_cases,
    forget_case,
    known_cases,
    read_case,
    write_case,
)
from extensor_conformance.fuzz import FUZZ, Fuzz
from extensor_conformance.replay import Ending, fixture_of, replay, subject_of
from extensor_conformance.settings import Settings
from extensor_conformance.steps import Call, Plan
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Problem, Verdict

PROVIDER = Path(__file__).parent.parent / "core" / "plain_provider.py"
CASE = Case(
    "k7m2qa",
    "SCH-06",
    "box@1.0",
    3,
    12345,
    Plan((Call("save", Verb.SAVE, {"name": "abcdefgh2", "password": "cnry0123abcdz4"}),), {"a": 1}, "a note"),
    ("abcdefgh2",),
)


def settings(fault: str, folder: Path) -> Settings:
    subject = Subject((sys.executable, str(PROVIDER), fault))
    return Settings(subject, seed=7, folder=folder, timeout=5, shrink_budget=3, retries=1)


def failed(case: Case = CASE, check: str = "SCH-06", verdict: Verdict = Verdict.FAIL) -> Outcome:
    return Outcome(check, case.type, verdict, (Problem("it fails \udc80", "$.properties.name", "save"),), case)


def test_a_case_file_gives_back_what_was_written(tmp_path: Path) -> None:
    start = settings("none", tmp_path).start
    path = write_case(tmp_path / "cases", failed(), {"seed": 7, "start": start})

    file = read_case(path)

    assert file.case == CASE
    assert (file.check, file.verdict, file.problems) == ("SCH-06", "FAIL", failed().problems)
    assert file.data["seed"] == 7
    subject = subject_of(file)
    assert subject is not None
    assert subject.command == (sys.executable, str(PROVIDER), "none")
    assert fixture_of(file) is None
    assert [item.name for item in path.parent.iterdir()] == ["k7m2qa.json"]


def test_what_a_monitor_saw_is_kept_beside_the_checks_own_failure(tmp_path: Path) -> None:
    write_case(tmp_path, failed(), {})
    write_case(tmp_path, failed(check="SEC-01"), {})

    assert known_cases(tmp_path) == [CASE]
    assert {file.check for file in find_cases(tmp_path, "k7m2qa")} == {"SCH-06", "SEC-01"}
    assert [file.path.name for file in find_cases(tmp_path, "sec-01")] == ["k7m2qa-sec-01.json"]
    forget_case(tmp_path, "k7m2qa")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_cases_are_passed_over_in_a_folder_and_told_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("{")
    (tmp_path / "two.json").write_text(json.dumps({"format": 99}))
    (tmp_path / "three.json").write_text(json.dumps({"format": 1, "case": {"id": "x"}}))

    assert known_cases(tmp_path) == []
    for name in ("one", "two", "three", "none"):
        with pytest.raises(CaseFileError, match=name):
            find_cases(tmp_path, str(tmp_path / f"{name}.json"))
    with pytest.raises(CaseFileError, match="has no case zzz"):
        find_cases(tmp_path, "zzz")


def test_an_earlier_runs_case_gets_the_canaries_of_this_one() -> None:
    step = adopted(CASE, Canaries("cnryffff0000")).steps[0]
    assert isinstance(step, Call)
    assert step.properties == {"name": "abcdefgh2", "password": "cnryffff0000z4"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Outcome]]:
    """What a search finds on a provider that echoes a write-only secret."""
    folder = tmp_path_factory.mktemp("fuzz")
    searched = Fuzz(settings("echo-secret", folder)).execute(cases=12)
    for outcome in searched.found:
        write_case(folder / "cases", outcome, {"start": settings("echo-secret", folder).start})
    return folder, searched.found


def test_the_search_finds_a_leak_and_makes_its_case_small(found: tuple[Path, list[Outcome]]) -> None:
    folder, outcomes = found
    leak = next(outcome for outcome in outcomes if outcome.check == "SEC-01")
    assert leak.case is not None
    assert leak.verdict is Verdict.FAIL
    assert leak.case.check == FUZZ
    assert len(leak.case.steps) == 1
    assert leak.original is not None
    assert not list(folder.glob("ledger*")), "everything that was made is gone"


def test_a_replay_fails_the_same_way_on_the_same_provider(found: tuple[Path, list[Outcome]]) -> None:
    folder, _ = found
    (file,) = find_cases(folder / "cases", "SEC-01")
    played = replay(settings("echo-secret", folder), file)
    assert played.ending is Ending.STILL_FAILS
    assert played.problems[0].path == file.problems[0].path
    assert played.transcript


def test_a_replay_on_a_repaired_provider_says_fixed(found: tuple[Path, list[Outcome]]) -> None:
    folder, _ = found
    (file,) = find_cases(folder / "cases", "SEC-01")
    played = replay(settings("none", folder), file, tries=2)
    assert (played.ending, played.failed, played.tries) == (Ending.FIXED, 0, 2)


def test_each_try_of_what_a_monitor_saw_gets_a_new_process(tmp_path: Path) -> None:
    path = write_case(tmp_path / "cases", failed(check="PROTO-03"), {})
    played = replay(settings("start-banner", tmp_path), read_case(path), tries=3)
    assert (played.ending, played.failed) == (Ending.STILL_FAILS, 3)


@pytest.mark.parametrize(
    ("fault", "change", "words"),
    [
        ("die", {}, "could not be greeted"),
        ("none", {"type": "jar@1.0"}, "has no type jar@1.0"),
        ("none", {"check": "NEW-99"}, "has no check NEW-99"),
    ],
)
def test_a_replay_that_cannot_be_says_why(
    fault: str, change: dict[str, str], words: str, tmp_path: Path, found: tuple[Path, list[Outcome]]
) -> None:
    (file,) = find_cases(found[0] / "cases", "SEC-01")
    data = {**file.data, "case": {**file.data["case"], **change}}
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    played = replay(settings(fault, tmp_path), read_case(path))
    assert played.ending is Ending.CANNOT_REPLAY
    assert words in played.reason


def test_the_same_seed_searches_the_same_way(tmp_path: Path) -> None:
    def calls() -> int:
        return Fuzz(settings("none", tmp_path)).execute(cases=3).calls

    assert calls() == calls()


def test_a_search_ends_when_it_is_told_or_its_time_is_over(tmp_path: Path) -> None:
    search = Fuzz(settings("none", tmp_path))
    done = search.execute(on_progress=lambda progress: search.stop("enough") if progress.cases == 2 else None)
    assert (done.cases, done.reason) == (2, "enough")
    assert Fuzz(settings("none", tmp_path)).execute(seconds=0.5).reason == "the time was over"
