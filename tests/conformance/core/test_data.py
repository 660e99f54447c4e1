"""The data of the kit: requirements, names, canaries, cases, transcripts, levels."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import Verb
from extensor_conformance.canary import Canaries, Needles
from extensor_conformance.case import Case, id_of, seed_of
from extensor_conformance.catalogue import GROUPS, LEVELS, chosen, load
from extensor_conformance.check import load_checks
from extensor_conformance.levels import levels_of
from extensor_conformance.names import Names, renamed
from extensor_conformance.steps import (
    Answered,
    Call,
    Drop,
    Notify,
    Parallel,
    Plan,
    ProbeStep,
    Raw,
    Request,
    Restart,
    Step,
    Wait,
    pick,
    step_from_json,
    step_to_json,
    without,
)
from extensor_conformance.transcript import Transcript, write
from extensor_conformance.verdicts import DiffRow, Evidence, Outcome, Problem, Severity, Verdict

# -- requirements -----------------------------------------------------------------------------------------------------


def test_there_are_80_requirements_64_of_them_core() -> None:
    rows = load().values()
    assert (len(rows), sum(row.core for row in rows)) == (80, 64)


def test_every_requirement_is_whole_and_rests_on_rules_of_the_protocol(project: Path) -> None:
    declared = set(re.findall(r"^\| (P-[A-Z]+-\d\d) \|", (project / "docs/protocol.md").read_text(), re.MULTILINE))
    for row in load().values():
        assert row.group in GROUPS
        assert row.level in LEVELS
        assert row.tier in ("core", "extended")
        assert row.rule
        assert set(row.rule) <= declared
        assert row.sentence.endswith(".")
        assert all((row.title, row.why, row.cause, row.fix))
        assert set(row.needs) <= {"probe", "faults", "kill"}


def test_every_check_that_is_written_is_in_the_catalogue() -> None:
    assert set(load_checks()) <= set(load())


def test_another_revision_is_refused() -> None:
    with pytest.raises(ValueError, match="no requirements for revision '9'"):
        load("9")


def test_checks_are_chosen_by_pattern_level_and_exclusion() -> None:
    rows = load().values()
    assert {row.id for row in chosen(rows, ["prv-0*"], ["PRV-01"])} == {f"PRV-0{number}" for number in range(2, 10)}
    assert {row.level for row in chosen(rows, level=2)} == {1, 2}


# -- names and canaries -----------------------------------------------------------------------------------------------


def test_two_runs_never_give_the_same_name() -> None:
    one, other = Names(), Names()
    assert {one.token() for _ in range(500)}.isdisjoint({other.token() for _ in range(500)})


def test_a_new_name_is_of_the_same_kind() -> None:
    new = Names().like("ab3-X9_z")
    assert re.fullmatch(r"[a-z]{2}\d-[A-Z]\d_[a-z]", new)
    assert new != "ab3-X9_z"


def test_related_names_stay_related() -> None:
    text = 'abc123xyz ABC123XYZ abc123xyz-2 "Abc123xyz"'
    assert renamed(text, [("abc123xyz", "def456uvw")]) == 'def456uvw DEF456UVW def456uvw-2 "Def456uvw"'


def test_names_that_swap_do_not_run_into_each_other() -> None:
    assert renamed("aaaa bbbb", [("aaaa", "bbbb"), ("bbbb", "aaaa")]) == "bbbb aaaa"


@given(
    secret=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=30),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_a_secret_is_found_in_every_spelling_wherever_it_stands(secret: str, before: bytes, after: bytes) -> None:
    raw = secret.encode()
    needles = Needles([secret])
    for text in (
        raw,
        json.dumps(secret).encode(),
        json.dumps(secret, ensure_ascii=False).encode(),
        quote(secret, safe="").encode(),
        raw.hex().encode(),
        raw.hex().upper().encode(),
        base64.b64encode(before + raw + after),
        base64.urlsafe_b64encode(before + raw + after),
    ):
        assert needles.found_in(b"x" + text + b"y")
        assert needles.found_in(needles.mask(b"x" + text + b"y")) is None


def test_every_canary_of_a_run_is_found_by_its_marker() -> None:
    canaries = Canaries("cnry0a1b2c3")
    made = [canaries.fresh() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert all(canaries.needles.found_in(base64.b64encode(text.encode())) for text in made)


# -- cases ------------------------------------------------------------------------------------------------------------

STEPS: tuple[Step, ...] = (
    Call("save", Verb.SAVE, {"name": "abc123xyz", "n": 1}, context={"deadlineSeconds": 1}, delay=0.5, config_id=None),
    Call("get", Verb.GET, Answered("save", "$.identifiers", ("$.x",)), config_id=Answered("save", "$.configId")),
    Request("ping", "provider/ping", {}),
    Notify("$/x", {"id": 1}),
    Raw("raw", b'{"a":"\xff\x00abc123xyz"}\n', (1, None, "x")),
    Parallel((Call("a", Verb.GET, {}), Call("b", Verb.DELETE, {}, cancel_after=0.1)), "both"),
    Restart("kill", 0.2),
    Drop(Call("c", Verb.SAVE, {}), 0.1),
    Wait(0.1),
    ProbeStep("p", "mutate", Answered("get"), {"n": 2}),
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.KIND)
def test_a_step_comes_back_from_its_file(step: Step) -> None:
    assert step_from_json(json.loads(json.dumps(step_to_json(step)))) == step


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(ValueError, match="'dance' is no step"):
        step_from_json({"step": "dance"})


def test_a_case_comes_back_from_its_file_and_can_be_played_on_new_names() -> None:
    case = Case("k7m2q", "PRV-02", "box@1.0", 3, 42, Plan(STEPS, {"path": "$.a"}, "note"), ("abc123xyz",))
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
    fresh = case.fresh(Names())
    (token,) = fresh.names
    assert token != "abc123xyz"
    call, raw = fresh.steps[0], fresh.steps[4]
    assert isinstance(call, Call)
    assert isinstance(raw, Raw)
    assert call.properties == {"name": token, "n": 1}
    assert raw.data == b'{"a":"\xff\x00' + token.encode() + b'"}\n'
    assert (fresh.id, fresh.plan.expect, fresh.plan.note) == ("k7m2q", {"path": "$.a"}, "note")


def test_seeds_depend_on_their_parts_alone() -> None:
    assert seed_of(1, "PRV-02", "a@1", 1) == seed_of(1, "PRV-02", "a@1", 1)
    assert len({seed_of(1, "PRV-02", "a@1", index) for index in range(100)}) == 100
    assert re.fullmatch("[a-z2-7]{6}", id_of(1, 0))


def test_values_are_picked_and_left_out_by_path() -> None:
    value = {"a": [{"b": 1, "c": 2}], "d": 3}
    assert pick(value, "$.a[0].b") == 1
    assert without(value, ("$.a[0].b", "$.d", "$.nothing.here")) == {"a": [{"c": 2}]}
    with pytest.raises(LookupError):
        pick(value, "$.a[1]")


# -- transcripts ------------------------------------------------------------------------------------------------------


def test_secrets_are_masked_before_a_text_is_cut(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.add("<", b"x" * 19_995 + b"hunter2hunter2" + b"y" * 9000)
    transcript.add(">", "key=" + base64.b64encode(b"hunter2hunter2").decode())
    entries = transcript.entries(Needles(["hunter2hunter2"]))
    assert "hunt" not in "".join(entry.text for entry in entries)
    assert entries[0].note.endswith("cut, 29009 in all")
    write(tmp_path / "wire.jsonl", entries)
    assert len((tmp_path / "wire.jsonl").read_text().splitlines()) == 2


def test_a_transcript_never_grows_beyond_its_bound() -> None:
    transcript = Transcript()
    for index in range(5000):
        transcript.add("<", f"{index} ".encode() * 500)
    entries = transcript.entries()
    assert len(entries) <= 2000
    assert sum(len(entry.text) for entry in entries) <= 4_000_000
    assert entries[-1].text.startswith("4999 ")


# -- verdicts and levels ----------------------------------------------------------------------------------------------


def test_a_problem_comes_back_from_its_file() -> None:
    problem = Problem("m", "$.a", "save", ("x", "y"), (DiffRow("$.a", ("1", "2")),), Severity.SHOULD)
    assert Problem.from_json(json.loads(json.dumps(problem.to_json()))) == problem


def all_passed() -> dict[str, Outcome]:
    return {id_: Outcome(id_, None, Verdict.PASS) for id_ in load()}


def test_all_levels_are_earned_when_all_passes() -> None:
    levels = levels_of(list(all_passed().values()), load())
    assert [level.earned for level in levels] == [True] * 4


@pytest.mark.parametrize(
    ("id_", "verdict", "highest"),
    [
        ("PROTO-01", Verdict.FAIL, 0),
        ("IDM-01", Verdict.FLAKY, 1),
        ("SEC-01", Verdict.NOT_TESTED, 2),
        ("CON-01", Verdict.ERROR, 3),
        ("SEC-05", Verdict.FAIL, 2),
        ("SEC-05", Verdict.NOT_TESTED, 4),
        ("ERR-09", Verdict.NOT_APPLICABLE, 4),
        ("SCH-05", Verdict.WARN, 4),
        ("PRV-12", Verdict.XFAIL, 4),
    ],
)
def test_a_level_ends_where_something_stands_in_its_way(id_: str, verdict: Verdict, highest: int) -> None:
    outcomes = {**all_passed(), id_: Outcome(id_, None, verdict)}
    levels = levels_of(list(outcomes.values()), load())
    assert sum(level.earned for level in levels) == highest
    assert all((id_ in level.blocked_by) == (level.number == highest + 1) for level in levels)


def test_the_highest_level_says_whether_the_world_was_asked() -> None:
    outcomes = all_passed()
    assert levels_of(list(outcomes.values()), load())[3].evidence is Evidence.SELF_REPORTED
    probed = [Outcome(item.check, None, Verdict.PASS, evidence=Evidence.PROBED) for item in outcomes.values()]
    assert levels_of(probed, load())[3].evidence is Evidence.PROBED


def test_a_check_that_was_left_out_costs_the_level() -> None:
    outcomes = [item for item in all_passed().values() if item.check != "PRV-02"]
    assert [level.earned for level in levels_of(outcomes, load())] == [True, True, False, False]
