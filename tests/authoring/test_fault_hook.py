"""The test hook: handlers fail as a file says, as if the world behind them did."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from extensor import (
    Context,
    Identifier,
    OperationFailed,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    SaveContext,
    Secret,
)
from extensor.authoring.fault_hook import KINDS, Fault, FaultFile, install
from extensor.contract import Failure, Verb
from extensor.testing import Host, connect
from extensor_conformance import faults as kit

pytestmark = pytest.mark.anyio


class Key(Properties):
    id: Identifier[ReadOnly[int | None]] = None
    space: Identifier[str]


class Note(Properties):
    name: Identifier[str]
    text: str = ""
    password: Secret[str | None] = None


class Settings(BaseModel):
    token: Secret[str] = ""


NAMED = {"name": "a"}
WHOLE = {"name": "a", "text": "hi", "password": "correct-horse-battery"}


def waiting() -> type[ResourceHandler[Note, Settings]]:
    class Handler(ResourceHandler[Note, Settings]):
        notes: dict[str, Note] = {}

        async def save(self, ctx: SaveContext[Settings], desired: Note) -> Note:
            self.notes[desired.name] = desired
            return desired

        async def get(self, ctx: Context[Settings], wanted: Note) -> Note | None:
            return self.notes.get(wanted.name)

        async def delete(self, ctx: SaveContext[Settings], wanted: Note) -> None:
            self.notes.pop(wanted.name, None)

    return Handler


def plain() -> type[ResourceHandler[Note, Settings]]:
    class Handler(ResourceHandler[Note, Settings]):
        notes: dict[str, Note] = {}

        def save(self, ctx: SaveContext[Settings], desired: Note) -> Note:
            self.notes[desired.name] = desired
            return desired

        def get(self, ctx: Context[Settings], wanted: Note) -> Note | None:
            return self.notes.get(wanted.name)

        def delete(self, ctx: SaveContext[Settings], wanted: Note) -> None:
            self.notes.pop(wanted.name, None)

    return Handler


def provider_of(*handlers: type[ResourceHandler[Any, Any]]) -> Provider:
    provider = Provider("notes", "1.0.0", config=Settings)
    for number, handler in enumerate(handlers, 1):
        provider.add(f"note@{number}.0", handler)
    return provider


@pytest.fixture(params=[waiting, plain])
def provider(request: pytest.FixtureRequest) -> Provider:
    """One whose handler awaits, and one of plain functions."""
    return provider_of(request.param())


@pytest.fixture
def file(tmp_path: Path, provider: Provider) -> Path:
    """The file that says how the provider's operations fail."""
    path = tmp_path / "faults.json"
    path.write_text("{}")
    install(provider, str(path))
    return path


def tell(file: Path, kind: str, **more: Any) -> None:
    write(file, json.dumps({"fault": kind, **more}))


def write(file: Path, text: str) -> None:
    file.write_text(text)


def read(file: Path) -> Any:
    return json.loads(file.read_text())


def beside(file: Path) -> list[str]:
    return [path.name for path in file.parent.iterdir() if path != file]


async def failure(host: Host, verb: Verb, properties: dict[str, Any], **context: Any) -> Failure:
    with pytest.raises(OperationFailed) as failed:
        await host.call(verb, "note@1.0", properties, **context)
    return failed.value.failure


@pytest.mark.parametrize(
    ("kind", "code", "transient", "wait"),
    [
        ("throttle", "Throttled", True, 1.0),
        ("transient", "Unavailable", True, None),
        ("denied", "PermissionDenied", False, None),
        ("raise", "InternalError", False, None),
    ],
)
async def test_each_verb_fails_as_told_and_then_works_again(
    provider: Provider, file: Path, kind: str, code: str, transient: bool, wait: float | None
) -> None:
    async with connect(provider) as host:
        for verb in (Verb.GET, Verb.SAVE, Verb.DELETE):
            await host.save("note@1.0", WHOLE)
            tell(file, kind, verb=verb.wire)
            failed = await failure(host, verb, WHOLE if verb is Verb.SAVE else NAMED)
            assert (failed.code, failed.transient, failed.retry_after_seconds) == (code, transient, wait)
            tell(file, kind, verb="previewSave")
            assert (await host.get("note@1.0", NAMED)).properties == WHOLE
            await host.delete("note@1.0", NAMED)
            write(file, "{}")


async def test_a_fault_without_a_verb_hits_each_and_one_with_times_ends_by_itself(
    provider: Provider, file: Path
) -> None:
    tell(file, "denied", times=2)
    async with connect(provider) as host:
        await failure(host, Verb.GET, NAMED)
        assert read(file)["times"] == 1
        await failure(host, Verb.SAVE, WHOLE)
        assert read(file) == {}
        await host.save("note@1.0", WHOLE)
    assert beside(file) == []


async def test_the_preview_that_is_made_for_a_handler_fails_as_its_get_does(provider: Provider, file: Path) -> None:
    tell(file, "transient", verb="get")
    async with connect(provider) as host:
        assert (await failure(host, Verb.PREVIEW_SAVE, WHOLE)).code == "Unavailable"


async def test_half_a_create_has_saved_and_tells_what_there_is(provider: Provider, file: Path) -> None:
    async with connect(provider) as host:
        tell(file, "half-create", times=1)
        assert (await failure(host, Verb.GET, NAMED)).code == "ResourceNotFound"  # a get cannot fail so
        failed = await failure(host, Verb.SAVE, WHOLE)
        assert (failed.code, failed.resource) == ("Unavailable", {"identifiers": NAMED})
        assert (await host.get("note@1.0", NAMED)).properties == WHOLE


