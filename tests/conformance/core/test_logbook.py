"""A failure that an answer only names is told with the provider's own words about it, once."""

from collections.abc import Callable

import pytest

from extensor_conformance.answers import LOG_FOLLOWS, Answer, ErrorAnswer
from extensor_conformance.canary import Needles
from extensor_conformance.logbook import LOG, LOG_AT, LogBook, explained, folded, log_lines, told_once
from extensor_conformance.report import html, junit, markdown
from extensor_conformance.report.masking import without_secrets
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Outcome, Problem, Verdict

ONE, OTHER = "0123456789abcdef", "fedcba9876543210"
TRACE = """error: [{id}] box@1.0 save failed unexpectedly: Traceback (most recent call last):
error:   File "/srv/provider.py", line {line}, in save
error: KeyError: '{name}'
"""


def untested(check: str, reason: str, **facts: object) -> Outcome:
    return Outcome(check, "box@1.0", Verdict.NOT_TESTED, reason=reason, facts=facts)


def refusal(id_: str, step: str = "save") -> str:
    return f"{step} was refused: error -32010: it failed; its log has the details under {id_} (InternalError)"


def test_the_entry_with_the_id_of_a_failure_is_found_and_ends_at_the_next() -> None:
    book = LogBook()
    for id_, line in ((ONE, 7), (OTHER, 8)):
        book.add(TRACE.format(id=id_, line=line, name="a").encode())
    outcome = explained(untested("IDM-01", refusal(ONE)), book)
    assert log_lines(outcome) == TRACE.format(id=ONE, line=7, name="a").splitlines()


def test_a_failure_without_an_id_has_what_its_case_logged() -> None:
    book = LogBook()
    book.add(b"long ago\n")
    book.begin()
    book.add(b"the disk is gone\n")
    book.answered(Answer(error=ErrorAnswer(-32603, "oh")))
    book.add(b"later\n")
    assert log_lines(explained(untested("IDM-01", "save was refused: error -32603: oh"), book)) == ["the disk is gone"]


def test_what_is_logged_a_moment_after_the_answer_counts_too() -> None:
    book = LogBook()
    book.answered(Answer(error=ErrorAnswer(-32603, "oh")))
    book.add(b"the disk is gone\n")
    assert book.excerpt("error -32603: oh") == "the disk is gone"


@pytest.mark.parametrize("reason", ["no probe was given", "refused: error -32010: busy (Throttled)"])
def test_a_refusal_that_explains_itself_has_no_log(reason: str) -> None:
    book = LogBook()
    book.add(b"noise\n")
    book.answered(Answer(error=ErrorAnswer(-32010, "busy (Throttled)")))
    outcome = untested("IDM-01", reason)
    assert explained(outcome, book) == outcome


def test_the_log_of_a_crash_leaves_the_sentence() -> None:
    text = f"the provider ended with exit code 9{LOG_FOLLOWS}Traceback\n  File \"a.py\", line 1\nKeyError: 'x'"
    outcome = explained(Outcome("IDM-01", None, Verdict.FAIL, (Problem(text, step="save"),)), LogBook())
    assert outcome.problems == (Problem("the provider ended with exit code 9", step="save"),)
    assert log_lines(outcome)[-1] == "KeyError: 'x'"


def test_the_same_failure_is_told_once_under_the_gravest() -> None:
    def log(line: int, name: str) -> str:
        return TRACE.format(id=ONE, line=line, name=name).rstrip()

    outcomes = [
        untested("IDM-01", "r", log=log(7, "a")),
        untested("IDM-02", "r", log=log(8, "b")),
        Outcome("LIF-02", None, Verdict.FAIL, facts={LOG: log(7, "c")}),
    ]
    told = told_once(outcomes)
    assert [outcome.check for outcome in told] == ["IDM-01", "IDM-02", "LIF-02"]
    assert [outcome.facts for outcome in told] == [{LOG_AT: "LIF-02"}, {LOG: log(8, "b")}, {LOG: log(7, "c")}]
    assert log_lines(told[0]) == ["as under LIF-02"]


def test_reasons_that_differ_by_an_id_or_the_step_are_one() -> None:
    assert folded(refusal(ONE)) == folded(refusal(OTHER, "the next save")) != refusal(ONE)
    assert folded("no probe was given") == "no probe was given"


def test_secrets_in_the_log_are_masked() -> None:
    outcome = without_secrets(untested("IDM-01", "r", log="token hunter2hunter2"), Needles(("hunter2hunter2",)))
    assert outcome.facts == {LOG: "token ***"}


@pytest.mark.parametrize("fault", ["internal-error", "crash-save"])
def test_every_report_tells_what_the_provider_logged(run: Callable[..., Report], fault: str) -> None:
    report = run(fault, "IDM-01", "DEL-01")
    assert [set(outcome.facts) & {LOG, LOG_AT} for outcome in report.outcomes] == [{LOG}, {LOG_AT}]
    assert report.outcomes[0].facts[LOG].startswith(f"{fault}: the disk at /var/")
    for text in (html.render(report), junit.render(report), markdown.render(report)):
        assert f"{fault}: the disk at /var/" in text
        assert "as under IDM-01" in text or text.startswith("##")
    assert all("\n" not in item.reason for item in report.leftovers)
