"""A case as data: what is sent, in order, with values that come from earlier answers named and not copied.

Steps are plain data (`to_json`), so that a failing case can be written to a file and sent again without the generator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

from extensor.contract import Json, JsonObject, Verb, parse_path

LAST = "last"
"""As a `config_id`: the one that the provider answered last in this case, if it ever did."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A value taken from the answer of an earlier step when it is needed."""

    step: str
    path: str = "$.properties"
    """JSONPath into the result."""
    without: tuple[str, ...] = ()
    """Paths, rooted at the taken value, that are left out of it: ``$.words``."""

    def to_json(self) -> JsonObject:
        """As in a case file."""
        return {"$answered": {"step": self.step, "path": self.path, "without": list(self.without)}}


Value: TypeAlias = "Json | Answered"


@dataclass(frozen=True, slots=True)
class Call:
    """One verb. `name` is how the judge finds the answer."""

    KIND: ClassVar[str] = "call"
    name: str
    verb: Verb
    properties: Value
    type: str | None = None
    """The case's own when ``None``."""
    config: Value = None
    """The fixture's when ``None``; secret values of a fixture never stand in a case."""
    config_unknown: bool = False
    """Send the fixture's config with every value in it unknown; there must be one."""
    config_id: Value = LAST
    """`LAST`, a text, an `Answered`, or ``None`` for none."""
    context: Mapping[str, Json] | None = None
    version: str | None = None
    provider: str | None = None
    timeout: float | None = None
    delay: float = 0.0
    """In a `Parallel`: seconds after its start."""
    cancel_after: float | None = None
    """Seconds after sending at which it is cancelled."""
    connection: str = "main"
    """``main``, or another word for a second client of the same process."""


@dataclass(frozen=True, slots=True)
class Request:
    """Any method."""

    KIND: ClassVar[str] = "request"
    name: str
    method: str
    params: Value = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Notify:
    """A notification; nothing is awaited."""

    KIND: ClassVar[str] = "notify"
    method: str
    params: Value = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are, and how many answers are awaited; the wire must have `Feature.RAW_FRAMES`."""

    KIND: ClassVar[str] = "raw"
    name: str
    data: bytes
    ids: tuple[Json, ...] = ()
    """The ids of the answers that are awaited, ``None`` for one without id; seen as ``name[0]``, ``name[1]``…"""


@dataclass(frozen=True, slots=True)
class Parallel:
    """Calls that are sent without waiting for each other's answers."""

    KIND: ClassVar[str] = "parallel"
    calls: tuple[Call, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """The provider's process ends and a new one is started and greeted."""

    KIND: ClassVar[str] = "restart"
    how: Literal["eof", "shutdown", "term", "kill"] = "eof"
    after: float = 0.0
    """Seconds before the end."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """Send a call and break the link before its answer; then reconnect. Over stdio the process is restarted."""

    KIND: ClassVar[str] = "drop"
    call: Call
    after: float = 0.0
    """Seconds between the two."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    KIND: ClassVar[str] = "wait"
    seconds: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """Ask the author's probe: ``exists``, ``list``, ``mutate`` (with `change`), ``remove``."""

    KIND: ClassVar[str] = "probe"
    name: str
    verb: Literal["exists", "list", "mutate", "remove"]
    identifiers: Value
    change: Json = None


Step: TypeAlias = Call | Request | Notify | Raw | Parallel | Restart | Drop | Wait | ProbeStep


def step_to_json(step: Step) -> JsonObject:
    """One step as in a case file: members with their default values are left out."""
    wire: JsonObject = {"step": step.KIND}
    for name, spec in type(step).__dataclass_fields__.items():
        if name == "KIND":
            continue
        value = getattr(step, name)
        if value == spec.default and name != "name":
            continue
        wire[name] = _to_json(value)
    return wire


def _to_json(value: object) -> Json:
    match value:
        case Answered():
            return value.to_json()
        case Call():
            return step_to_json(value)
        case bytes():
            return value.decode("latin-1")
        case tuple():
            return [_to_json(item) for item in value]
        case Verb():
            return value.wire
        case Mapping():
            return dict(value)
        case _:
            return value


_KINDS: dict[str, type[Step]] = {
    kind.KIND: kind for kind in (Call, Request, Notify, Raw, Parallel, Restart, Drop, Wait, ProbeStep)
}
_VERBS = {verb.wire: verb for verb in Verb}


def step_from_json(data: JsonObject) -> Step:
    """Read back what `step_to_json` wrote. Raises `ValueError` for what is no step."""
    members = dict(data)
    kind = _KINDS.get(str(members.pop("step", "")))
    if kind is None:
        raise ValueError(f"{data.get('step')!r} is no step")
    if kind is Call:
        members["verb"] = _VERBS[members["verb"]]
    if "calls" in members:
        members["calls"] = tuple(step_from_json(item) for item in members["calls"])
    if "call" in members:
        members["call"] = step_from_json(members["call"])
    if kind is Raw:
        members["data"] = members["data"].encode("latin-1")
        members["ids"] = tuple(members.get("ids", ()))
    for name in ("properties", "params", "config", "config_id", "identifiers"):
        if name in members:
            members[name] = _from_json(members[name])
    return kind(**members)


def _from_json(value: Json) -> Value:
    if isinstance(value, dict) and set(value) == {"$answered"}:
        inner = value["$answered"]
        return Answered(inner["step"], inner["path"], tuple(inner["without"]))
    return value


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one case, and what its judge has to know beyond the answers."""

    steps: tuple[Step, ...]
    expect: JsonObject = field(default_factory=dict[str, Json])
    """Plain data for the judge, kept in the case file: expected codes and paths for instance."""
    note: str = ""
    """What is special about the case, for people: ``without $.properties.name``."""

    def with_steps(self, *steps: Step) -> "Plan":
        """The same with other steps."""
        return replace(self, steps=steps)


def pick(value: Json, path: str) -> Json:
    """The part of a JSON value at a path. Raises `LookupError` when there is none."""
    for part in parse_path(path):
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                raise LookupError(path)
            value = value[part]
        else:
            if not isinstance(value, dict) or part not in value:
                raise LookupError(path)
            value = value[part]
    return value


def without(value: Json, paths: tuple[str, ...]) -> Json:
    """A copy of a JSON value without the members at these paths; what is not there is passed over."""
    for path in paths:
        value = _dropped(value, parse_path(path))
    return value


def _dropped(value: Json, parts: tuple[str | int, ...]) -> Json:
    if not parts:
        return value
    first, rest = parts[0], parts[1:]
    if isinstance(value, dict) and first in value:
        if not rest:
            return {key: item for key, item in value.items() if key != first}
        return {key: _dropped(item, rest) if key == first else item for key, item in value.items()}
    if isinstance(value, list) and isinstance(first, int) and first < len(value) and rest:
        return [_dropped(item, rest) if index == first else item for index, item in enumerate(value)]
    return value
