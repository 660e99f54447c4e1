"""What the runtime does around a handler, seen from a host."""

from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel, model_validator

from extensor import (
    Context,
    Identifier,
    Immutable,
    OperationFailed,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    Secret,
    Unknown,
    WriteOnly,
)
from extensor.contract import Fault
from extensor.contract.data import Import, ResourceData
from extensor.errors import RpcError
from extensor.testing import Host, connect

pytestmark = pytest.mark.anyio


class Disk(BaseModel):
    size: int = Field(ge=1)
    label: str | None = None


class Box(Properties):
    name: Identifier[str]
    text: str = ""
    disks: list[Disk] = []
    born: datetime | None = None
    region: Immutable[str | None] = None
    password: Secret[WriteOnly[str | None]] = None
    revision: ReadOnly[int | None] = None

    @model_validator(mode="after")
    def _known_region(self) -> "Box":
        if self.region == "moon":
            raise ValueError("there is no region moon")
        return self


class Settings(BaseModel):
    url: str
    key: Secret[str] = "key"


class BoxHandler(ResourceHandler[Box, Settings]):
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, Any]] = []
        self.answer: Any = None

    async def save(self, ctx: Context[Settings], desired: Box) -> Box:
        self.calls.append(("save", ctx, desired))
        return desired.model_copy(update={"revision": 1}) if self.answer is None else self.answer

    async def get(self, ctx: Context[Settings], wanted: Box) -> Box | None:
        self.calls.append(("get", ctx, wanted))
        return self.answer

    async def delete(self, ctx: Context[Settings], wanted: Box) -> None:
        self.calls.append(("delete", ctx, wanted))


class Lamp(Properties):
    id: Identifier[int]


class LampHandler(ResourceHandler[Lamp]):
    async def get(self, ctx: Context, wanted: Lamp) -> Lamp | None:
        return wanted


@pytest.fixture
def handler() -> BoxHandler:
    return BoxHandler()


@pytest.fixture
def provider(handler: BoxHandler) -> Provider:
    provider = Provider("boxes", "1.4.0", config=Settings, config_id=lambda config: f"plane of {config.url}")
    provider.add("Box@1.0", handler)
    provider.add("lamp@1.0", LampHandler)
    return provider


CONFIG = {"url": "https://one", "key": "s3cret-key"}


async def fails(host: Host, method: str, params: Any) -> list[Fault]:
    with pytest.raises(RpcError) as failed:
        await host.peer.call(method, params, timeout=5)
    return [Fault.from_wire(item) for item in failed.value.data["errors"]]


def request(**changes: Any) -> dict[str, Any]:
    imported = {"provider": "boxes", "version": "1.0.0", "config": CONFIG, **changes.pop("import", {})}
    return {"import": imported, "type": "box@1.0", "properties": {"name": "a"}, **changes}


async def test_a_save_gives_the_whole_resource_with_its_identifiers(provider: Provider, handler: BoxHandler):
    async with connect(provider, config=CONFIG) as host:
        result = await host.save(
            "box@1.0",
            {"name": "a", "disks": [{"size": 2}], "born": "2020-01-01T00:00:00Z", "password": "hunter22"},
            request_id="r1",
            deadline_seconds=30,
        )
    assert result.properties == {
        "name": "a",
        "text": "",
        "disks": [{"size": 2}],
        "born": "2020-01-01T00:00:00Z",
        "revision": 1,
    }
    assert result.identifiers == {"name": "a"}
    assert result.config_id == "plane of https://one"
    ((_, ctx, desired),) = handler.calls
    assert isinstance(ctx.config, Settings)
    assert (ctx.config.url, ctx.request_id, ctx.type_name) == ("https://one", "r1", "Box@1.0")
    assert 0 < ctx.seconds_left <= 30
    assert isinstance(desired.born, datetime)
    assert desired.password == "hunter22"


async def test_get_and_delete_see_the_identifiers_and_nothing_else(provider: Provider, handler: BoxHandler):
    handler.answer = Box(name="a")
    async with connect(provider, config=CONFIG) as host:
        got = await host.get("box@1.0", {"name": "a", "text": "ignored", "bogus": 1})
        gone = await host.delete("box@1.0", {"name": "a", "disks": "ignored"})
    assert got.properties == {"name": "a", "text": "", "disks": []}
    assert (gone.properties, gone.identifiers) == (None, {"name": "a"})
    for _, _, wanted in handler.calls:
        assert wanted.model_fields_set == {"name"}


async def test_a_resource_that_is_not_there_is_not_found_and_deleted_all_the_same(provider: Provider):
    async with connect(provider, config=CONFIG) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.get("box@1.0", {"name": "a"})
        assert failed.value.failure.code == "ResourceNotFound"
        assert (await host.delete("box@1.0", {"name": "a"})).properties is None


