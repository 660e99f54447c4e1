"""What may not change: which resource a call is about, and immutable properties once it exists."""

from datetime import datetime
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, field_validator

from extensor import (
    Context,
    Identifier,
    Immutable,
    OperationFailed,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    Unavailable,
    Unknown,
    is_unknown,
)
from extensor.contract import ResourceResult, Verb
from extensor.contract.json import JsonObject
from extensor.testing import Host, connect

pytestmark = pytest.mark.anyio


class Disk(BaseModel):
    kind: Immutable[str] = "ssd"
    size: int = 1


class Box(Properties):
    name: Identifier[str]
    region: Immutable[str] = "west"
    disk: Disk | None = None
    text: str = ""
    id: Immutable[ReadOnly[str | None]] = None
    revision: ReadOnly[int | None] = None


class Boxes(ResourceHandler[Box]):
    """A handler that takes whatever it gets."""

    def __init__(self) -> None:
        self.boxes: dict[str, Box] = {}
        self.saves = 0

    async def save(self, ctx: Context, desired: Box) -> Box:
        await anyio.lowlevel.checkpoint()
        self.saves += 1
        before = self.boxes.get(desired.name) or Box(name=desired.name, id=f"id-{desired.name}", revision=0)
        box = desired.over(before).model_copy(update={"revision": (before.revision or 0) + 1})
        self.boxes[box.name] = box
        return box

    async def get(self, ctx: Context, wanted: Box) -> Box | None:
        return self.boxes.get(wanted.name)


class PlainBoxes(Boxes):
    def save(self, ctx: Context, desired: Box) -> Box:
        self.boxes[desired.name] = desired
        return desired

    def get(self, ctx: Context, wanted: Box) -> Box | None:
        return self.boxes.get(wanted.name)


class Previewing(Boxes):
    async def preview_save(self, ctx: Context, desired: Box) -> Box:
        return desired


def provider_of(handler: ResourceHandler[Any]) -> Provider:
    provider = Provider("boxes", "1.0.0")
    provider.add("box@1.0", handler)
    return provider


async def refused(host: Host, verb: Verb, properties: JsonObject) -> set[tuple[str, str | None]]:
    with pytest.raises(OperationFailed) as failed:
        await host.call(verb, "box@1.0", properties)
    return {(fault.code, fault.path) for fault in failed.value.failure.faults}


@pytest.mark.parametrize("handler", [Boxes, PlainBoxes, Previewing])
@pytest.mark.parametrize("verb", [Verb.SAVE, Verb.PREVIEW_SAVE])
async def test_a_changed_immutable_property_is_refused_also_where_the_handler_would_take_it(
    handler: type[Boxes], verb: Verb
):
    own = handler()
    async with connect(provider_of(own)) as host:
        await host.save("box@1.0", {"name": "a", "region": "east", "disk": {"kind": "hdd"}})
        kept = own.boxes["a"]
        assert await refused(
            host, verb, {"name": "a", "region": "north", "disk": {"kind": "tape", "size": 2}, "text": "x"}
        ) == {("ImmutableProperty", "$.properties.region"), ("ImmutableProperty", "$.properties.disk.kind")}
        assert own.boxes["a"] == kept
        await host.call(verb, "box@1.0", {"name": "a", "region": "east", "disk": {"kind": "hdd", "size": 2}})
        await host.call(verb, "box@1.0", {"name": "a", "text": "y"})


async def test_of_two_saves_at_once_that_differ_in_an_immutable_property_one_is_refused():
    own = Boxes()
    codes: list[str] = []

    async def save(host: Host, region: str) -> None:
        try:
            await host.save("box@1.0", {"name": "a", "region": region})
        except OperationFailed as error:
            codes.append(error.failure.code)

    with anyio.fail_after(10):
        async with connect(provider_of(own)) as host, anyio.create_task_group() as group:
            for region in ("east", "north"):
                group.start_soon(save, host, region)
    assert (codes, own.saves) == (["ImmutableProperty"], 1)


async def test_a_save_whose_look_fails_has_not_begun_and_frees_its_resource():
    class Flaky(Boxes):
        down = True

        async def get(self, ctx: Context, wanted: Box) -> Box | None:
            if self.down:
                raise Unavailable("later")
            return await super().get(ctx, wanted)

    own = Flaky()
    with anyio.fail_after(10):
        async with connect(provider_of(own)) as host:
            assert await refused(host, Verb.SAVE, {"name": "a", "region": "east"}) == {("Unavailable", None)}
            assert own.saves == 0
            own.down = False
            await host.save("box@1.0", {"name": "a", "region": "east"})


