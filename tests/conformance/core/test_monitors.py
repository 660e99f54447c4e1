"""Each monitor alone: what it reports, where, and what it leaves in peace."""

from collections.abc import Callable

import pytest

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.answers import Answer, ErrorAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.monitors.errors import ErrorMonitor
from extensor_conformance.monitors.pace import PaceMonitor, Times, latency
from extensor_conformance.monitors.schema import SchemaMonitor
from extensor_conformance.monitors.secrets import SecretMonitor
from extensor_conformance.watch import Watch

GOOD = {"properties": {"name": "a", "size": 1}, "identifiers": {"name": "a"}}


@pytest.fixture
def box(make_bench: Callable[..., Bench]) -> Kind:
    kind = make_bench().kind
    assert kind
    return kind


def found(
    monitor: Monitor, kind: Kind | None, result: Json, verb: Verb | None = Verb.SAVE, **more: Json
) -> list[Finding]:
    import json

    error = more.get("error")
    raw = json.dumps({"result": result} if error is None else {"error": [error.message, error.data]}).encode()
    exchange = Exchange(verb.method if verb else more["method"], more.get("params", {}), 1, verb)
    exchange.answer = Answer(result, error, 1, raw, more.get("seconds", 0.0))
    return list(monitor.answered(exchange, kind))


def places(findings: list[Finding]) -> list[tuple[str, str | None]]:
    return [(item.check, item.problem.path) for item in findings]


@pytest.mark.parametrize(
    ("verb", "result", "expected"),
    [
        (Verb.SAVE, GOOD, []),
        (Verb.SAVE, {**GOOD, "newer": 1}, []),
        (Verb.DELETE, {"properties": None, "identifiers": {}}, []),
        (Verb.DELETE, GOOD, [("SCH-03", "$.properties")]),
        (Verb.GET, {"properties": None}, [("SCH-03", "$.properties")]),
        (Verb.GET, None, [("SCH-03", "$")]),
        (Verb.GET, {"identifiers": {}}, [("SCH-03", "$.properties")]),
        (Verb.SAVE, {**GOOD, "configId": 5}, [("SCH-03", "$.configId")]),
        (Verb.SAVE, {"properties": {"name": "a", "size": "1"}}, [("SCH-03", "$.properties.size")]),
        (Verb.SAVE, {"properties": {"name": "a", "size": 1, "x": 1}}, [("SCH-03", "$.properties.x")]),
        (Verb.SAVE, {"properties": {"name": "a", "size": {"$unknown": {}}}}, [("PRV-10", "$.properties.size")]),
        (Verb.PREVIEW_SAVE, {"properties": {"name": "a", "size": {"$unknown": {}}}}, []),
        (Verb.PREVIEW_SAVE, {"properties": {"name": "a", "size": {"$unknown": 5}}}, [("SCH-03", "$.properties.size")]),
        (Verb.SAVE, {**GOOD, "metadata": {"unknown": ["$.properties.size"]}}, [("PRV-11", "$.metadata")]),
        (Verb.PREVIEW_SAVE, {**GOOD, "metadata": {"unknown": ["/size"]}}, [("SCH-03", "$.metadata.unknown[0]")]),
    ],
)
def test_results_are_held_to_envelope_and_type(box: Kind, verb: Verb, result: Json, expected: list[object]) -> None:
    assert places(found(SchemaMonitor(), box, result, verb)) == expected


def test_answers_about_the_provider_are_held_to_their_envelope() -> None:
    assert places(found(SchemaMonitor(), None, {"types": [{"type": "a"}]}, None, method="provider/listTypes")) == [
        ("SCH-03", "$.types[0].operations")
    ]