async def test_a_bare_request_needs_no_handshake_and_a_prefix_and_another_case_do_not_matter(provider: Provider):
    async with connect(provider, config=CONFIG, handshake=False) as host:
        assert (await host.save("Boxes:bOX@1.0", {"name": "a"})).identifiers == {"name": "a"}


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"import": {"provider": "files"}}, "$.import.provider", "InvalidRequest"),
        ({"import": {"version": "2.0.0"}}, "$.import.version", "UnsupportedVersion"),
        ({"import": {"version": "1.5.0"}}, "$.import.version", "UnsupportedVersion"),
        ({"type": "files:box@1.0"}, "$.type", "InvalidRequest"),
        ({"type": "bax@1.0"}, "$.type", "UnknownResourceType"),
        ({"type": "box@2.0"}, "$.type", "UnknownResourceType"),
        ({"type": "box"}, "$.type", "InvalidRequest"),
        ({"import": {"configId": "plane of https://two"}}, "$.import.configId", "ConfigMismatch"),
        ({"import": {"config": {}}}, "$.import.config.url", "MissingProperty"),
        ({"import": {"config": {"url": 1}}}, "$.import.config.url", "InvalidProperty"),
        ({"import": {"config": {"url": {"$unknown": {}}}}}, "$.import.config.url", "UnknownValueNotAllowed"),
        ({"properties": {}}, "$.properties.name", "MissingProperty"),
        ({"properties": {"name": "a", "nope": 1}}, "$.properties.nope", "UnknownProperty"),
        ({"properties": {"name": "a", "revision": 1}}, "$.properties.revision", "ReadOnlyProperty"),
        ({"properties": {"name": "a", "disks": [{"size": 0}]}}, "$.properties.disks[0].size", "InvalidProperty"),
        ({"properties": {"name": "a", "born": "yesterday"}}, "$.properties.born", "InvalidProperty"),
        ({"properties": {"name": "a", "region": "moon"}}, "$.properties", "InvalidProperty"),
        ({"properties": {"name": "a", "text": {"$unknown": {}}}}, "$.properties.text", "UnknownValueNotAllowed"),
    ],
)
async def test_a_request_that_does_not_fit_is_refused_with_its_place_and_touches_nothing(
    provider: Provider, handler: BoxHandler, change: dict[str, Any], path: str, code: str
):
    async with connect(provider) as host:
        faults = await fails(host, "resource/save", request(**change))
    assert [(fault.path, fault.code) for fault in faults] == [(path, code)]
    assert handler.calls == []


async def test_every_fault_is_told_at_once(provider: Provider):
    wrong = request(
        properties={"name": 1, "text": None, "nope": 1, "revision": 2}, **{"import": {"config": {"urk": 1}}}
    )
    async with connect(provider) as host:
        faults = await fails(host, "resource/save", wrong)
    assert {fault.path for fault in faults} >= {"$.import.config.url", "$.import.config.urk"}
    async with connect(provider) as host:
        wrong["import"]["config"] = CONFIG
        faults = await fails(host, "resource/save", wrong)
    assert {fault.path for fault in faults} == {"$.properties.name", "$.properties.nope", "$.properties.revision"}


@pytest.mark.reported("W33")
@pytest.mark.parametrize(
    ("params", "paths"),
    [
        (None, ["$"]),
        (3, ["$"]),
        ([], ["$"]),
        ("text", ["$"]),
        ({}, ["$.import", "$.type", "$.properties"]),
        ({**request(), "properties": []}, ["$.properties"]),
        ({**request(), "type": 1}, ["$.type"]),
        ({**request(), "import": {"version": "1.0.0"}}, ["$.import.provider"]),
        ({name: value for name, value in request().items() if name != "properties"}, ["$.properties"]),
    ],
)
async def test_params_of_the_wrong_shape_are_invalid_params(provider: Provider, params: Any, paths: list[str]):
    async with connect(provider) as host:
        with pytest.raises(RpcError) as failed:
            await host.peer.call("resource/save", params, timeout=5)
    assert failed.value.code == -32602
    assert [fault["path"] for fault in failed.value.data["errors"]] == paths


@pytest.mark.reported("W33")
async def test_a_member_of_the_params_that_nobody_knows_is_let_through(provider: Provider):
    async with connect(provider, config=CONFIG) as host:
        answer = await host.peer.call("resource/save", {**request(), "new": {"in": "2.0"}}, timeout=5)
    assert answer["identifiers"] == {"name": "a"}


async def test_deployment_instructions_are_dropped_unless_the_type_has_them(provider: Provider, handler: BoxHandler):
    class Chain(Properties):
        name: Identifier[str]
        depends_on: str | None = Field(default=None, alias="dependsOn")

    class ChainHandler(ResourceHandler[Chain]):
        async def save(self, ctx: Context, desired: Chain) -> Chain:
            return desired

    provider.add("chain@1.0", ChainHandler)
    async with connect(provider, config=CONFIG) as host:
        await host.save("box@1.0", {"name": "a", "dependsOn": ["other"]})
        kept = await host.save("chain@1.0", {"name": "a", "dependsOn": "me"})
    assert kept.properties == {"name": "a", "dependsOn": "me"}
    assert len(handler.calls) == 1