async def test_an_immutable_property_that_is_not_known_yet_is_no_change():
    async with connect(provider_of(Previewing())) as host:
        await host.save("box@1.0", {"name": "a", "region": "east"})
        shown = await host.preview_save("box@1.0", {"name": "a", "region": Unknown("[x]")})
        named = await host.preview_save("box@1.0", {"name": Unknown("[x]"), "region": "north"})
    assert shown.properties is not None
    assert is_unknown(shown.properties["region"])
    assert named.properties is not None


async def test_what_the_provider_set_once_and_for_all_stays_known_in_the_preview_of_a_change():
    async with connect(provider_of(Boxes())) as host:
        fresh = await host.preview_save("box@1.0", {"name": "a"})
        await host.save("box@1.0", {"name": "a", "text": "x"})
        changed = await host.preview_save("box@1.0", {"name": "a", "text": "y"})
    assert fresh.properties is not None
    assert is_unknown(fresh.properties["id"])
    assert changed.properties is not None
    assert changed.properties["id"] == "id-a"
    assert is_unknown(changed.properties["revision"])
    assert changed.metadata is not None
    assert changed.metadata.unknown == ("$.properties.revision",)


@pytest.mark.parametrize("verb", [Verb.SAVE, Verb.PREVIEW_SAVE, Verb.GET])
async def test_an_answer_about_another_resource_is_refused_and_the_log_names_both(
    verb: Verb, capsys: pytest.CaptureFixture[str]
):
    class Lost(ResourceHandler[Box]):
        async def save(self, ctx: Context, desired: Box) -> Box:
            return Box(name="other")

        async def preview_save(self, ctx: Context, desired: Box) -> Box:
            return Box(name="other")

        async def get(self, ctx: Context, wanted: Box) -> Box:
            return Box(name="other")

    async with connect(provider_of(Lost())) as host:
        assert await refused(host, verb, {"name": "asked"}) == {("InternalError", None)}
    log = capsys.readouterr().err
    assert '{"name":"asked"}' in log
    assert '{"name":"other"}' in log


async def test_an_identifier_that_the_provider_makes_is_free_until_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
):
    class Item(Properties):
        id: ReadOnly[Identifier[str | None]] = None
        name: Identifier[str]

    class Items(ResourceHandler[Item]):
        async def save(self, ctx: Context, desired: Item) -> Item:
            return Item(id="7", name=desired.name)

        async def get(self, ctx: Context, wanted: Item) -> Item:
            return Item(id="8", name=wanted.name)

    provider = Provider("items", "1.0.0")
    provider.add("item@1.0", Items)
    async with connect(provider) as host:
        saved: ResourceResult = await host.save("item@1.0", {"name": "a"})
        assert saved.identifiers == {"id": "7", "name": "a"}
        with pytest.raises(OperationFailed, match="unexpectedly"):
            await host.get("item@1.0", {"id": "7", "name": "a"})
    assert '"id":"8"' in capsys.readouterr().err


class Spelled(Properties):
    name: Identifier[str]
    at: Identifier[datetime | None] = None

    @field_validator("name")
    @classmethod
    def lower(cls, value: str) -> str:
        return value.lower()


class Keeper(ResourceHandler[Spelled]):
    async def save(self, ctx: Context, desired: Spelled) -> Spelled:
        return desired

    async def get(self, ctx: Context, wanted: Spelled) -> Spelled | None:
        return wanted


@pytest.mark.parametrize("verb", [Verb.SAVE, Verb.PREVIEW_SAVE, Verb.GET])
async def test_an_identifier_that_the_model_would_respell_is_refused_with_the_spelling_that_is_kept(verb: Verb):
    provider = Provider("boxes", "1.0.0")
    provider.add("box@1.0", Keeper)
    async with connect(provider) as host:
        with pytest.raises(OperationFailed, match="'web'") as failed:
            await host.call(verb, "box@1.0", {"name": "Web"})
        assert (failed.value.failure.code, failed.value.failure.faults[0].path) == (
            "InvalidProperty",
            "$.properties.name",
        )
        kept = await host.call(verb, "box@1.0", {"name": "web", "at": "2026-01-02T03:04:05Z"})
    assert kept.identifiers == {"name": "web", "at": "2026-01-02T03:04:05Z"}
