"""A world of boxes: a provider in memory that records every call and can be told to fail, die or hold."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from extensor.contract import Fault, Json, JsonObject, PreviewMetadata, ResourceData, ResourceResult, Unknown, Verb
from extensor.engine.deploy import deploy
from extensor.engine.destroy import destroy
from extensor.engine.events import Event
from extensor.engine.results import DeploymentRequest, DeployResult, DestroyResult, StackView, WhatIfResult
from extensor.engine.sessions import Session, Wanted
from extensor.engine.show import show
from extensor.engine.validate import validate
from extensor.engine.what_if import what_if
from extensor.errors import ExtensorError, NotFound
from extensor.template import parse_template
from extensor.types import Calculated, Identifier, Immutable, ReadOnly, Secret, TypeIndex, WriteOnly, index_of


class Box(BaseModel):
    """A box has a name, a text, a secret, labels that others may add to, and facts about itself."""

    name: Identifier[str]
    text: str | None = None
    secret: Secret[str | None] = None
    labels: dict[str, str] | None = None
    items: list[str] | None = None
    size: ReadOnly[int | None] = None
    pin: WriteOnly[str | None] = None
    serial: Immutable[ReadOnly[str | None]] = None
    stamp: Calculated[ReadOnly[int | None]] = None


class Settings(BaseModel):
    """Where the boxes are."""

    place: str = ""
    key: Secret[str | None] = None


INDEX = index_of("boxes", "1.0.0", {"box@1.0": Box, "box@2.0": Box}, config=Settings)


@dataclass(frozen=True)
class Call:
    """One call as the provider saw it."""

    verb: Verb
    data: ResourceData

    @property
    def name(self) -> Json:
        """The box it was about."""
        return self.data.properties.get("name")


class EngineDied(BaseException):
    """The engine's process ends here, as far as the test is concerned."""


@dataclass
class World:
    """What exists, what was asked, and what goes wrong."""

    boxes: dict[tuple[str, str], JsonObject] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    connected: list[Wanted] = field(default_factory=list)
    broken: dict[str, ExtensorError] = field(default_factory=dict)
    types: TypeIndex | None = INDEX
    running: int = 0
    most_running: int = 0
    clock: int = 0
    before: Callable[[Verb, ResourceData], Any] = lambda verb, data: None
    """Called before a verb takes effect; may raise, or return something to await."""
    after: Callable[[Verb, ResourceData], Any] = lambda verb, data: None
    """Called after a verb took effect and before it is answered."""
    preview: Callable[[ResourceData, JsonObject], ResourceResult] | None = None
    identify: Callable[[JsonObject], JsonObject] = lambda properties: {"name": properties["name"]}
    plane: Callable[[JsonObject], str | None] = lambda config: None
    """The control plane's name, from the configuration."""
    plane_in_previews: bool = True
    keeps_labels: bool = False
    """A save puts the labels that it is given beside those that are there, instead of in their place."""

    @staticmethod
    def metadata(**paths: tuple[str, ...]) -> PreviewMetadata:
        return PreviewMetadata(**paths)

    @property
    def session_type(self) -> type["FakeSession"]:
        return FakeSession

    async def connect(self, wanted: Wanted) -> Session:
        self.connected.append(wanted)
        if wanted.provider in self.broken:
            raise self.broken[wanted.provider]
        return FakeSession(self, wanted.provider)

    def verbs(self, *verbs: Verb) -> list[str]:
        """Names of the boxes that were asked for with these verbs, in order."""
        return [call.name for call in self.calls if call.verb in verbs]

    def names(self) -> set[str]:
        """The boxes that exist, wherever."""
        return {name for _, name in self.boxes}

    def forget_calls(self) -> None:
        self.calls.clear()
        self.connected.clear()