async def test_null_counts_as_not_given(provider: Provider, handler: BoxHandler):
    async with connect(provider, config=CONFIG) as host:
        await host.save("box@1.0", {"name": "a", "text": None, "disks": [{"size": 1, "label": None}], "region": None})
    ((_, _, desired),) = handler.calls
    assert desired.model_fields_set == {"name", "disks"}
    assert desired.disks[0].model_fields_set == {"size"}


@pytest.mark.parametrize(
    "answer",
    [
        "a text",
        {"name": "a"},
        Box.model_construct(name="a", revision="one"),
        Box.model_construct(name=7),
        Box.model_construct(name="a", text=Unknown()),
        Box.model_construct(name="a", disks=[{"size": "large"}]),
    ],
)
async def test_an_answer_that_does_not_fit_the_type_is_the_providers_fault(
    provider: Provider, handler: BoxHandler, answer: Any, capsys: pytest.CaptureFixture[str]
):
    handler.answer = answer
    async with connect(provider, config=CONFIG) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.save("box@1.0", {"name": "a"})
    failure = failed.value.failure
    assert failure.code == "InternalError"
    assert failure.correlation_id
    assert failure.correlation_id in failure.message
    assert failure.correlation_id in capsys.readouterr().err


async def test_identifiers_that_a_handler_forgot_are_filled_in(provider: Provider, handler: BoxHandler):
    handler.answer = Box.model_construct(text="hi")
    async with connect(provider, config=CONFIG) as host:
        result = await host.save("box@1.0", {"name": "a"})
    assert result.properties is not None
    assert (result.properties["name"], result.identifiers) == ("a", {"name": "a"})


async def test_a_type_that_can_only_be_got_says_so_for_the_other_verbs(provider: Provider):
    async with connect(provider, config=CONFIG) as host:
        for call in (host.save, host.preview_save, host.delete):
            with pytest.raises(OperationFailed) as failed:
                await call("lamp@1.0", {"id": 1})
            assert failed.value.failure.code == "OperationNotSupported"
        assert (await host.get("lamp@1.0", {"id": 1})).properties == {"id": 1}
        listed = await host.peer.call("provider/listTypes", {})
    assert listed["types"] == [
        {"type": "Box@1.0", "operations": ["save", "previewSave", "get", "delete"]},
        {"type": "lamp@1.0", "operations": ["get"]},
    ]


async def test_a_provider_without_configuration_takes_none():
    provider = Provider("lamps", "0.1.0")
    provider.add("lamp@1.0", LampHandler)
    async with connect(provider, config={"url": "x"}) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.get("lamp@1.0", {"id": 1})
        assert failed.value.failure.faults[0].path == "$.import.config.url"
        host.config = {}
        assert (await host.get("lamp@1.0", {"id": 1})).identifiers == {"id": 1}


class ByPassword(BaseModel):
    method: Literal["password"]
    password: Secret[str]


class ByCertificate(BaseModel):
    method: Literal["certificate"]
    thumbprint: str


class SignIn(RootModel[Annotated[ByPassword | ByCertificate, Field(discriminator="method")]]):
    pass


@pytest.mark.reported("T23")
async def test_a_configuration_may_have_variants_and_a_wrong_one_is_told_at_its_property():
    class Handler(ResourceHandler[Lamp, SignIn]):
        async def get(self, ctx: Context[SignIn], wanted: Lamp) -> Lamp | None:
            ctx.log("info", f"signing in with {ctx.config.root!r}")
            return wanted

    provider = Provider("lamps", "1.0.0", config=SignIn)
    provider.add("lamp@1.0", Handler)
    async with connect(provider, config={"method": "password", "password": "hunter22"}) as host:
        await host.get("lamp@1.0", {"id": 1})
        assert "ByPassword" in host.logs[0]["message"]
        assert "hunter22" not in host.logs[0]["message"]
        for config, path, code in (
            ({"method": "certificate"}, "thumbprint", "MissingProperty"),
            ({"method": "certificate", "thumbprint": "x", "password": "hunter22"}, "password", "UnknownProperty"),
            ({"method": "token"}, "method", "InvalidProperty"),
            ({"thumbprint": "x"}, "method", "MissingProperty"),
        ):
            host.config = config
            with pytest.raises(OperationFailed) as failed:
                await host.get("lamp@1.0", {"id": 1})
            faults = [(fault.path, fault.code) for fault in failed.value.failure.faults]
            assert faults == [(f"$.import.config.{path}", code)]


async def test_a_version_of_nought_serves_what_asks_for_an_earlier_one():
    provider = Provider("lamps", "0.1.0")
    provider.add("lamp@1.0", LampHandler)
    data = ResourceData(Import("LAMPS", "0.1"), "lamp@1.0", {"id": 1})
    async with connect(provider) as host:
        answer = await host.peer.call("resource/get", data.to_wire())
    assert answer["properties"] == {"id": 1}
