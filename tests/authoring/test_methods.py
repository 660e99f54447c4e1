"""The protocol's methods beside the four verbs."""

from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from extensor import Context, Identifier, Properties, Provider, ResourceHandler
from extensor.authoring.connection import Connection
from extensor.authoring.runtime import ProviderRuntime
from extensor.errors import RpcError
from extensor.rpc import Peer, memory_pair
from extensor.testing import connect

pytestmark = pytest.mark.anyio


class Note(Properties):
    name: Identifier[str]


class Config(BaseModel):
    url: str


class NoteHandler(ResourceHandler[Note]):
    def __init__(self) -> None:
        self.go_on = anyio.Event()
        self.began = anyio.Event()

    async def save(self, ctx: Context, desired: Note) -> Note:
        self.began.set()
        await self.go_on.wait()
        return desired


def make(config: type[BaseModel] | None = None) -> Provider:
    provider = Provider("notes", "1.2.3", config=config)
    provider.add("note@1.0", NoteHandler)
    return provider


async def refused(peer: Peer, method: str, params: Any) -> RpcError:
    with pytest.raises(RpcError) as failed:
        await peer.call(method, params, timeout=5)
    return failed.value


async def test_the_greeting_names_version_and_limits():
    async with connect(make(), handshake=False) as host:
        answer = await host.peer.call("provider/initialize", {"protocolVersions": ["9", "1"]})
    assert answer["protocolVersion"] == "1"
    assert answer["provider"] == {"name": "notes", "version": "1.2.3"}
    assert answer["capabilities"] == {"cancel": True, "progress": True, "batch": True}
    assert answer["limits"]["maxMessageBytes"] == 16 * 1024 * 1024


async def test_an_unknown_protocol_version_is_refused_by_naming_the_known_ones_and_a_second_try_may_succeed():
    async with connect(make(), handshake=False) as host:
        error = await refused(host.peer, "provider/initialize", {"protocolVersions": ["9"]})
        assert error.data["errors"][0]["code"] == "UnsupportedVersion"
        assert (error.code, error.data["supportedVersions"]) == (-32602, ["1"])
        assert (await refused(host.peer, "provider/initialize", {})).code == -32602
        assert (await host.peer.call("provider/initialize", {"protocolVersions": ["1"]}))["protocolVersion"] == "1"


async def test_types_are_told_in_three_ways():
    async with connect(make(Config)) as host:
        one = await host.peer.call("provider/getType", {"type": "NOTE@1.0"})
        config = await host.peer.call("provider/getConfigType", {})
        index = await host.types()
    assert "name" in str(one)
    assert "url" in str(config)
    assert "note@1.0" in index.resources
    async with connect(make()) as host:
        assert await host.peer.call("provider/getConfigType") is None
        assert (await refused(host.peer, "provider/getType", {"type": "nope@1"})).data["errors"][0]["path"] == "$.type"
        assert (await refused(host.peer, "provider/getType", {})).code == -32602
        assert (await refused(host.peer, "provider/getType", [])).code == -32602


async def test_ping_answers_while_a_save_runs_and_an_unknown_method_is_method_not_found():
    provider = make()
    handler = provider.resources["note@1.0"]
    with anyio.fail_after(10):
        async with connect(provider) as host, anyio.create_task_group() as group:
            group.start_soon(host.save, "note@1.0", {"name": "a"})
            note_handler: NoteHandler = handler.operations["save"].function.__self__  # pyright: ignore[reportFunctionMemberAccess, reportArgumentType]
            await note_handler.began.wait()
            assert await host.peer.call("provider/ping", {}) == {}
            assert (await refused(host.peer, "provider/none", {})).code == -32601
            assert (await refused(host.peer, "resource/Save", {})).code == -32601
            note_handler.go_on.set()


async def test_shutdown_lets_what_runs_end_and_takes_no_more():
    provider = make()
    with anyio.fail_after(10):
        async with connect(provider) as host, anyio.create_task_group() as group:
            results: dict[str, Any] = {}

            async def save() -> None:
                results["save"] = await host.save("note@1.0", {"name": "a"})

            async def shut_down() -> None:
                results["shutdown"] = await host.peer.call("provider/shutdown", {})

            group.start_soon(save)
            note_handler: NoteHandler = provider.resources["note@1.0"].operations["save"].function.__self__  # pyright: ignore[reportFunctionMemberAccess, reportArgumentType]
            await note_handler.began.wait()
            group.start_soon(shut_down)
            while True:
                error = None
                try:
                    await host.peer.call("provider/ping", {}, timeout=5)
                except RpcError as refusal:
                    error = refusal
                    break
            assert error.data["transient"] is True
            note_handler.go_on.set()
    assert results["save"].identifiers == {"name": "a"}
    assert results["shutdown"] == {}


async def test_with_a_token_every_call_is_refused_until_the_host_presents_it():
    host_end, provider_end = memory_pair()
    peer = Peer(host_end, framing="lines")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            connection = Connection(ProviderRuntime(make()), provider_end, token="open sesame")
            group.start_soon(connection.run)
            group.start_soon(peer.run)
            for method in ("provider/ping", "resource/get", "provider/listTypes", "provider/shutdown", "no/method"):
                error = await refused(peer, method, {})
                assert error.data["errors"][0]["code"] == "Unauthorized"
            for token in (None, "open", "öffne"):
                error = await refused(peer, "provider/initialize", {"protocolVersions": ["1"], "token": token})
                assert error.data["errors"][0]["code"] == "Unauthorized"
            assert (await refused(peer, "provider/ping", {})).code == -32010
            await peer.call("provider/initialize", {"protocolVersions": ["1"], "token": "open sesame"})
            assert await peer.call("provider/ping", {}) == {}
            await peer.aclose()
