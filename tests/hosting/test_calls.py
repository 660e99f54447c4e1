"""Verbs, their answers, and everything else a provider says."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import anyio
import pytest

from extensor.contract import CallContext, Failure, Fault, ResourceData, Unknown, Verb
from extensor.errors import CallTimedOut, InvalidProperty, NotFound, OperationFailed, ProtocolViolation
from extensor.hosting import CallLabel, Host, LaunchSpec, LogEntry, ProgressNotice, StopLadder, Token, TokenRequest

pytestmark = pytest.mark.anyio
Program = Callable[..., LaunchSpec]
Note = Callable[..., ResourceData]


async def test_the_four_verbs_go_there_and_back(program: Program, note: Note, tmp_path: Path):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes", "--state", tmp_path / "state"))
            saved = await session.call(Verb.SAVE, note("n", text="naïve 日本 🚀"))
            assert saved.properties == {"name": "n", "text": "naïve 日本 🚀", "words": 3}
            assert saved.identifiers == {"name": "n"}
            assert (await session.call(Verb.GET, note("n"))).properties == {"name": "n", "text": "naïve 日本 🚀"}
            assert (await session.call(Verb.DELETE, note("n"))).properties is None
            preview = await session.call(Verb.PREVIEW_SAVE, note("n", text=Unknown("[x]")))
            assert preview.properties is not None
            assert preview.properties["text"].expression == "[x]"
            assert preview.metadata is not None
            assert preview.metadata.calculated == ("$.properties.words",)


async def test_an_error_answer_is_the_exception_for_its_code(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes"))
            with pytest.raises(NotFound, match="there is no such note"):
                await session.call(Verb.GET, note("n"))


async def test_a_timeout_travels_as_the_deadline_and_an_own_deadline_stays(
    program: Program, note: Note, tmp_path: Path
):
    journal = tmp_path / "journal"
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("notes", "--journal", journal))
            await session.call(Verb.SAVE, note(), timeout=45)
            await session.call(Verb.SAVE, note(context=CallContext(7, symbolic_name="a")), timeout=45)
            await session.call(Verb.SAVE, note())
    sent = [json.loads(line)["params"] for line in journal.read_text().splitlines()]
    assert [params.get("context") for params in sent[1:]] == [
        {"deadlineSeconds": 45},
        {"deadlineSeconds": 7, "symbolicName": "a"},
        None,
    ]


@pytest.mark.reported("W25", "W26")
async def test_a_call_that_takes_too_long_is_canceled_at_the_provider_and_its_late_answer_dropped(
    program: Program, note: Note, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("extensor.hosting.session.ANSWER_GRACE", 0.1)
    heard: list[LogEntry] = []
    canceled = anyio.Event()

    def on_log(entry: LogEntry) -> None:
        heard.append(entry)
        canceled.set()

    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("slow"), on_log=on_log)
            with pytest.raises(CallTimedOut, match="provider slow did not answer resource/save within"):
                await session.call(Verb.SAVE, note(), timeout=0.3)
            await canceled.wait()
            assert (await session.call(Verb.GET, note("after"))).properties == {"name": "after"}
    assert [(e.source, e.level, e.message) for e in heard] == [("log", "warning", "canceled 0.3")]


async def test_a_caller_that_is_canceled_cancels_the_call_at_the_provider(program: Program, note: Note):
    started, canceled = anyio.Event(), anyio.Event()
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(
                program("slow"), on_log=lambda entry: canceled.set(), on_progress=lambda notice: started.set()
            )
            async with anyio.create_task_group() as group:
                group.start_soon(session.call, Verb.SAVE, note())
                await started.wait()
                group.cancel_scope.cancel()
            await canceled.wait()


async def test_no_time_at_all_is_a_timeout_without_a_call(program: Program, note: Note):
    async with Host() as host:
        session = host.lazy(program("notes"))
        with pytest.raises(CallTimedOut, match="no time was left"):
            await session.call(Verb.SAVE, note(), timeout=0)
        assert session.starts == 0


async def test_progress_reaches_the_host(program: Program, note: Note):
    heard: list[ProgressNotice] = []
    said = anyio.Event()

    def on_progress(notice: ProgressNotice) -> None:
        heard.append(notice)
        said.set()

    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("slow"), on_progress=on_progress)
            async with anyio.create_task_group() as group:
                group.start_soon(session.call, Verb.SAVE, note(context=CallContext(symbolic_name="web")))
                await said.wait()
                group.cancel_scope.cancel()
    assert [(n.provider, n.message, n.percent) for n in heard] == [("slow", "half way", 50.0)]
    assert heard[0].call == CallLabel("resource/save", "note@1.0", "web", None)


@pytest.mark.reported("W09")
async def test_a_stray_line_on_stdout_is_skipped_and_reported_with_provider_call_and_first_bytes(
    program: Program, note: Note
):
    heard: list[LogEntry] = []
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("warns_on_stdout"), on_log=heard.append)
            assert (await session.call(Verb.SAVE, note())).properties == {"name": "n"}
    (entry,) = heard
    assert entry.source == "host"
    assert entry.level == "warning"
    for part in ("warns_on_stdout", "resource/save", "WARNING: libfoo is deprecated"):
        assert part in entry.message


@pytest.mark.reported("W09")
async def test_a_stray_line_in_place_of_the_answer_is_named_in_the_timeout(
    program: Program, note: Note, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("extensor.hosting.session.ANSWER_GRACE", 0.1)
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("warns_on_stdout", "only"))
            with pytest.raises(CallTimedOut, match="WARNING: libfoo is deprecated"):
                await session.call(Verb.SAVE, note(), timeout=0.5)


async def test_the_second_answer_to_a_call_is_dropped(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("answers_twice"))
            for number in range(5):
                result = await session.call(Verb.SAVE, note(f"n{number}", text="first"))
                assert result.properties == {"name": f"n{number}", "text": "first"}


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("list", "expected an object, got an array"),
        ("no-properties", r"\$\.properties: is required"),
        ("null-properties", "null properties"),
        ("unknown", "unknown value"),
        ("bad-unknown", r"\$\.properties\.text"),
    ],
)
async def test_an_answer_of_another_shape_names_provider_verb_and_place(
    program: Program, note: Note, mode: str, words: str
):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("wrong_shapes", mode))
            with pytest.raises(ProtocolViolation, match=f"provider wrong_shapes answered resource/save .*{words}"):
                await session.call(Verb.SAVE, note())


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [
        ("internal", "InternalError", "provider wrong_shapes refused resource/save: it broke"),
        ("no-such-method", "OperationNotSupported", "no such method"),
        ("string-data", "InternalError", "it failed"),
        ("no-reason", "InternalError", "no reason"),
    ],
)
async def test_an_error_of_another_shape_is_still_a_failed_operation(
    program: Program, note: Note, mode: str, code: str, words: str
):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("wrong_shapes", mode))
            with pytest.raises(OperationFailed, match=words) as caught:
                await session.call(Verb.SAVE, note())
            assert caught.value.failure.code == code
            assert not caught.value.failure.transient


async def test_a_provider_gets_a_token_from_its_host_and_the_token_is_masked_from_then_on(program: Program, note: Note):
    asked: list[TokenRequest] = []
    heard: list[LogEntry] = []

    async def source(request: TokenRequest) -> Token:
        asked.append(request)
        return Token("eyJ-very-secret", datetime(2033, 5, 18, 5, 33, 20, tzinfo=timezone(timedelta(hours=2))))

    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("asks_for_token"), token_source=source, on_log=heard.append)
            result = await session.call(Verb.SAVE, note())
            await session.aclose()
    assert result.properties is not None
    assert json.loads(result.properties["text"]) == {"token": "eyJ-very-secret", "expiresOn": "2033-05-18T03:33:20Z"}
    assert asked == [TokenRequest(("all",), None, True)]
    assert "eyJ-very-secret" not in session.stderr_tail
    assert "***" in session.stderr_tail
    assert "eyJ-very-secret" not in str(heard)


async def test_a_token_that_is_refused_reaches_the_provider_as_the_failure(program: Program, note: Note):
    async def source(request: TokenRequest) -> Token:
        raise OperationFailed("sign in first", code="Unauthorized")

    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("asks_for_token"), token_source=source)
            result = await session.call(Verb.SAVE, note())
    assert result.properties is not None
    error = json.loads(result.properties["text"])
    assert error["code"] == -32010
    assert error["data"]["errors"] == [{"code": "Unauthorized", "message": "sign in first"}]


async def test_a_host_without_tokens_says_so(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("asks_for_token"))
            result = await session.call(Verb.SAVE, note())
    assert result.properties is not None
    assert json.loads(result.properties["text"])["code"] == -32601


async def test_types_are_listed_with_the_verbs_we_know(program: Program):
    with anyio.fail_after(10):
        async with Host() as host:
            (listed,) = await (await host.start(program("notes"))).list_types()
    assert (listed.type, listed.verbs, listed.extends) == ("note@1.0", frozenset(Verb), None)


async def test_a_provider_that_stops_reading_costs_a_call_no_more_than_its_time(
    program: Program, note: Note, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("extensor.hosting.session.ANSWER_GRACE", 0.1)
    with anyio.fail_after(10):
        async with Host(ladder=StopLadder(0.1, 0.1, 2)) as host:
            session = await host.start(program("deaf"))
            for _ in range(3):
                with anyio.fail_after(2), pytest.raises(CallTimedOut):
                    await session.call(Verb.SAVE, note("n", text="x" * 1_000_000), timeout=0.3)


async def test_a_callers_cancel_is_heard_while_the_provider_does_not_read(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host(ladder=StopLadder(0.1, 0.1, 2)) as host:
            session = await host.start(program("deaf"))
            for _ in range(3):
                with anyio.move_on_after(0.1) as scope:
                    await session.call(Verb.SAVE, note("n", text="x" * 1_000_000))
                assert scope.cancelled_caught


@pytest.mark.reported("E01")
async def test_all_that_a_provider_says_of_a_failure_arrives(program: Program, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.start(program("wrong_shapes", "detailed"))
            with pytest.raises(InvalidProperty) as caught:
                await session.call(Verb.SAVE, note())
    assert caught.value.failure == Failure(
        (
            Fault("InvalidProperty", "too long", "$.properties.name"),
            Fault("QuotaReached", "there are 100 notes"),
        ),
        resource={"identifiers": {"name": "n"}},
        correlation_id="c-1",
    )
