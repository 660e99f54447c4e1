"""What a handler may tell and ask its host during a call."""

from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from extensor import Context, Identifier, OperationFailed, Properties, Provider, ResourceHandler, SaveContext, Secret
from extensor.contract.json import JsonObject
from extensor.testing import connect

pytestmark = pytest.mark.anyio


class Note(Properties):
    name: Identifier[str]
    password: Secret[str | None] = None


class Config(BaseModel):
    key: Secret[str] = "config-key"


class Talkative(ResourceHandler[Note, Config]):
    async def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        ctx.progress(f"logging in with {desired.password}", 10)
        ctx.log("info", f"the key is {ctx.config.key}")
        ctx.progress("done")
        return desired

    async def get(self, ctx: Context[Config], wanted: Note) -> Note | None:
        first = await ctx.token(["https://graph/.default"])
        second = await ctx.token(["https://graph/.default"], claims="{}", force_refresh=True)
        ctx.log("warning", f"got {first} and {second}")
        return wanted

    async def preview_save(self, ctx: Context[Config], desired: Note) -> Note:
        assert not hasattr(ctx, "record")
        ctx.progress("looking")
        return desired


@pytest.fixture
def provider() -> Provider:
    provider = Provider("notes", "1.0.0", config=Config)
    provider.add("note@1.0", Talkative)
    return provider


async def test_progress_and_logs_reach_the_host_in_order_before_the_answer_and_masked(provider: Provider):
    async with connect(provider, config={"key": "config-key"}) as host:
        await host.save("note@1.0", {"name": "a", "password": "hunter22"})
        assert [note["message"] for note in host.progress] == ["logging in with ***", "done"]
        assert [note.get("percent") for note in host.progress] == [10, None]
        assert {note["id"] for note in host.progress} == {host.logs[0]["id"]}
        assert [(note["level"], note["message"]) for note in host.logs] == [("info", "the key is ***")]
        await host.preview_save("note@1.0", {"name": "a"})
        assert host.progress[-1]["message"] == "looking"


async def test_a_host_that_did_not_say_so_gets_no_notifications(provider: Provider, capsys: pytest.CaptureFixture[str]):
    async with connect(provider, config={"key": "config-key"}, handshake=False) as host:
        await host.save("note@1.0", {"name": "a", "password": "hunter22"})
        assert (host.progress, host.logs) == ([], [])
    assert "info: the key is ***" in capsys.readouterr().err


@pytest.mark.reported("E12")
async def test_a_token_comes_from_the_host_with_what_the_service_asked_for_and_is_never_logged(provider: Provider):
    asked: list[JsonObject] = []

    async def tokens(params: JsonObject) -> str:
        asked.append(params)
        return f"secret-token-{len(asked)}"

    async with connect(provider, tokens=tokens) as host:
        await host.get("note@1.0", {"name": "a"})
        assert host.logs[0]["message"] == "got *** and ***"
    assert asked == [
        {"scopes": ["https://graph/.default"]},
        {"scopes": ["https://graph/.default"], "claims": "{}", "forceRefresh": True},
    ]


@pytest.mark.parametrize("tokens", [None, {"other": "t"}])
async def test_a_host_without_a_token_makes_the_call_unauthorized(provider: Provider, tokens: Any):
    async with connect(provider, tokens=tokens) as host:
        with pytest.raises(OperationFailed) as failed:
            await host.get("note@1.0", {"name": "a"})
    assert failed.value.failure.code == "Unauthorized"


async def test_a_handler_that_tells_more_than_the_host_takes_is_not_held_up():
    class Flood(ResourceHandler[Note]):
        async def save(self, ctx: SaveContext, desired: Note) -> Note:
            for at in range(5000):
                ctx.progress(f"step {at}")
            return desired

    provider = Provider("notes", "1.0.0")
    provider.add("note@1.0", Flood)
    with anyio.fail_after(20):
        async with connect(provider) as host:
            await host.save("note@1.0", {"name": "a"})
            assert host.progress[-1]["message"] == "step 4999"
            assert len(host.progress) <= 5000
