"""Laws of making cases small: what comes out still fails, is never larger, and means the same."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extensor.contract import Json, JsonObject, Verb
from extensor.types import ResourceType, model
from extensor.types.flags import Flag
from extensor.types.validate import validate
from extensor_conformance.case import Case
from extensor_conformance.kind import Kind
from extensor_conformance.shrink import shrink, size
from extensor_conformance.steps import Answered, Call, Drop, Parallel, Plan, ProbeStep, Restart, Step, Wait
from extensor_conformance.verdicts import DiffRow, Problem

LAW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAME = "abcdefgh2"
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.integers(-1000, 1000) | st.text(max_size=8) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
BODIES = st.dictionaries(st.text("abcde", min_size=1, max_size=2), VALUES, max_size=5).map(
    lambda body: {"name": f"x{NAME}", **body}
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 8))):
        body = draw(BODIES)
        match draw(st.integers(0, 5)):
            case 0:
                calls = tuple(Call(f"p{number}.{index}", Verb.SAVE, body) for index in range(draw(st.integers(1, 3))))
                steps.append(Parallel(calls, f"p{number}"))
            case 1:
                steps.append(Drop(Call(f"d{number}", Verb.SAVE, body), name=f"drop {number}"))
            case 2 if steps and isinstance(steps[-1], Call):
                steps.append(Call(f"g{number}", Verb.GET, Answered(steps[-1].name, "$.identifiers")))
            case 3:
                steps.append(Wait(0.5, f"w{number}"))
            case _:
                steps.append(Call(f"s{number}", Verb.SAVE, body))
    return case_of(*steps)


def case_of(*steps: Step, expect: JsonObject | None = None, names: tuple[str, ...] = (NAME,), note: str = "") -> Case:
    return Case("c", "X-01", "thing@1", 0, 1, Plan(steps, expect or {}, note), names)


@st.composite
def related(draw: st.DrawFn) -> Case:
    """Some bodies, each sent by several steps, and bodies that differ from them in one place."""
    steps: list[Step] = []
    for body in draw(st.lists(BODIES, min_size=1, max_size=3)):
        for _ in range(draw(st.integers(1, 3))):
            steps.append(Call(f"s{len(steps)}", Verb.SAVE, body))
        name, value = draw(st.sampled_from(sorted(body))), draw(VALUES)
        steps.append(Call(f"s{len(steps)}", Verb.PREVIEW_SAVE, {**body, name: value}))
        steps.append(ProbeStep(f"s{len(steps)}", "exists", {"name": body["name"]}))
    return case_of(*draw(st.permutations(steps)))


def bodies(case: Case) -> list[Any]:
    found: list[Any] = []
    for step in case.steps:
        calls = step.calls if isinstance(step, Parallel) else (step.call if isinstance(step, Drop) else step,)
        found += [call.properties for call in calls if isinstance(call, Call)]
    return found


def sent(case: Case) -> dict[str, Any]:
    return {step.name: getattr(step, "properties", getattr(step, "identifiers", None)) for step in case.steps}


def places_apart(one: Any, other: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Where two bodies differ, by the members of objects."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: (one.get(name, ...), other.get(name, ...)) for name in {*one, *other}}
        return {place for name, pair in both.items() for place in places_apart(*pair, (*path, name))}
    return set() if type(one) is type(other) and one == other else {path}


def failing_when(test: Callable[[Case], bool]) -> Callable[[Case], list[Problem]]:
    return lambda case: [Problem("it fails", "$.properties", "s")] if test(case) else []


def weight(value: Any) -> int:
    if isinstance(value, dict | list):
        return 1 + sum(map(weight, value.values() if isinstance(value, dict) else value))
    return 1


@LAW
@given(cases(), st.integers(0, 40))
def test_what_comes_out_still_fails_and_is_never_larger(case: Case, least: int) -> None:
    fails = failing_when(lambda made: sum(weight(body) for body in bodies(made)) >= least)
    small = shrink(case, fails, seconds=2)

    assert size(small) <= size(case)
    assert bool(fails(small)) == bool(fails(case))
    assert (small.id, small.check, small.type, small.seed) == (case.id, case.check, case.type, case.seed)


@LAW
@given(cases())
def test_a_case_that_does_not_fail_again_stays_as_it_is(case: Case) -> None:
    assert shrink(case, lambda _: [], seconds=1) is case


@LAW
@given(cases())
def test_without_time_nothing_is_played(case: Case) -> None:
    def fails(_: Case) -> list[Problem]:
        raise AssertionError("nothing is to be played")

    assert shrink(case, fails, seconds=0) is case


@LAW
@given(cases())
def test_no_step_is_kept_without_the_step_that_it_takes_a_value_from(case: Case) -> None:
    small = shrink(case, failing_when(lambda made: len(made.steps) >= 1), seconds=2)
    known: set[str] = set()
    for step in small.steps:
        if isinstance(step, Call) and isinstance(step.properties, Answered):
            assert step.properties.step in known
        known.add(step.name)


def test_steps_go_first_then_properties_then_values() -> None:
    body: JsonObject = {"name": NAME, "bad": 977, "other": {"deep": [1, 2]}, "text": "long text"}
    case = case_of(
        Call("one", Verb.SAVE, {"name": NAME}),
        Wait(1),
        Call("two", Verb.PREVIEW_SAVE, body),
        Call("three", Verb.SAVE, body),
        Call("four", Verb.GET, Answered("three", "$.identifiers")),
    )
    fails = failing_when(lambda made: any(isinstance(item, dict) and item.get("bad", 0) > 100 for item in bodies(made)))

    small = shrink(case, fails, seconds=5)

    assert len(small.steps) == 1
    (left,) = bodies(small)
    assert set(left) == {"bad"}
    assert 100 < left["bad"] <= 244


def test_equal_bodies_are_changed_together() -> None:
    body: JsonObject = {"name": NAME, "extra": "x", "kept": 500}
    case = case_of(Call("preview", Verb.PREVIEW_SAVE, body), Call("save", Verb.SAVE, body))
    fails = failing_when(
        lambda made: len(bodies(made)) == 2 and bodies(made)[0] == bodies(made)[1] and "kept" in bodies(made)[0]
    )
    assert bodies(shrink(case, fails, seconds=5)) == [{"kept": 0}, {"kept": 0}]


@LAW
@given(related(), st.integers(0, 30))
def test_bodies_differ_only_where_they_did(case: Case, least: int) -> None:
    fails = failing_when(lambda made: sum(weight(body) for body in sent(made).values()) >= least)
    small = shrink(case, fails, seconds=2)

    before, after = sent(case), sent(small)
    for one in after:
        for other in after:
            were = places_apart(before[one], before[other])
            for place in places_apart(after[one], after[other]):
                assert any(place[: len(where)] == where for where in were), (one, other, place)


def test_a_body_that_lacks_one_property_lacks_no_other() -> None:
    whole: JsonObject = {"name": NAME, "network": {"subnet": "10.0.0.0/8", "port": 8080}, "extra": "text"}
    part: JsonObject = {"name": NAME, "network": {"subnet": "10.0.0.0/8", "port": 8080}}
    case = case_of(Call("whole", Verb.SAVE, whole), Call("part", Verb.SAVE, part), note="without $.properties.extra")

    small = sent(shrink(case, failing_when(lambda made: len(made.steps) == 2), seconds=5))

    assert small == {"whole": {"extra": ""}, "part": {}}


def test_what_the_note_says_of_a_place_stays_true() -> None:
    old: JsonObject = {"name": NAME, "labels": {"with-dash": "old", "other": "x"}, "size": 5}
    new: JsonObject = {**old, "labels": {"with-dash": "new", "other": "x"}}
    case = case_of(
        Call("first", Verb.SAVE, old),
        Call("preview", Verb.PREVIEW_SAVE, new),
        Call("save", Verb.SAVE, new),
        note="changes $.properties.labels['with-dash']",
    )
    small = sent(shrink(case, failing_when(lambda made: len(made.steps) == 3), seconds=5))

    assert small["preview"] == small["save"] != small["first"]
    assert [set(body) for body in small.values()] == [{"labels"}] * 3
    assert [set(body["labels"]) for body in small.values()] == [{"with-dash"}] * 3


def test_other_names_stay_other_names_and_related_ones_as_they_were() -> None:
    kind = sample()
    bodies_ = [{"name": f"{NAME}{end}", "count": 50} for end in ("", "1", "-a")]
    case = case_of(*(Call(f"save {body['name']}", Verb.SAVE, body) for body in bodies_))
    small = shrink(case, failing_when(lambda made: len(made.steps) == 3), seconds=5, kind=kind)
    assert [body["name"] for body in bodies(small)] == [NAME, f"{NAME}1", f"{NAME}-a"]


def test_what_the_probe_is_asked_about_is_what_was_sent() -> None:
    name = f"prefix-{NAME}"
    case = case_of(ProbeStep("world", "exists", {"name": name}), Call("preview", Verb.PREVIEW_SAVE, {"name": name}))
    fails = failing_when(lambda made: len(made.steps) == 2 and "name" in sent(made)["preview"])
    assert sent(shrink(case, fails, seconds=5)) == {"world": {"name": NAME}, "preview": {"name": NAME}}


def test_pauses_and_restarts_between_the_steps_stay() -> None:
    case = case_of(
        Wait(1),
        Call("save", Verb.SAVE, {"name": NAME}),
        Wait(1),
        Call("control", Verb.GET, {"name": NAME}),
        Wait(2),
        Restart(),
        Call("get", Verb.GET, {"name": NAME}),
        Wait(1),
        Restart(name="move"),
        Call("last", Verb.GET, {"name": NAME}),
    )
    fails = failing_when(lambda made: {"save", "get"} <= {step.name for step in made.steps})
    kinds = [step.name or type(step).__name__ for step in shrink(case, fails, seconds=5).steps]
    assert kinds == ["save", "Wait", "Restart", "get"]


def test_what_the_judge_expects_by_path_is_not_touched() -> None:
    body: JsonObject = {"name": NAME, "spec": {"wrong": [7, 8], "other": 9}, "more": 1}
    case = case_of(Call("save", Verb.SAVE, body), expect={"paths": ["$.properties.spec.wrong"]})
    small = shrink(case, failing_when(lambda made: True), seconds=5)
    assert bodies(small) == [{"spec": {"wrong": [7, 8]}}]


def test_another_problem_does_not_count() -> None:
    case = case_of(Call("one", Verb.SAVE, {"name": NAME}), Call("two", Verb.SAVE, {"name": NAME, "a": 1}))

    def fails(made: Case) -> list[Problem]:
        whole = len(made.steps) == 2 and "a" in bodies(made)[1]
        return [Problem("this", "$.properties.a", "two") if whole else Problem("that", "$.properties.name", "one")]

    small = shrink(case, fails, seconds=5)
    assert len(small.steps) == 2
    assert "a" in bodies(small)[1]


@pytest.mark.parametrize(
    "other",
    [
        Problem("it differs", "$.properties.a", "two", ("one", "other"), (DiffRow("$.properties.b", ("1", "2")),)),
        Problem("it differs", "$.properties.b", "two"),
        Problem("it differs", "$.properties.a", "one"),
        Problem("it is refused: error -32010: no (InvalidProperty)", "$.properties.a", "two"),
    ],
    ids=["a row more", "another path", "another step", "other words"],
)
def test_a_smaller_case_that_fails_in_another_way_is_not_taken(other: Problem) -> None:
    def fails(made: Case) -> list[Problem]:
        whole = all("b" in body for body in bodies(made))
        return [Problem("it differs", "$.properties.a", "two")] if whole else [other]

    case = case_of(Call("two", Verb.SAVE, {"name": NAME, "a": 5, "b": 7}))
    assert bodies(shrink(case, fails, seconds=5)) == [{"b": 0}]


def test_names_keep_their_tokens_and_secrets_their_canaries() -> None:
    secret = "cnry0123abcdz17"
    case = case_of(Call("save", Verb.SAVE, {"name": f"prefix-{NAME}-suffix", "password": f"Aa1!{secret}"}))
    fails = failing_when(lambda made: set(bodies(made)[0]) == {"name", "password"})
    assert bodies(shrink(case, fails, seconds=5)) == [{"name": NAME, "password": secret}]


def test_tokens_that_no_longer_occur_are_forgotten() -> None:
    case = case_of(
        Call("one", Verb.SAVE, {"name": NAME}), Call("two", Verb.SAVE, {"name": "zzzzzzzz9"}), names=(NAME, "zzzzzzzz9")
    )
    small = shrink(case, failing_when(lambda made: any(NAME in str(item) for item in bodies(made))), seconds=5)
    assert small.names == (NAME,)


def sample() -> Kind:
    body = model.ObjectType(
        "Thing",
        {
            "name": model.Property(model.StringType(min_length=5), Flag.REQUIRED | Flag.IDENTIFIER),
            "count": model.Property(model.IntegerType(10, 99), Flag.REQUIRED),
            "label": model.Property(model.StringType()),
        },
    )
    return Kind("thing@1", ResourceType("thing@1", body))


def test_valid_bodies_stay_valid() -> None:
    kind = sample()
    case = case_of(Call("save", Verb.SAVE, {"name": f"x-{NAME}", "count": 87, "label": "long"}))
    small = shrink(case, failing_when(lambda made: True), seconds=5, kind=kind)
    (left,) = bodies(small)
    assert validate(left, kind.type, purpose="save") == []
    assert set(left) == {"name", "count"}


def test_a_body_with_a_fault_keeps_that_fault_alone() -> None:
    kind = sample()
    case = case_of(Call("save", Verb.SAVE, {"name": NAME, "count": "not this", "label": "long"}))
    small = shrink(case, failing_when(lambda made: True), seconds=5, kind=kind)
    (left,) = bodies(small)
    assert [fault.path for fault in validate(left, kind.type, purpose="save")] == ["$.properties.count"]
    assert isinstance(left["count"], str)
    assert left["name"] == NAME


def test_a_procedural_case_has_nothing_to_make_small() -> None:
    case = Case("c", "LIF-04", None, 0, 1)
    assert shrink(case, failing_when(lambda made: True), seconds=5) is case
