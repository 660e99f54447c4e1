"""Laws of making cases small: what comes out still fails, is never larger, and means the same."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extensor.contract import Json, JsonObject, Verb
from extensor.types import ResourceType, model
from extensor.types.flags import Flag
from extensor.types.validate import validate
from extensor_conformance.case import Case
from extensor_conformance.kind import Kind
from extensor_conformance.shrink import shrink, size
from extensor_conformance.steps import Answered, Call, Drop, Parallel, Plan, Step, Wait
from extensor_conformance.verdicts import Problem

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


def case_of(*steps: Step, expect: JsonObject | None = None, names: tuple[str, ...] = (NAME,)) -> Case:
    return Case("c", "X-01", "thing@1", 0, 1, Plan(steps, expect or {}), names)


def bodies(case: Case) -> list[Any]:
    found: list[Any] = []
    for step in case.steps:
        calls = step.calls if isinstance(step, Parallel) else (step.call if isinstance(step, Drop) else step,)
        found += [call.properties for call in calls if isinstance(call, Call)]
    return found


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
