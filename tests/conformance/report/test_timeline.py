"""A case for people: steps with what was answered."""

from dataclasses import replace

from tests.conformance.report.conftest import failing_case, frame, original_case

from extensor.contract import Verb
from extensor_conformance.case import Case
from extensor_conformance.report.model import Report
from extensor_conformance.report.timeline import Moment, compact, cut, details, exchanges, sizes, timeline
from extensor_conformance.steps import Call, Parallel, Plan, Restart
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Outcome, Verdict


def test_each_step_has_what_the_provider_answered(report: Report) -> None:
    moments = timeline(next(outcome for outcome in report.outcomes if outcome.verdict is Verdict.FAIL))
    assert [(moment.action, moment.answer) for moment in moments] == [
        ("previewSave", "ok"),
        ("save", "refused: InvalidProperty"),
        ("get", "no answer"),
    ]
    assert [moment.blamed for moment in moments] == [True, False, False]
    assert moments[1].seconds is not None
    assert abs(moments[1].seconds - 0.006) < 1e-9


def test_markers_and_late_values_are_words() -> None:
    assert compact({"a": [{"$unknown": {}}], "b": "<unknown>"}) == '{"a": [<unknown>], "b": "<unknown>"}'
    moment = timeline(Outcome("X", None, Verdict.FAIL, case=failing_case()))[2]
    assert moment.detail == "<answer of save: $.identifiers>"


def test_a_case_played_by_hand_is_told_from_the_wire() -> None:
    case = Case("a", "PROTO-02", None, 0, 1)
    entries = (Entry(0.1, ">", frame(1, method="provider/ping")), Entry(0.2, "<", frame(1, result={})))
    told = timeline(Outcome("PROTO-02", None, Verdict.FAIL, case=case, transcript=entries))
    assert [(moment.action, moment.answer) for moment in told] == [("provider/ping", "ok")]


def test_answers_are_matched_by_id_and_connection() -> None:
    entries = (
        Entry(0.1, ">", frame(1, method="a"), "", "1"),
        Entry(0.1, ">", frame(1, method="b"), "", "2"),
        Entry(0.2, "<", frame(1, result={}), "", "2"),
        Entry(0.3, "<", "not json", "", "1"),
    )
    assert [(frame_.method, frame_.answer) for frame_ in exchanges(entries)] == [("a", "no answer"), ("b", "ok")]


def test_batches_are_taken_apart() -> None:
    entries = (
        Entry(0.1, ">", f"[{frame(1, method='a')}, {frame(2, method='b')}]"),
        Entry(0.2, "<", f"[{frame(2, result={})}, {frame(1, result={})}]"),
    )
    assert [frame_.answer for frame_ in exchanges(entries)] == ["ok", "ok"]


def test_calls_at_once_are_each_a_moment() -> None:
    steps = (Parallel((Call("a", Verb.SAVE, {}), Call("b", Verb.GET, {}))), Restart("kill"))
    case = replace(failing_case(), plan=Plan(steps))
    actions = [moment.action for moment in timeline(Outcome("X", None, Verdict.FAIL, case=case))]
    assert actions == ["at once: save", "at once: get", "restart (kill)"]


def test_the_size_of_a_case_is_its_steps_and_values() -> None:
    assert sizes(failing_case()) == (3, 4)
    assert sizes(original_case()) == (5, 6)


def test_long_texts_are_cut_with_a_sign() -> None:
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 11, 10) == "x" * 9 + "…"


def test_a_case_is_shown_whole_while_it_is_short() -> None:
    short = [Moment("a", "save", "x" * 300), Moment("b", "save", "y" * 300)]
    assert details(short, 80) == ["x" * 300, "y" * 300]
    long = [*short, Moment("c", "get", "z")]
    assert details(long, 80) == ["x" * 79 + "…", "y" * 79 + "…", "z"]
