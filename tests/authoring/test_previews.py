"""Previews: a handler's own, and the default made from the type and the current state."""

import uuid
from typing import Any

import pytest
from pydantic import BaseModel, Field, model_validator

from extensor import (
    Calculated,
    Context,
    Identifier,
    Immutable,
    NotFound,
    OperationFailed,
    Preview,
    PreviewNotSupported,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    Secret,
    Unknown,
    WriteOnly,
    is_unknown,
)
from extensor.contract import ResourceResult
from extensor.testing import Host, connect

pytestmark = pytest.mark.anyio


class Spec(BaseModel):
    size: int = 1
    zone: str | None = None
    state: ReadOnly[str | None] = None


class Box(Properties):
    name: Identifier[str]
    text: str = "empty"
    tags: list[str] = []
    labels: dict[str, str] = {}
    spec: Spec | None = None
    region: Immutable[str | None] = None
    password: Secret[WriteOnly[str | None]] = None
    revision: ReadOnly[int | None] = None
    seen: Calculated[ReadOnly[str | None]] = None


class Boxes(ResourceHandler[Box]):
    def __init__(self, *boxes: Box) -> None:
        self.boxes = {box.name: box for box in boxes}

    async def save(self, ctx: Context, desired: Box) -> Box:
        raise AssertionError("a preview must not save")

    async def get(self, ctx: Context, wanted: Box) -> Box | None:
        return self.boxes.get(wanted.name)

    async def delete(self, ctx: Context, wanted: Box) -> None:
        raise AssertionError("a preview must not delete")


async def preview(handler: ResourceHandler[Any], properties: dict[str, Any]) -> ResourceResult:
    provider = Provider("boxes", "1.0.0")
    provider.add("box@1.0", handler)
    async with connect(provider) as host:
        return await host.preview_save("box@1.0", properties)


def shown(result: ResourceResult) -> dict[str, Any]:
    """The properties with ``"?"`` for what is unknown."""

    def simple(value: Any) -> Any:
        if is_unknown(value):
            return "?"
        if isinstance(value, dict):
            return {name: simple(item) for name, item in value.items()}
        return [simple(item) for item in value] if isinstance(value, list) else value

    return simple(result.properties)


async def test_a_new_resource_shows_what_was_given_its_defaults_and_that_the_rest_is_unknown():
    result = await preview(Boxes(), {"name": "a", "spec": {"size": 3}, "password": "hunter22"})
    assert shown(result) == {
        "name": "a",
        "text": "empty",
        "tags": [],
        "labels": {},
        "spec": {"size": 3, "state": "?"},
        "revision": "?",
        "seen": "?",
    }
    assert result.identifiers == {"name": "a"}
    assert result.metadata is not None
    assert set(result.metadata.unknown) == {"$.properties.spec.state", "$.properties.revision"}
    assert result.metadata.calculated == ("$.properties.seen",)


CURRENT = Box(
    name="a",
    text="hi",
    tags=["x"],
    labels={"k": "v"},
    spec=Spec(size=2, zone="z1", state="ready"),
    region="west",
    revision=4,
    seen="now",
)


async def test_what_is_not_given_stays_and_what_the_provider_sets_may_change_with_the_rest():
    result = await preview(Boxes(CURRENT), {"name": "a", "text": "ho", "spec": {"size": 3}})
    assert shown(result) == {
        "name": "a",
        "text": "ho",
        "tags": ["x"],
        "labels": {"k": "v"},
        "spec": {"size": 3, "zone": "z1", "state": "?"},
        "region": "west",
        "revision": "?",
        "seen": "?",
    }
    assert result.metadata is not None
    assert result.metadata.immutable == ("$.properties.region",)


@pytest.mark.parametrize("properties", [{}, {"text": "hi"}, {"spec": {"size": 2}}, {"region": "west", "tags": ["x"]}])
async def test_nothing_to_change_shows_the_current_state(properties: dict[str, Any]):
    result = await preview(Boxes(CURRENT), {"name": "a", **properties})
    assert shown(result) == {
        "name": "a",
        "text": "hi",
        "tags": ["x"],
        "labels": {"k": "v"},
        "spec": {"size": 2, "zone": "z1", "state": "ready"},
        "region": "west",
        "revision": 4,
        "seen": "?",
    }
    assert result.metadata is not None
    assert result.metadata.unknown == ()
    assert result.metadata.calculated == ("$.properties.seen",)
    assert set(result.metadata.read_only) == {"$.properties.spec.state", "$.properties.revision"}


@pytest.mark.reported("P01")
async def test_unknowns_are_echoed_where_they_stand_with_their_expressions():
    unknown = Unknown("[reference('b').x]")
    result = await preview(Boxes(CURRENT), {"name": "a", "tags": ["x", unknown], "labels": unknown})
    assert shown(result)["tags"] == ["x", "?"]
    assert result.properties is not None
    assert result.properties["labels"].expression == "[reference('b').x]"
    assert result.metadata is not None
    assert {"$.properties.tags[1]", "$.properties.labels"} <= set(result.metadata.unknown)


async def test_a_map_is_replaced_as_a_whole():
    assert shown(await preview(Boxes(CURRENT), {"name": "a", "labels": {}}))["labels"] == {}
    assert shown(await preview(Boxes(CURRENT), {"name": "a", "labels": {"n": "1"}}))["labels"] == {"n": "1"}


