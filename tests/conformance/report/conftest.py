"""A report with one outcome of each verdict and values that no format may stumble over."""

import json

import pytest

from extensor.contract import Verb
from extensor_conformance.case import Case
from extensor_conformance.catalogue import load
from extensor_conformance.levels import levels_of
from extensor_conformance.report.model import Leftover, Report
from extensor_conformance.steps import Answered, Call, Parallel, Plan, Restart
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import DiffRow, Evidence, Outcome, Problem, Severity, Verdict

NASTY = 'a|b <script>alert("x")</script> & `tick` \x00\x1b[31m # $x$ \u2028 é 😀 ]]>'


def frame(id_: int, **members: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id_, **members})


def failing_case() -> Case:
    return Case(
        "k7m2qa",
        "PRV-08",
        "note@1.0",
        0,
        7,
        Plan(
            (
                Call("preview", Verb.PREVIEW_SAVE, {"name": "a", "text": {"$unknown": {}}}),
                Call("save", Verb.SAVE, {"name": "a", "text": "Ops"}),
                Call("get", Verb.GET, Answered("save", "$.identifiers")),
            ),
            note="text unknown",
        ),
        ("abcdefghi",),
    )


def original_case() -> Case:
    steps = (
        *failing_case().steps,
        Restart(),
        Parallel((Call("one", Verb.GET, {"name": "a"}), Call("two", Verb.GET, {"name": "b"}))),
    )
    return failing_case().with_plan(Plan(steps))


def transcript() -> tuple[Entry, ...]:
    refused = {"code": -32010, "message": "no", "data": {"errors": [{"code": "InvalidProperty", "message": NASTY}]}}
    return (
        Entry(0.0, "!", "started", "pid 7"),
        Entry(0.001, ">", frame(1, method="resource/previewSave", params={})),
        Entry(0.003, "<", frame(1, result={"properties": {"text": "none"}})),
        Entry(0.004, ">", frame(2, method="resource/save", params={})),
        Entry(0.010, "<", frame(2, error=refused)),
        Entry(0.011, ">", frame(3, method="resource/get", params={})),
    )


def sample() -> Report:
    rows = (DiffRow("$.properties.email", ("j@none", NASTY)), DiffRow("$.properties.size", ("1", "2")))
    failed = Outcome(
        "PRV-08",
        "note@1.0",
        Verdict.FAIL,
        (
            Problem(
                f"promised a value that the save did not keep: {NASTY}",
                "$.properties.email",
                "preview",
                ("preview", "saved"),
                rows,
            ),
            Problem("no path", severity=Severity.MUST),
        ),
        failing_case(),
        original_case(),
        transcript(),
        1.25,
        evidence=Evidence.PROBED,
        tries=(3, 3),
        cases=4,
    )
    outcomes = (
        Outcome("PROTO-01", None, Verdict.PASS, seconds=0.5, cases=1),
        Outcome("PROTO-03", None, Verdict.ERROR, reason="Traceback\nValueError: of the kit"),
        Outcome("SCH-03", "note@1.0", Verdict.WARN, (Problem("is odd", "$.properties.x"),), failing_case()),
        Outcome("SCH-09", None, Verdict.NOT_TESTED, reason="no older types"),
        failed,
        Outcome("IDM-01", "note@1.0", Verdict.FLAKY, (Problem("came once"),), tries=(1, 3), case=failing_case()),
        Outcome("PRV-12", "note@1.0", Verdict.XFAIL, (Problem("random", "$.properties.b"),), reason="by design"),
        Outcome("DEL-01", "note@1.0", Verdict.XPASS, reason="waived, and it passes: old"),
        Outcome("SEC-01", None, Verdict.NOT_APPLICABLE, reason="no type has a secret property"),
        Outcome("CON-01", "note@1.0", Verdict.PASS, seconds=0.1, cases=6, facts={"inconclusive": 1}),
    )
    return Report(
        kit="0.1.0",
        requirements="1",
        seed=8813402611,
        started="2030-01-01T00:00:00+00:00",
        seconds=34.125,
        subject={"title": "python -m contoso", "wire": "stdio"},
        provider={"name": "contoso", "version": "1.4.2", "protocol": "1", "startSeconds": 0.41},
        types=("note@1.0",),
        config_keys=("apiKey", "endpoint"),
        settings={"workers": 2, "strict": False, "fixture": "conf.toml", "fixtureLines": {"note@1.0": 12}},
        outcomes=outcomes,
        levels=levels_of(outcomes, load()),
        created=61,
        removed=60,
        leftovers=(Leftover("note@1.0", {"name": "a|b"}, "error -32010: not yours"),),
        stale_waivers=("DEL-01: old",),
        expired_waivers=("PRV-02: older",),
        warnings=("something",),
        latency={"resource/save": {"count": 3, "p50": 0.001, "p95": 0.002, "max": 0.004}},
        ledger=".conformance/ledger-x.jsonl",
    )


@pytest.fixture
def report() -> Report:
    return sample()