@dataclass
class FakeSession:
    """A session with the world."""

    world: World
    name: str
    version: str = "1.0.0"

    async def types(self) -> TypeIndex:
        if self.world.types is None:
            raise NotFound("this provider does not describe its types", code="OperationNotSupported")
        return self.world.types

    async def perform(
        self, verb: Verb, data: ResourceData, *, budget: float | None, on_retry: object = None
    ) -> ResourceResult:
        world = self.world
        world.calls.append(Call(verb, data))
        world.running += 1
        world.most_running = max(world.most_running, world.running)
        try:
            await anyio.lowlevel.checkpoint()
            waiting = world.before(verb, data)
            if waiting is not None:
                await waiting
            result = self._answer(verb, data)
            waiting = world.after(verb, data)
            if waiting is not None:
                await waiting
            return result
        finally:
            world.running -= 1

    def _answer(self, verb: Verb, data: ResourceData) -> ResourceResult:
        world, wanted = self.world, data.properties
        place = str(data.imported.config.get("place", ""))
        plane = world.plane(data.imported.config)
        if verb is Verb.PREVIEW_SAVE:
            if world.preview is not None:
                return world.preview(data, wanted)
            wanted = self._labelled(place, wanted)
            text = wanted.get("text")
            size = Unknown() if type(text) is Unknown else len(text or "")
            body = {name: value for name, value in wanted.items() if name != "pin"} | {"size": size}
            told = plane if world.plane_in_previews else None
            return ResourceResult(body, _known(wanted), told, PreviewMetadata(calculated=("$.properties.stamp",)))
        key = (place, str(wanted["name"]))
        if verb is Verb.SAVE:
            wanted = self._labelled(place, wanted)
            world.clock += 1
            body = {"serial": f"s-{key[1]}", **world.boxes.get(key, {}), **wanted}
            body.pop("pin", None)
            world.boxes[key] = {**body, "size": len(body.get("text") or ""), "stamp": world.clock}
            return ResourceResult(dict(world.boxes[key]), world.identify(wanted), plane)
        if verb is Verb.GET:
            if key not in world.boxes:
                raise NotFound(f"there is no box {wanted['name']}")
            return ResourceResult(dict(world.boxes[key]), world.identify(wanted), plane)
        existed = world.boxes.pop(key, None)
        return ResourceResult(existed, world.identify(wanted), plane)

    def _labelled(self, place: str, wanted: JsonObject) -> JsonObject:
        there = self.world.boxes.get((place, str(wanted["name"])), {}).get("labels")
        if not self.world.keeps_labels or not isinstance(there, dict) or not isinstance(wanted.get("labels"), dict):
            return wanted
        return {**wanted, "labels": {**there, **wanted["labels"]}}


def _known(wanted: JsonObject) -> JsonObject:
    return {"name": wanted["name"]}


@dataclass
class Stack:
    """The engine at work on one stack in this world."""

    world: World
    folder: Path
    name: str = "main"
    events: list[Event] = field(default_factory=list)
    executor: Any = None

    def request(self, template: JsonObject, parameters: JsonObject | None = None, **more: Any) -> DeploymentRequest:
        request = DeploymentRequest(
            template=parse_template(template),
            template_path=self.folder / "main.json",
            parameters=parameters or {},
            stack=self.name,
            state_dir=self.folder / ".extensor",
        )
        return replace(request, **more)

    async def deploy(
        self,
        template: JsonObject,
        parameters: JsonObject | None = None,
        *,
        stop: anyio.Event | None = None,
        **more: Any,
    ) -> DeployResult:
        request = self.request(template, parameters, **more)
        return await deploy(request, on_event=self.events.append, stop=stop, connector=self.world)

    async def what_if(self, template: JsonObject, parameters: JsonObject | None = None, **more: Any) -> WhatIfResult:
        return await what_if(
            self.request(template, parameters, **more), on_event=self.events.append, connector=self.world
        )

    async def validate(self, template: JsonObject, parameters: JsonObject | None = None) -> list[Fault]:
        return await validate(self.request(template, parameters), on_event=self.events.append, connector=self.world)

    async def destroy(self, parameters: JsonObject | None = None, **more: Any) -> DestroyResult:
        return await destroy(
            self.name,
            self.folder / ".extensor",
            parameters=parameters or {},
            on_event=self.events.append,
            connector=self.world,
            **more,
        )

    def show(self) -> StackView:
        return show(self.name, self.folder / ".extensor")


def template(resources: JsonObject, **more: Any) -> JsonObject:
    """A template over the import ``b`` of the provider ``boxes``."""
    return {
        "languageVersion": "2.1-experimental",
        "contentVersion": "1.0.0.0",
        "imports": {"b": {"provider": "boxes", "version": "1.0.0"}},
        "resources": resources,
        **more,
    }


def box(name: str, *, needs: list[str] | None = None, **properties: Json) -> JsonObject:
    """A box as it stands in a template; keywords that start with ``_`` belong to the resource itself."""
    entry = {key[1:]: properties.pop(key) for key in list(properties) if key.startswith("_")}
    if needs:
        entry["dependsOn"] = needs
    return {"import": "b", "type": "box@1.0", **entry, "properties": {"name": name, **properties}}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def stack(world: World, tmp_path: Path) -> Stack:
    return Stack(world, tmp_path)


@pytest.fixture(scope="session")
def make_stack(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Stack]:
    """Fresh worlds, for tests that run many examples."""
    return lambda: Stack(World(), tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def make() -> Any:
    """The builders `template` and `box`, and `EngineDied`."""

    class Make:
        template = staticmethod(template)
        box = staticmethod(box)
        died = EngineDied

    return Make