async def test_half_a_create_tells_identifiers_that_the_provider_gave(tmp_path: Path) -> None:
    class Handler(ResourceHandler[Key]):
        async def save(self, ctx: SaveContext, desired: Key) -> Key:
            return Key(id=17, space=desired.space)

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Handler())
    tell(tmp_path / "faults.json", "half-create")
    install(provider, str(tmp_path / "faults.json"))
    async with connect(provider) as host:
        assert (await failure(host, Verb.SAVE, {"space": "s"})).resource == {"identifiers": {"id": 17, "space": "s"}}


async def test_half_a_create_leaves_what_the_handler_has_told_itself(tmp_path: Path) -> None:
    class Handler(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            ctx.record({"name": desired.name}, {"text": "first"})
            return desired

    provider = provider_of(Handler)
    tell(tmp_path / "faults.json", "half-create")
    install(provider, str(tmp_path / "faults.json"))
    async with connect(provider) as host:
        told = (await failure(host, Verb.SAVE, WHOLE)).resource
    assert told == {"identifiers": NAMED, "properties": {"text": "first"}}


async def test_a_delete_that_fails_has_removed_nothing(provider: Provider, file: Path) -> None:
    async with connect(provider) as host:
        tell(file, "delete-fails", times=1)
        await host.save("note@1.0", WHOLE)
        assert (await failure(host, Verb.DELETE, NAMED)).transient
        assert (await host.get("note@1.0", NAMED)).properties == WHOLE
        await host.delete("note@1.0", NAMED)
        assert (await failure(host, Verb.GET, NAMED)).code == "ResourceNotFound"


async def test_an_accident_is_told_with_all_it_knows_to_the_log_alone_and_without_secrets(
    provider: Provider, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(file, "raise")
    async with connect(provider, config={"token": "open-sesame-42"}) as host:
        failed = await failure(host, Verb.SAVE, WHOLE)
        assert host.logs == []
    log = capsys.readouterr().err
    assert failed.correlation_id is not None
    assert failed.correlation_id in log
    assert "hunter2" in log
    assert "hunter2" not in str(failed)
    assert "client.py" not in str(failed)
    assert "correct-horse" not in log
    assert "open-sesame" not in log


async def test_a_slow_operation_goes_on_after_its_time(provider: Provider, file: Path) -> None:
    tell(file, "slow", verb="save", seconds=0.05)
    async with connect(provider) as host:
        began = anyio.current_time()
        await host.save("note@1.0", WHOLE)
        assert anyio.current_time() - began >= 0.05
        assert (await host.get("note@1.0", NAMED)).properties == WHOLE


async def test_a_slow_operation_whose_call_has_ended_does_nothing_any_more(provider: Provider, file: Path) -> None:
    tell(file, "slow", verb="save", seconds=60, times=1)
    async with connect(provider) as host:
        with anyio.fail_after(5):
            assert (await failure(host, Verb.SAVE, WHOLE, deadline_seconds=0.05)).code == "DeadlineExceeded"
            await host.save("note@1.0", {**WHOLE, "text": "second"})
        assert (await host.get("note@1.0", NAMED)).properties == {**WHOLE, "text": "second"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "expected an object"),
        ("{", "Expecting"),
        ('{"fault": "fire"}', "expected one of throttle, transient"),
        ('{"fault": "denied", "verb": "preview_save"}', "expected one of save, previewSave"),
        ('{"fault": "denied", "times": 0}', "a whole number from 1"),
        ('{"fault": "denied", "seconds": "long"}', "a number from 0"),
        ('{"fault": "denied", "time": 1}', "unknown members: time"),
    ],
)
async def test_a_file_that_makes_no_sense_is_told_once_and_does_no_harm(
    provider: Provider, file: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    write(file, text)
    async with connect(provider) as host:
        await host.save("note@1.0", WHOLE)
        await host.get("note@1.0", NAMED)
    assert capsys.readouterr().err.count(told) == 1


async def test_a_file_that_is_not_there_asks_for_nothing(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(provider, str(tmp_path / "gone.json"))
    async with connect(provider) as host:
        await host.save("note@1.0", WHOLE)
    log = capsys.readouterr().err.splitlines()
    assert len(log) == 1
    assert log[0].startswith("warning: test faults are on: EXTENSOR_TEST_FAULTS is set")


def test_what_is_told_while_an_operation_counts_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "faults.json"
    tell(path, "denied", times=2)
    understand: Callable[[str], Fault | None] = Fault.read

    def and_meanwhile(text: str) -> Fault | None:
        path.write_text("{}")
        return understand(text)

    monkeypatch.setattr(Fault, "read", and_meanwhile)
    assert FaultFile(path).take(Verb.SAVE) == Fault("denied", None, 2)
    assert read(path) == {}
    assert beside(path) == []


async def test_a_handler_that_cannot_be_made_is_told_and_the_other_types_are_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(ResourceHandler[Note]):
        def __init__(self) -> None:
            raise RuntimeError("no disk")

        async def save(self, ctx: Context, desired: Note) -> Note:
            return desired

    provider = provider_of(waiting(), Broken)
    install(provider, str(tmp_path / "faults.json"))
    assert "Broken cannot be made: RuntimeError('no disk')" in capsys.readouterr().err
    async with connect(provider) as host:
        await host.save("note@1.0", WHOLE)
        with pytest.raises(OperationFailed):
            await host.save("note@2.0", WHOLE)


def test_the_hook_knows_the_kinds_that_the_kit_asks_for() -> None:
    assert set(KINDS) == set(kit.KINDS)