def fault(code: str = "InvalidProperty", path: str | None = "$.properties.size", message: str = "m") -> JsonObject:
    return {"code": code, "message": message, **({"path": path} if path is not None else {})}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ErrorAnswer(-32010, "m", {"errors": [fault()]}), []),
        (ErrorAnswer(-32010, "m", {"errors": [fault(path=None)]}), []),
        (ErrorAnswer(-32010, "m", {"errors": [fault(path="$.properties.missing")]}), []),
        (ErrorAnswer(-32601, "no such method"), []),
        (ErrorAnswer(-32010, "m"), ["$.error.data.errors"]),
        (ErrorAnswer(-32010, "m", {"errors": []}), ["$.error.data.errors"]),
        (ErrorAnswer(-32800, "m", {}), ["$.error.data.errors"]),
        (ErrorAnswer(0, " ", {"errors": [fault()]}), ["$.error.code", "$.error.message"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault("not_found")]}), ["$.error.data.errors[0].code"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault(message="")]}), ["$.error.data.errors[0].message"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault(path="$[")]}), ["$.error.data.errors[0].path"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault(path="/size")]}), ["$.error.data.errors[0].path"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault(path="$.properties.a.b")]}), ["$.error.data.errors[0].path"]),
        (ErrorAnswer(-32603, "m", {"errors": [fault("x")]}), ["$.error.data.errors[0].code"]),
        (ErrorAnswer(-32010, "m", {"errors": [fault()], "retryAfterSeconds": -1}), ["$.error.data.retryAfterSeconds"]),
    ],
)
def test_errors_are_held_to_their_shape(box: Kind, error: ErrorAnswer, expected: list[str]) -> None:
    params = {"properties": {"size": 1}}
    assert [path for _, path in places(found(ErrorMonitor(), box, None, error=error, params=params))] == expected


def test_a_secret_may_come_back_in_its_own_place_and_nowhere_else(box: Kind) -> None:
    canaries = Canaries("cnrytest11")
    secret = canaries.fresh()
    box.type.body.properties["password"].flags &= ~type(box.type.body.properties["password"].flags).WRITE_ONLY  # type: ignore[union-attr]
    box.type.body.facts.clear()
    monitor = SecretMonitor(canaries)
    assert found(monitor, box, {"properties": {"name": "a", "password": secret}}) == []
    for leak in ({"name": secret}, {"name": "a", "other": [f"x{secret.encode().hex()}"]}, {secret: 1}):
        assert [check for check, _ in places(found(monitor, box, {"properties": leak}))] == ["SEC-01"]
    assert places(found(monitor, box, {"properties": {}, "identifiers": {"id": secret}})) == [
        ("SEC-01", "$.identifiers.id")
    ]


def test_a_write_only_secret_belongs_nowhere(box: Kind) -> None:
    canaries = Canaries("cnrytest12")
    result = {"properties": {"name": "a", "password": canaries.fresh()}}
    assert places(found(SecretMonitor(canaries), box, result)) == [("SEC-01", "$.properties.password")]


def test_secrets_of_the_configuration_are_looked_for_everywhere(box: Kind) -> None:
    monitor = SecretMonitor(Canaries("cnrytest13"), ("configured-secret",))
    assert places(found(monitor, box, {"properties": {"name": "configured-secret"}})) == [("SEC-02", None)]
    assert [item.check for item in monitor.logged(b"key configured-secret", "1")] == ["SEC-04"]
    assert list(monitor.logged(b"nothing", "1")) == []


def test_a_secret_in_the_seam_of_two_chunks_of_the_log_is_found() -> None:
    canaries = Canaries("cnrytest14")
    watch = Watch([SecretMonitor(canaries)])
    secret = canaries.fresh().encode()
    watch.logged(b"", b"log " + secret[:5], "1")
    watch.logged(b"log " + secret[:5], secret[5:], "1")
    assert [item.check for item in watch.take()] == ["SEC-04"]


def test_an_answer_after_more_than_a_minute_is_too_late(box: Kind) -> None:
    monitor = PaceMonitor()
    assert found(monitor, box, GOOD, seconds=59.0) == []
    assert [check for check, _ in places(found(monitor, box, GOOD, seconds=61.0))] == ["PRF-02"]
    assert latency([monitor])["resource/save"] == {"count": 2, "p50": 61.0, "p95": 61.0, "max": 61.0}


def test_the_sample_of_times_never_grows() -> None:
    times = Times()
    for number in range(10_000):
        times.add(number / 10_000)
    assert (times.count, len(times.sample), times.longest) == (10_000, 2000, 0.9999)


def test_a_monitor_that_breaks_is_the_kit_s_fault(box: Kind) -> None:
    class Broken(Monitor):
        def answered(self, exchange: Exchange, kind: Kind | None):
            raise RuntimeError("kit bug")
            yield

    watch = Watch([Broken()])
    watch.answered(Exchange("x", {}, 1))
    assert watch.take() == []
    assert "kit bug" in watch.kit_faults[0]