async def test_a_write_only_value_may_change_anything_the_provider_sets_and_is_not_shown():
    result = await preview(Boxes(CURRENT), {"name": "a", "password": Unknown()})
    assert "password" not in shown(result)
    assert shown(result)["revision"] == "?"
    assert shown(result)["text"] == "hi"


async def test_a_changed_immutable_property_is_refused_and_an_unknown_one_is_not():
    with pytest.raises(OperationFailed) as failed:
        await preview(Boxes(CURRENT), {"name": "a", "region": "east"})
    (fault,) = failed.value.failure.faults
    assert (fault.code, fault.path) == ("ImmutableProperty", "$.properties.region")
    assert shown(await preview(Boxes(CURRENT), {"name": "a", "region": Unknown()}))["region"] == "?"
    assert shown(await preview(Boxes(), {"name": "a", "region": "east"}))["region"] == "east"


async def test_without_knowing_which_resource_nothing_is_said():
    with pytest.raises(PreviewNotSupported) as failed:
        await preview(Boxes(CURRENT), {"name": Unknown()})
    assert failed.value.failure.faults[0].path == "$.properties.name"


async def test_a_get_that_raises_not_found_means_that_it_is_new():
    class Raising(Boxes):
        async def get(self, ctx: Context, wanted: Box) -> Box | None:
            raise NotFound

    assert shown(await preview(Raising(), {"name": "a"}))["text"] == "empty"


async def test_without_get_only_what_was_given_is_known():
    class SaveOnly(ResourceHandler[Box]):
        async def save(self, ctx: Context, desired: Box) -> Box:
            return desired

    assert shown(await preview(SaveOnly(), {"name": "a", "tags": ["x"]})) == {
        "name": "a",
        "tags": ["x"],
        "text": "?",
        "labels": "?",
        "revision": "?",
        "seen": "?",
    }


class Row(Properties):
    id: Identifier[ReadOnly[str | None]] = None
    title: str
    slug: str = ""
    token: str = Field(default_factory=lambda: uuid.uuid4().hex)
    rows: list[int] = Field(default_factory=list)

    @model_validator(mode="after")
    def _slug(self) -> "Row":
        self.slug = self.title.lower()
        return self


async def test_what_a_validator_would_yet_set_is_unknown_and_so_is_a_default_made_anew_each_time():
    class Rows(ResourceHandler[Row]):
        async def save(self, ctx: Context, desired: Row) -> Row:
            return desired

        async def get(self, ctx: Context, wanted: Row) -> Row | None:
            return None

    assert shown(await preview(Rows(), {"title": "Hi"})) == {
        "title": "Hi",
        "slug": "hi",
        "token": "?",
        "rows": [],
        "id": "?",
    }
    assert shown(await preview(Rows(), {"title": Unknown()})) == {
        "title": "?",
        "slug": "?",
        "token": "?",
        "rows": "?",
        "id": "?",
    }


async def test_a_handlers_own_preview_says_what_it_wants_each_path_in_one_list():
    class Own(Boxes):
        async def preview_save(self, ctx: Context, desired: Box) -> Preview[Box]:
            return Preview(
                properties=desired.model_copy(update={"revision": Unknown(), "seen": Unknown()}),
                read_only=("revision", "name"),
                calculated=("seen", "$.properties.seen"),
                unknown=("revision",),
                immutable=("name", "region"),
            )

    result = await preview(Own(), {"name": "a", "text": Unknown()})
    assert result.metadata is not None
    assert result.metadata.to_wire() == {
        "readOnly": ["$.properties.name"],
        "immutable": ["$.properties.region"],
        "calculated": ["$.properties.seen"],
        "unknown": ["$.properties.revision", "$.properties.text"],
    }


async def test_an_unknown_that_a_handler_lost_is_echoed_all_the_same():
    class Losing(Boxes):
        async def preview_save(self, ctx: Context, desired: Box) -> Box:
            return Box(name=desired.name)

    result = await preview(Losing(), {"name": "a", "region": Unknown("[x]"), "password": Unknown()})
    assert shown(result)["region"] == "?"
    assert "password" not in shown(result)


async def test_a_preview_may_have_an_unknown_configuration():
    class Config(BaseModel):
        url: str
        size: int = Field(default=1, ge=1)

    seen: list[Any] = []

    class Configured(ResourceHandler[Box, Config]):
        async def save(self, ctx: Context[Config], desired: Box) -> Box:
            return desired

        async def preview_save(self, ctx: Context[Config], desired: Box) -> Box:
            seen.append(ctx.config)
            return desired

    provider = Provider("boxes", "1.0.0", config=Config, config_id=lambda config: config.url)
    provider.add("box@1.0", Configured)

    async def ask(host: Host) -> ResourceResult:
        return await host.preview_save("box@1.0", {"name": "a"})

    async with connect(provider, config={"url": Unknown()}) as host:
        assert (await ask(host)).config_id is None
        assert is_unknown(seen[0].url)
        host.config = {"url": Unknown(), "size": 0}
        with pytest.raises(OperationFailed) as failed:
            await ask(host)
        assert failed.value.failure.faults[0].path == "$.import.config.size"
        host.config = {"url": "https://one"}
        assert (await ask(host)).config_id == "https://one"
