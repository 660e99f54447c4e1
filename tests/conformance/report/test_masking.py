"""No secret leaves in any report, in any spelling."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.report.conftest import failing_case, sample

from extensor_conformance.canary import Needles, spellings
from extensor_conformance.report.formats import FORMATS
from extensor_conformance.report.masking import masked
from extensor_conformance.report.model import Leftover, Report
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import DiffRow, Outcome, Problem, Verdict

SECRET = 'pa"ss/wörd+Key7'


def leaking(text: str) -> Report:
    outcome = Outcome(
        "SEC-01",
        "note@1.0",
        Verdict.FAIL,
        (Problem(f"found {text}", None, None, ("seen",), (DiffRow("$.x", (text,)),)),),
        failing_case(),
        None,
        (Entry(0.0, "<", f'{{"a": "{text}"}}', text), Entry(0.0, "!", text)),
        reason=text,
        facts={text: text},
    )
    return replace(
        sample(),
        outcomes=(outcome,),
        subject={"title": f"provider --key {text}", "wire": "stdio"},
        leftovers=(Leftover("note@1.0", {"name": text}, text),),
        warnings=(text,),
        start_failure=text,
        kit_faults=(text,),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_secret_is_in_no_format_in_no_spelling(name: str) -> None:
    needles = Needles([SECRET])
    report = leaking(" | ".join(spelling.decode() for spelling in sorted(spellings(SECRET))))
    assert needles.found_in(report.outcomes[0].problems[0].message.encode()) is not None
    text = FORMATS[name].render(masked(report, needles))
    assert needles.found_in(text.encode()) is None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=8, max_size=24))
def test_any_text_can_be_a_secret(secret: str) -> None:
    needles = Needles([secret])
    report = leaking(secret)
    assert needles.found_in(FORMATS["json"].render(masked(report, needles)).encode()) is None


def test_a_secret_number_does_not_break_the_document() -> None:
    report = replace(sample(), seed=12345678)
    outcome = Outcome("PROTO-01", None, Verdict.PASS, facts={"value": 12345678})
    told = masked(replace(report, outcomes=(outcome,)), Needles(["12345678"]))
    assert told.seed == 12345678
    assert told.outcomes[0].facts == {"value": "***"}


def test_made_up_secrets_are_masked_unless_they_are_asked_for() -> None:
    report = leaking("cnry0123abcdz17")
    assert "cnry0123abcd" not in FORMATS["json"].render(masked(report, Needles()))
    assert "cnry0123abcdz17" in FORMATS["json"].render(masked(report, Needles(), canaries=False))
