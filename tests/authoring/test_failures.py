"""One boundary: what a handler raises and what the host learns of it."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from extensor import (
    Conflict,
    Identifier,
    InvalidProperty,
    NotFound,
    OperationFailed,
    PermissionDenied,
    PreviewNotSupported,
    Properties,
    Provider,
    ResourceHandler,
    SaveContext,
    Secret,
    Throttled,
    Unauthorized,
    Unavailable,
    Unknown,
    is_unknown,
)
from extensor.contract import Failure
from extensor.errors import RpcError
from extensor.testing import connect

pytestmark = pytest.mark.anyio


class Note(Properties):
    name: Identifier[str]
    text: str = ""
    tags: list[str] = []
    password: Secret[str | None] = None


def provider_of(
    save: Callable[[SaveContext, Note], Any], preview: Callable[[Any, Note], Any] | None = None
) -> Provider:
    class Handler(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            return save(ctx, desired)

    class Previewing(Handler):
        async def preview_save(self, ctx: Any, desired: Note) -> Note:
            return preview(ctx, desired) if preview else desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Previewing if preview else Handler)
    return provider


def raising(error: BaseException) -> Callable[[Any, Any], Any]:
    def handle(ctx: Any, desired: Any) -> Any:
        raise error

    return handle


async def failure_of(provider: Provider, properties: dict[str, Any] | None = None, *, preview: bool = False) -> Failure:
    async with connect(provider) as host:
        call = host.preview_save if preview else host.save
        with pytest.raises(OperationFailed) as failed:
            await call("note@1.0", properties or {"name": "a", "password": "hunter22"})
    return failed.value.failure


@pytest.mark.parametrize(
    ("error", "code", "path", "transient", "retry"),
    [
        (OperationFailed("no", code="OwnWord"), "OwnWord", None, False, None),
        (InvalidProperty("text", "too long"), "InvalidProperty", "$.properties.text", False, None),
        (InvalidProperty("tags[0]", "no"), "InvalidProperty", "$.properties.tags[0]", False, None),
        (Conflict("taken"), "Conflict", None, False, None),
        (NotFound("its parent is not there"), "ResourceNotFound", None, False, None),
        (Unauthorized("who?"), "Unauthorized", None, False, None),
        (PermissionDenied("no"), "PermissionDenied", None, False, None),
        (Throttled("slow down", retry_after=7), "Throttled", None, True, 7),
        (Unavailable("later"), "Unavailable", None, True, None),
        (PreviewNotSupported("no"), "PreviewNotSupported", None, False, None),
    ],
)
async def test_what_an_author_raises_reaches_the_host_unchanged(
    error: OperationFailed, code: str, path: str | None, transient: bool, retry: float | None
):
    failure = await failure_of(provider_of(raising(error)))
    assert (failure.code, failure.faults[0].path) == (code, path)
    assert (failure.transient, failure.retry_after_seconds) == (transient, retry)
    assert failure.correlation_id is None


@pytest.mark.reported("W33")
@pytest.mark.parametrize(
    "error", [TypeError("f() takes no arguments"), KeyError("hunter22"), RuntimeError("at /srv/x")]
)
async def test_anything_else_is_an_internal_error_whose_details_stay_in_the_log(
    error: Exception, capsys: pytest.CaptureFixture[str]
):
    async with connect(provider_of(raising(error))) as host:
        with pytest.raises(RpcError) as failed:
            await host.peer.call(
                "resource/save",
                {
                    "import": {"provider": "notes", "version": "1.0.0"},
                    "type": "note@1.0",
                    "properties": {"name": "a", "password": "hunter22"},
                },
            )
    assert failed.value.code == -32010
    failure = Failure.from_wire(failed.value.data)
    assert failure.code == "InternalError"
    said = json.dumps(failed.value.data) + failed.value.message
    assert str(error) not in said
    assert "Traceback" not in said
    log = capsys.readouterr().err
    assert failure.correlation_id is not None
    assert failure.correlation_id in log
    assert type(error).__name__ in log
    assert "Traceback" in log
    assert "hunter22" not in log


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_traceback_begins_at_the_authors_code_in_every_exception_of_a_chain(
    is_async: bool, capsys: pytest.CaptureFixture[str]
):
    def handle() -> None:
        try:
            {}["missing"]
        except KeyError as error:
            raise RuntimeError("no backend") from error

    class Async(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            handle()
            return desired

    class Plain(ResourceHandler[Note]):
        def save(self, ctx: SaveContext, desired: Note) -> Note:
            handle()
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Async if is_async else Plain)
    await failure_of(provider)
    log = capsys.readouterr().err
    places = [line for line in log.splitlines() if '  File "' in line]
    assert [place.rpartition(" in ")[2] for place in places] == ["handle", "save", "handle"]
    assert "KeyError" in log
    assert "RuntimeError: no backend" in log


async def test_a_traceback_of_a_group_begins_at_the_authors_code_too(capsys: pytest.CaptureFixture[str]):
    async def fail() -> None:
        raise KeyError("inside")

    class Grouped(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            async with anyio.create_task_group() as group:
                group.start_soon(fail)
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Grouped)
    await failure_of(provider)
    log = capsys.readouterr().err
    assert "extensor/authoring" not in log
    assert "in fail" in log


async def test_secrets_are_masked_in_what_an_author_says():
    def save(ctx: SaveContext, desired: Note) -> Note:
        raise OperationFailed(f"cannot log in with {desired.password}", resource={"identifiers": {"name": "hunter22"}})

    failure = await failure_of(provider_of(save))
    assert failure.message == "cannot log in with ***"
    assert failure.resource == {"identifiers": {"name": "***"}}


@pytest.mark.reported("E10")
async def test_a_failure_tells_what_exists_by_then():
    def save(ctx: SaveContext, desired: Note) -> Note:
        ctx.record({"name": "a"}, {"text": "half"})
        raise Unavailable("the second step failed")

    failure = await failure_of(provider_of(save))
    assert failure.resource == {"identifiers": {"name": "a"}, "properties": {"text": "half"}}

    def crash(ctx: SaveContext, desired: Note) -> Note:
        ctx.record({"name": "b"})
        raise RuntimeError

    assert (await failure_of(provider_of(crash))).resource == {"identifiers": {"name": "b"}}


async def test_failures_from_a_task_group_are_told_together():
    def save(ctx: SaveContext, desired: Note) -> Note:
        raise ExceptionGroup("", [InvalidProperty("text", "one"), ExceptionGroup("", [InvalidProperty("tags", "two")])])

    assert [fault.message for fault in (await failure_of(provider_of(save))).faults] == ["one", "two"]


async def test_a_group_with_a_bug_in_it_is_a_bug(capsys: pytest.CaptureFixture[str]):
    failure = await failure_of(
        provider_of(raising(ExceptionGroup("", [InvalidProperty("text", "one"), KeyError("x")])))
    )
    assert failure.code == "InternalError"
    assert "KeyError" in capsys.readouterr().err


def _use(name: str) -> Callable[[Any, Note], Any]:
    def preview(ctx: Any, desired: Note) -> Any:
        text: Any = desired.text
        uses: dict[str, Callable[[], Any]] = {
            "json": lambda: json.dumps({"text": text}),
            "model json": lambda: desired.model_dump_json(),
            "str": lambda: str(text),
            "f-string": lambda: f"{text}!",
            "concatenation": lambda: "a" + text,
            "join": lambda: "".join(["a", text, *"bc"]),
            "len": lambda: len(text),
            "if": lambda: 1 if text else 2,
            "==": lambda: text == "a",
            "in": lambda: "a" in text,
            "method": lambda: text.upper(),
            "open": lambda: Path(text).read_text(),
            "wrapped": lambda: wrapped(text),
        }
        uses[name]()
        return desired

    def wrapped(text: Any) -> None:
        try:
            text.upper()
        except TypeError as error:
            raise RuntimeError("cannot build the request") from error

    return preview


USES = [
    *("json", "model json", "str", "f-string", "concatenation", "join", "len"),
    *("if", "==", "in", "method", "open", "wrapped"),
]


@pytest.mark.reported("P02")
@pytest.mark.parametrize("use", USES)
async def test_a_preview_that_needs_an_unknown_says_which(use: str):
    provider = provider_of(lambda ctx, desired: desired, _use(use))
    failure = await failure_of(provider, {"name": "a", "text": Unknown("[reference('b').x]")}, preview=True)
    assert (failure.code, failure.faults[0].path) == ("PreviewNotSupported", "$.properties.text")
    assert "the value of text," in failure.message


async def test_a_preview_of_a_resource_whose_name_is_unknown_says_which_property_names_it():
    class Default(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Default)
    failure = await failure_of(provider, {"name": Unknown("[x]")}, preview=True)
    assert (failure.code, failure.faults[0].path) == ("PreviewNotSupported", "$.properties.name")
    assert failure.faults[0].message.startswith("name names the resource")


async def test_a_preview_that_asks_first_may_pass_unknowns_on():
    def preview(ctx: Any, desired: Note) -> Note:
        return Note(name=desired.name, text=desired.text if is_unknown(desired.text) else desired.text.upper())

    async with connect(provider_of(lambda ctx, desired: desired, preview)) as host:
        shown = await host.preview_save("note@1.0", {"name": "a", "text": Unknown("[x]")})
        plain = await host.preview_save("note@1.0", {"name": "a", "text": "b"})
    assert shown.properties is not None
    assert plain.properties is not None
    assert is_unknown(shown.properties["text"])
    assert shown.properties["text"].expression == "[x]"
    assert plain.properties["text"] == "B"


async def test_a_bug_in_a_preview_without_unknowns_is_a_bug(capsys: pytest.CaptureFixture[str]):
    provider = provider_of(lambda ctx, desired: desired, raising(TypeError("Unknown option")))
    assert (await failure_of(provider, {"name": "a"}, preview=True)).code == "InternalError"
    assert "Unknown option" in capsys.readouterr().err


class Odd(BaseException):
    """Nobody expects it."""


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        Odd("odd"),
        GeneratorExit(),
        StopIteration(4),
        BaseExceptionGroup("all", [Odd("one"), KeyError("two")]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_handler_raises_is_answered_and_holds_up_nobody(
    error: BaseException, is_async: bool, capsys: pytest.CaptureFixture[str]
):
    class Async(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            if desired.text == "fail":
                raise error
            return desired

    class Plain(ResourceHandler[Note]):
        def save(self, ctx: SaveContext, desired: Note) -> Note:
            if desired.text == "fail":
                raise error
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Async if is_async else Plain)
    with anyio.fail_after(10):
        async with connect(provider) as host:
            with pytest.raises(OperationFailed) as failed:
                await host.save("note@1.0", {"name": "a", "text": "fail"}, deadline_seconds=5)
            assert (failed.value.failure.code, bool(failed.value.failure.correlation_id)) == ("InternalError", True)
            await host.save("note@1.0", {"name": "a", "text": "well"})
    assert type(error).__name__ in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("OutOfQuota", "OutOfQuota"),
        ("out_of_quota", "OutOfQuota"),
        ("out of quota: hunter22", "OutOfQuota"),
        ("hunter22", "InternalError"),
        ("404", "InternalError"),
        ("X" * 65, "InternalError"),
    ],
)
async def test_a_code_is_told_as_the_contract_spells_codes_and_holds_no_secret(
    code: str, told: str, capsys: pytest.CaptureFixture[str]
):
    assert (await failure_of(provider_of(raising(OperationFailed("no", code=code))))).code == told
    log = capsys.readouterr().err
    assert "hunter22" not in log
    assert ("PascalCase" in log) == (code != told)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("$.properties.text", "$.properties.text"),
        ("$.properties.hunter22[0]", "$.properties['***'][0]"),
        ("$.properties['a hunter22']", "$.properties['a ***']"),
        ("nowhere hunter22", "$"),
    ],
)
async def test_a_path_with_a_secret_in_it_is_masked_and_stays_a_path(path: str, told: str):
    assert (await failure_of(provider_of(raising(OperationFailed("no", path=path))))).faults[0].path == told


async def test_a_result_that_has_no_json_is_told_with_the_id_under_which_it_is_logged(
    capsys: pytest.CaptureFixture[str],
):
    async with connect(provider_of(lambda ctx, desired: desired.model_copy(update={"text": "\ud800"}))) as host:
        with pytest.raises(RpcError) as failed:
            await host.save("note@1.0", {"name": "a"})
    told = Failure.from_wire(failed.value.data)
    assert (failed.value.code, told.code) == (-32603, "InternalError")
    assert told.correlation_id is not None
    assert told.correlation_id in capsys.readouterr().err


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_whose_own_task_was_canceled_has_failed_and_is_not_canceled(capsys: pytest.CaptureFixture[str]):
    class Handler(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            inner = asyncio.ensure_future(asyncio.sleep(10))
            inner.cancel()
            await inner
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Handler)
    assert (await failure_of(provider)).code == "InternalError"
    assert "CancelledError" in capsys.readouterr().err


async def test_canceling_a_call_answers_it_once_and_shows_in_the_handler():
    began, ended = anyio.Event(), anyio.Event()
    seen: list[bool] = []

    class Handler(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            began.set()
            try:
                await anyio.sleep_forever()
            finally:
                seen.append(True)
                ended.set()
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Handler)
    with anyio.fail_after(10):
        async with connect(provider) as host, anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as calls:
                    calls.start_soon(host.save, "note@1.0", {"name": "a"})
                    await began.wait()
                    scope.cancel()
            await ended.wait()
            assert await host.peer.call("provider/ping", {}) == {}
            group.cancel_scope.cancel()
    assert seen == [True]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_canceled_save_tells_what_exists_by_then_with_its_secrets_masked(is_async: bool):
    recorded, go = threading.Event(), threading.Event()

    class Async(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            ctx.record({"name": "a"}, {"text": "made with hunter22"})
            recorded.set()
            await anyio.sleep_forever()
            return desired

    class Plain(ResourceHandler[Note]):
        def save(self, ctx: SaveContext, desired: Note) -> Note:
            ctx.record({"name": "a"}, {"text": "made with hunter22"})
            recorded.set()
            go.wait(10)
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Async if is_async else Plain)
    failures: list[Failure] = []

    async def save(host: Any) -> None:
        with pytest.raises(OperationFailed) as failed:
            await host.save("note@1.0", {"name": "a", "password": "hunter22"})
        failures.append(failed.value.failure)

    with anyio.fail_after(10):
        async with connect(provider) as host, anyio.create_task_group() as group:
            group.start_soon(save, host)
            await anyio.to_thread.run_sync(recorded.wait, 10)
            await host.peer.notify("$/cancelRequest", {"id": 2})  # the handshake was 1
        go.set()
    assert failures[0].code == "Canceled"
    assert failures[0].resource == {"identifiers": {"name": "a"}, "properties": {"text": "made with ***"}}
