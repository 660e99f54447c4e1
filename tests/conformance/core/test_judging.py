"""What becomes of a case: passed, failed for sure, flaky, not tested, or the kit's own fault."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from extensor.contract import JsonObject, Verb
from extensor_conformance.adapters import Feature
from extensor_conformance.bench import Bench
from extensor_conformance.case import Case, Trial
from extensor_conformance.check import CaseCheck, Check, Procedure, check
from extensor_conformance.draw import Draw
from extensor_conformance.judging import Judge, StopSign, attempt, cases_of
from extensor_conformance.kind import Kind
from extensor_conformance.passive import PassiveBook
from extensor_conformance.steps import Answered, Call, Drop, Notify, Parallel, Plan, Raw, Request, Restart, Wait
from extensor_conformance.verdicts import Evidence, Failed, NotApplicable, NotTested, Outcome, Problem, Verdict

MakeBench = Callable[..., Bench]


class Playing(CaseCheck):
    """Plays given steps and judges with a given function."""

    def __init__(self, *steps: object, judge: Callable[[Trial], list[Problem]] = lambda _: []) -> None:
        self._steps = steps
        self._judge = judge

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        body = {"name": draw.names.token(), "size": draw.integer(0, 100)}
        yield Plan(tuple(step(body) if callable(step) else step for step in self._steps))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        return self._judge(trial)


@check("TEST-01", examples=2)
class Steps(Playing):
    pass


@check("TEST-02", examples=2, solo=True)
class SoloSteps(Playing):
    pass


def save(body: JsonObject) -> Call:
    return Call("save", Verb.SAVE, body)


def judged(bench: Bench, one: Check, kind: Kind | None = None) -> Outcome:
    return Judge(bench, PassiveBook(frozenset()), StopSign()).run(one, kind or bench.kind)


def always(_: Trial) -> list[Problem]:
    return [Problem("always")]


def test_no_problem_in_any_case_is_a_pass(make_bench: MakeBench) -> None:
    found = judged(make_bench(), Steps(save))
    assert (found.verdict, found.cases, found.evidence) == (Verdict.PASS, 2, Evidence.SELF_REPORTED)


def test_a_problem_that_comes_three_times_is_a_failure_with_case_and_transcript(make_bench: MakeBench) -> None:
    found = judged(make_bench(shrink=False), Steps(save, judge=always))
    assert (found.verdict, found.tries, found.cases) == (Verdict.FAIL, (3, 3), 1)
    assert found.case is not None
    assert found.case.names
    assert [entry.direction for entry in found.transcript] == [">", "<"]


def test_a_problem_that_comes_and_goes_is_flaky(make_bench: MakeBench) -> None:
    turns = iter([True, False, True])

    def sometimes(_: Trial) -> list[Problem]:
        return [Problem("now")] if next(turns) else []

    found = judged(make_bench(), Steps(save, judge=sometimes))
    assert (found.verdict, found.tries) == (Verdict.FLAKY, (2, 3))


def test_a_control_that_is_refused_makes_the_check_not_tested_never_passed(make_bench: MakeBench) -> None:
    def needs_control(trial: Trial) -> list[Problem]:
        trial.result("get")
        return []

    found = judged(make_bench(), Steps(Call("get", Verb.GET, {"name": "nobody"}), judge=needs_control))
    assert found.verdict is Verdict.NOT_TESTED
    assert found.reason == "get was refused: error -32010: absent (ResourceNotFound)"


def test_some_inconclusive_cases_beside_a_good_one_pass_and_are_counted(make_bench: MakeBench) -> None:
    turns = iter([True, False])

    def half(_: Trial) -> list[Problem]:
        if next(turns):
            raise NotTested("not this time")
        return []

    found = judged(make_bench(), Steps(save, judge=half))
    assert (found.verdict, found.facts) == (Verdict.PASS, {"inconclusive": 1})


def test_a_bug_of_the_kit_is_an_error_with_its_traceback(make_bench: MakeBench) -> None:
    def broken(_: Trial) -> list[Problem]:
        raise RuntimeError("kit bug")

    found = judged(make_bench(), Steps(save, judge=broken))
    assert found.verdict is Verdict.ERROR
    assert "kit bug" in str(found.reason)


def test_a_bug_in_a_plan_is_an_error_too(make_bench: MakeBench) -> None:
    def broken(_: JsonObject) -> Call:
        raise RuntimeError("plan bug")

    found = judged(make_bench(), Steps(broken))
    assert found.verdict is Verdict.ERROR
    assert "plan bug" in str(found.reason)


def test_a_plan_may_say_that_there_is_nothing_to_test(make_bench: MakeBench) -> None:
    def nothing(_: JsonObject) -> Call:
        raise NotApplicable("no such property")

    found = judged(make_bench(), Steps(nothing))
    assert (found.verdict, found.reason) == (Verdict.NOT_APPLICABLE, "no such property")


def test_a_step_without_an_answer_is_a_failure_even_if_the_judge_looks_elsewhere(make_bench: MakeBench) -> None:
    bench = make_bench("hang-save", timeout=0.3, retries=0)

    def later(trial: Trial) -> list[Problem]:
        trial.result("get")
        return []

    steps = Steps(save, Call("get", Verb.GET, Answered("save", "$.identifiers")), judge=later)
    found = judged(bench, steps)
    assert found.verdict is Verdict.FAIL
    assert found.problems == (Problem("resource/save was not answered within 0.3 s", step="save"),)
    assert found.facts["silent"] is True


def test_a_provider_that_dies_in_a_case_is_told_and_the_next_case_has_a_new_one(make_bench: MakeBench) -> None:
    bench = make_bench("die-save", retries=0)
    before = bench.connection().pid

    def looks(trial: Trial) -> list[Problem]:
        return [Problem(why) for _, why in trial.broken()]

    found = judged(bench, Steps(save, judge=looks))
    assert found.problems[0].message == "the provider ended with exit code 7"
    assert bench.connection().pid != before


def test_what_a_judge_notes_is_summed_up_for_the_conclusion(make_bench: MakeBench) -> None:
    def counted(trial: Trial) -> list[Problem]:
        trial.note("accepted", trial["save"].ok)
        return []

    class Concluding(Steps):
        def conclude(self, cases: int, facts: dict[str, float]) -> list[Problem]:
            return [Problem(f"{facts['accepted']:g} of {cases}")]

    found = judged(make_bench(), Concluding(save, judge=counted))
    assert (found.verdict, found.problems[0].message, found.facts) == (Verdict.FAIL, "2 of 2", {"accepted": 2.0})


def test_what_a_case_saved_is_gone_after_it(make_bench: MakeBench) -> None:
    bench = make_bench()
    names: list[JsonObject] = []

    def remember(trial: Trial) -> list[Problem]:
        names.append(trial["save"].identifiers)
        return []

    judged(bench, Steps(save, judge=remember))
    assert [made.deleted for made in bench.ledger.left()] == [True] * len(names)
    assert all(bench.get(name).has_code("ResourceNotFound") for name in names)
    assert bench.ledger.left() == []


def test_resources_of_a_failure_are_kept_on_demand(make_bench: MakeBench) -> None:
    bench = make_bench(keep_resources="on-failure", retries=0, shrink=False)
    judged(bench, Steps(save, judge=always))
    assert len(bench.ledger.left()) == 1


def test_a_solo_check_has_its_process_to_itself(make_bench: MakeBench) -> None:
    bench = make_bench()
    seen: set[int | None] = {bench.connection().pid}

    def look(_: Trial) -> list[Problem]:
        seen.add(bench.connection().pid)
        return []

    judged(bench, SoloSteps(save, judge=look))
    assert len(seen) == 2
    assert bench.connection().pid not in seen


# -- steps ------------------------------------------------------------------------------------------------------------


def played(bench: Bench, *steps: object) -> Trial:
    seen: list[Trial] = []

    def keep(trial: Trial) -> list[Problem]:
        seen.append(trial)
        return []

    found = judged(bench, Steps(*steps, judge=keep))
    assert found.verdict is Verdict.PASS, found
    return seen[0]


def test_values_come_from_earlier_answers(make_bench: MakeBench) -> None:
    trial = played(make_bench(), save, Call("get", Verb.GET, Answered("save", "$.properties", ("$.size",))))
    assert trial.sent("get") == trial["save"].identifiers
    assert trial["get"].properties == trial.sent("save")


def test_every_other_step_is_played(make_bench: MakeBench) -> None:
    trial = played(
        make_bench(),
        Notify("$/nothing"),
        Request("ping", "provider/ping"),
        Raw("raw", b'{"jsonrpc":"2.0","id":"r","method":"provider/ping"}\n{\n', ("r", None)),
        Wait(0.01),
        save,
        Parallel(
            (Call("a", Verb.GET, Answered("save", "$.identifiers")), Call("b", Verb.GET, {"name": "x"}, delay=0.01))
        ),
    )
    assert trial["ping"].result == {}
    assert trial["raw[0]"].ok
    assert not trial["raw[1]"].ok
    assert trial["a"].ok
    assert trial["b"].has_code("ResourceNotFound")


@pytest.mark.parametrize("how", ["eof", "shutdown", "term", "kill"])
def test_a_restart_gives_a_new_process(make_bench: MakeBench, how: str) -> None:
    bench = make_bench()
    before = bench.connection().pid
    trial = played(bench, save, Restart(how), Call("get", Verb.GET, Answered("save", "$.identifiers")))  # type: ignore[arg-type]
    assert bench.connection().pid != before
    assert trial["get"].has_code("ResourceNotFound")


def test_a_dropped_link_over_stdio_lets_the_process_finish(make_bench: MakeBench) -> None:
    bench = make_bench()
    trial = played(bench, lambda body: Drop(save(body)), Request("ping", "provider/ping"))
    assert trial["ping"].ok
    assert trial.broken() == []


def test_a_dropped_link_over_a_socket_comes_back_to_the_same_process(
    make_bench: MakeBench, plain: Callable[..., object]
) -> None:
    bench = make_bench(subject=plain("flood-stderr", "unix:"))
    before = bench.connection().pid
    trial = played(
        bench,
        save,
        lambda body: Drop(Call("again", Verb.SAVE, body)),
        Call("get", Verb.GET, Answered("save", "$.identifiers")),
    )
    assert bench.connection().pid == before
    assert trial["get"].ok
    place = Path(str(bench.connection().subject.address).removeprefix("unix:"))  # type: ignore[attr-defined]
    bench.close()
    assert not place.parent.exists()


# -- what a check needs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("needs", "verdict", "words"),
    [
        ({"features": {Feature.SOCKET}}, Verdict.NOT_APPLICABLE, "the wire stdio has no address"),
        ({"config": True}, Verdict.NOT_APPLICABLE, "takes no configuration"),
        ({"probe": True}, Verdict.NOT_TESTED, "--probe"),
        ({"kill": True}, Verdict.NOT_TESTED, "--allow-kill"),
        ({"faults": ["throttle"]}, Verdict.NOT_TESTED, "no fault of kind throttle"),
    ],
)
def test_what_is_missing_is_told(make_bench: MakeBench, needs: JsonObject, verdict: Verdict, words: str) -> None:
    @check("TEST-03", **needs)
    class Needy(Steps):
        pass

    found = judged(make_bench(), Needy(save))
    assert found.verdict is verdict
    assert words in str(found.reason)


def test_a_verb_that_the_type_lacks_makes_the_check_not_applicable(make_bench: MakeBench) -> None:
    bench = make_bench()
    assert bench.kind
    readable = Kind(bench.kind.name, bench.kind.type, frozenset({Verb.GET}))

    @check("TEST-04", operations={Verb.SAVE, Verb.GET})
    class Saving(Steps):
        pass

    found = judged(bench, Saving(save), readable)
    assert (found.verdict, found.reason) == (Verdict.NOT_APPLICABLE, "the type has no save")


def test_a_read_only_run_never_sends_a_save_or_a_delete(make_bench: MakeBench) -> None:
    bench = make_bench(read_only=True)
    for call in (save, lambda body: Call("delete", Verb.DELETE, body)):
        found = judged(bench, Steps(call))
        assert found.verdict is Verdict.NOT_TESTED
        assert "read-only" in str(found.reason)
    assert played(bench, Call("get", Verb.GET, {"name": "x"}))["get"].has_code("ResourceNotFound")


# -- procedures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [
        (NotTested("why"), Verdict.NOT_TESTED),
        (NotApplicable("why"), Verdict.NOT_APPLICABLE),
        (Failed(Problem("why")), Verdict.FAIL),
        (RuntimeError("why"), Verdict.ERROR),
    ],
)
def test_a_procedure_may_end_by_raising(make_bench: MakeBench, raised: Exception, verdict: Verdict) -> None:
    @check("TEST-05")
    class Raising(Procedure):
        def execute(self, bench: Bench) -> list[Problem]:
            raise raised

    found = judged(make_bench(), Raising())
    assert found.verdict is verdict
    assert "why" in f"{found.reason} {found.problems}"


def test_a_procedure_draws_the_same_for_the_same_seed(make_bench: MakeBench) -> None:
    drawn: list[list[int]] = []

    @check("TEST-06")
    class Drawing(Procedure):
        def execute(self, bench: Bench) -> list[Problem]:
            drawn.append([bench.draw(lambda draw: draw.integer(0, 10**9)) for _ in range(3)])
            bench.facts["drawn"] = 3
            return []

    for _ in range(2):
        assert judged(make_bench(seed=5), Drawing()).facts == {"drawn": 3}
    assert drawn[0] == drawn[1]
    judged(make_bench(seed=6), Drawing())
    assert drawn[2] != drawn[0]


def test_its_own_connections_end_with_the_case(make_bench: MakeBench) -> None:
    bench = make_bench()
    opened: list[object] = []

    @check("TEST-07")
    class Opening(Procedure):
        def execute(self, bench: Bench) -> list[Problem]:
            opened.append(bench.fresh())
            return []

    judged(bench, Opening())
    assert not opened[0].alive  # type: ignore[attr-defined]


# -- seeds ------------------------------------------------------------------------------------------------------------


def shapes(bench: Bench) -> Iterator[tuple[str, int, object]]:
    for case in cases_of(bench, Steps(save), bench.kind):
        call = case.steps[0]
        assert isinstance(call, Call)
        assert isinstance(call.properties, dict)
        yield case.id, case.seed, call.properties["size"]


def test_the_same_seed_gives_the_same_cases_whatever_the_names(make_bench: MakeBench) -> None:
    one, other = (list(shapes(make_bench(seed=11, max_examples=20))) for _ in range(2))
    assert one == other
    assert list(shapes(make_bench(seed=12, max_examples=20))) != one


def test_a_case_is_replayed_alone_with_the_same_end(make_bench: MakeBench) -> None:
    bench = make_bench()
    (case, *_) = cases_of(bench, Steps(save), bench.kind)
    again = Case.from_json(case.to_json()).fresh(bench.names)
    made = attempt(bench, Steps(save, judge=always), again, bench.kind)
    assert made.of("TEST-01") == [Problem("always")]
