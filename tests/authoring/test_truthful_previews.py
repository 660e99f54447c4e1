"""The law of previews: what is shown as known is what a save then does, for every value the unknowns may take."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from extensor import (
    Calculated,
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
    is_unknown,
)
from extensor.authoring.dump import dump_with_unknowns
from extensor.authoring.materialise import materialise
from extensor.contract import find_unknowns
from extensor.testing import connect


class Disk(BaseModel):
    size: int = 1
    label: str | None = None
    serial: ReadOnly[str | None] = None


class Spec(BaseModel):
    zone: str = "z0"
    disk: Disk | None = None
    extra: dict[str, str] = {}
    state: ReadOnly[str | None] = None


class Box(Properties):
    name: Identifier[str]
    text: str = "empty"
    tags: list[str] = []
    disks: list[Disk] = []
    spec: Spec | None = None
    region: Immutable[str | None] = None
    password: Secret[WriteOnly[str | None]] = None
    revision: ReadOnly[int | None] = None
    seen: Calculated[ReadOnly[int | None]] = None


class Store(ResourceHandler[Box]):
    """Keeps the contract: a save touches what was given; what the provider sets changes with every write."""

    def __init__(self, current: Box | None) -> None:
        self.box = current
        self.asked = 0

    async def save(self, ctx: Context, desired: Box) -> Box:
        before = self.box
        after = desired if before is None else desired.over(before)
        if before is None or after != before or desired.password is not None:
            revision = 1 if before is None or before.revision is None else before.revision + 1
            after = after.model_copy(update={"revision": revision})
            if after.spec is not None:
                disk = after.spec.disk and after.spec.disk.model_copy(update={"serial": f"s{revision}"})
                after.spec = after.spec.model_copy(update={"state": f"at {revision}", "disk": disk})
        self.box = after
        return self._shown(after)

    async def get(self, ctx: Context, wanted: Box) -> Box | None:
        return None if self.box is None else self._shown(self.box)

    def _shown(self, box: Box) -> Box:
        self.asked += 1
        return box.model_copy(update={"seen": self.asked})


words = st.sampled_from(["", "a", "b", "empty", "z0", "ä\u2028"])
disks = st.fixed_dictionaries({}, optional={"size": st.integers(1, 3), "label": words})
specs = st.fixed_dictionaries(
    {}, optional={"zone": words, "disk": disks, "extra": st.dictionaries(st.sampled_from("xy"), words, max_size=2)}
)
bodies = st.fixed_dictionaries(
    {"name": st.just("a")},
    optional={
        "text": words,
        "tags": st.lists(words, max_size=2),
        "disks": st.lists(disks, max_size=2),
        "spec": specs,
        "region": st.sampled_from(["east", "west"]),
        "password": st.sampled_from(["hunter22", "hunter33"]),
    },
)


@st.composite
def with_holes(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A body with unknowns in it, and the same body as it turns out, with values of each place's type."""
    true = draw(bodies)

    def pierce(value: Any, depth: int) -> Any:
        if depth and draw(st.integers(0, 4)) == 0:
            return Unknown()
        if isinstance(value, dict):
            return {name: item if name == "name" else pierce(item, depth + 1) for name, item in value.items()}
        return [pierce(item, depth + 1) for item in value] if isinstance(value, list) else value

    return pierce(true, 0), true


def known_leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if is_unknown(value):
        return
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from known_leaves(item, (*path, name))
    elif isinstance(value, list) and value:
        for at, item in enumerate(value):
            yield from known_leaves(item, (*path, at))
    else:
        yield path, value


NOWHERE = object()


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return NOWHERE
    return value


@pytest.mark.reported("I09")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=50, deadline=None)
@given(first=st.none() | bodies, request=with_holes())
def test_what_the_default_preview_shows_as_known_is_what_save_does(
    backend: str, first: dict[str, Any] | None, request: tuple[dict[str, Any], dict[str, Any]]
):
    pierced, true = request

    async def check() -> None:
        store = Store(None)
        provider = Provider("boxes", "1.0.0")
        provider.add("box@1.0", store)
        with anyio.fail_after(10):
            async with connect(provider) as host:
                if first is not None:
                    await host.save("box@1.0", first)
                before = store.box
                try:
                    shown = await host.preview_save("box@1.0", pierced)
                except OperationFailed as failed:
                    if failed.failure.code != "ImmutableProperty" or before is None or before.region == true["region"]:
                        raise
                    return
                assert store.box == before, "a preview changed something"
                try:
                    done = await host.save("box@1.0", true)
                except OperationFailed as failed:
                    changed = (
                        before is not None and before.region != true.get("region") and is_unknown(pierced["region"])
                    )
                    if failed.failure.code != "ImmutableProperty" or not changed:
                        raise
                    return
        assert shown.properties is not None
        for path, value in known_leaves(shown.properties):
            assert at(done.properties, path) == value, path
        assert shown.identifiers == done.identifiers
        for path, _ in find_unknowns(pierced):
            if path[0] != "password":
                assert is_unknown(at(shown.properties, path)) or at(shown.properties, path[:-1]) is NOWHERE, path

    anyio.run(check, backend=backend)


@settings(max_examples=200, deadline=None)
@given(request=with_holes())
def test_a_model_holds_what_was_given_and_the_same_unknowns(request: tuple[dict[str, Any], dict[str, Any]]):
    pierced, _ = request
    made = materialise(Box, pierced)
    again = dump_with_unknowns(made, only_given=True)
    assert dict(known_leaves(again)) == dict(known_leaves(pierced))
    assert {(path, id(value)) for path, value in find_unknowns(again)} == {
        (path, id(value)) for path, value in find_unknowns(pierced)
    }


@settings(max_examples=100, deadline=None)
@given(body=bodies)
def test_without_unknowns_a_model_is_what_pydantic_makes_of_it(body: dict[str, Any]):
    assert materialise(Box, body) == Box.model_validate(body)
    assert materialise(Box, body).model_fields_set == Box.model_validate(body).model_fields_set
