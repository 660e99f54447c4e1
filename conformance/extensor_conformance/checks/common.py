"""What several checks share: raw messages, values by path, slow saves, bodies that differ."""

import json
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from extensor.contract import Json, JsonObject, Verb, format_path
from extensor.contract.handshake import INITIALIZE
from extensor.contract.paths import Path
from extensor.types import model
from extensor_conformance.answers import Answer, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.compare import differences
from extensor_conformance.connection import Connection, Pending
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import pick
from extensor_conformance.verdicts import NotTested, Problem

ABSENT = object()
"""Stands for no value at a path."""
TRIES = 5
"""Bodies that are tried until one is taken."""


def pause(seconds: float) -> None:
    """Let time pass."""
    if seconds > 0:
        threading.Event().wait(seconds)


def line(message: Json) -> bytes:
    """A message as one line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def call_message(bench: Bench, verb: Verb, kind: Kind, properties: JsonObject, id_: Json) -> JsonObject:
    """The request of a verb as `Connection.call_verb` would send it, with an id of one's own."""
    assert bench.provider is not None
    imported = {"provider": bench.provider.name, "version": bench.provider.version, "config": bench.fixture.config}
    if bench.config_id is not None:
        imported["configId"] = bench.config_id
    params = {"import": imported, "type": kind.name, "properties": properties}
    return {"jsonrpc": "2.0", "id": id_, "method": verb.method, "params": params}


def greeting(
    connection: Connection, versions: Sequence[str] | None, *, token: str | None = "", timeout: float | None = None
) -> Answer:
    """The answer of a handshake that asks for these versions, or for none; with the subject's token unless one is
    given."""
    params: JsonObject = {"client": {"name": "provider-conformance", "version": "1"}, "capabilities": {}}
    if versions is not None:
        params["protocolVersions"] = list(versions)
    own = getattr(getattr(connection, "subject", None), "token", None) if token == "" else token
    return connection.rpc(INITIALIZE, params if own is None else {**params, "token": own}, timeout=timeout)


def first_of(pendings: Sequence[Pending], timeout: float) -> Answer:
    """The answer that comes first. Raises `NoAnswer` and `ConnectionEnded`."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for pending in pendings:
            if pending.answered:
                return pending.answer(0)
            try:
                return pending.answer(0.01)
            except NoAnswer:
                continue
    raise NoAnswer(f"there was no answer within {timeout:g} s")


def about(kind: Kind) -> frozenset[Path]:
    """Paths that two saves of the same may show differently: calculated, write-only, read-only, named by the author."""
    return frozenset((*kind.ignored(), *kind.shape.read_only))


def apart(kind: Kind, one: Json, other: Json) -> bool:
    """Whether two results show different objects."""
    return bool(differences(one, other, ignore=about(kind), unordered=kind.fixture.unordered))


def value_at(value: Json, path: Path) -> object:
    """The part of a JSON value, or `ABSENT`."""
    try:
        return pick(value, format_path(path))
    except LookupError:
        return ABSENT


def with_value(value: Json, path: Path, new: object) -> Json:
    """A copy with another value at a path, or without it for `ABSENT`; its parents have to be there."""
    first, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(first, int):
        return [
            (with_value(item, rest, new) if rest else new) if index == first else item
            for index, item in enumerate(value)
        ]
    assert isinstance(value, dict)
    assert isinstance(first, str)
    if rest:
        return {**value, first: with_value(value[first], rest, new)}
    left = {key: item for key, item in value.items() if key != first}
    return left if new is ABSENT else {**left, first: new}


def shown(path: Path) -> str:
    """A path below the properties as JSONPath."""
    return format_path(("properties", *path))


def properties_of(kind: Kind, body: Json) -> Iterator[tuple[Path, model.Property]]:
    """Every declared property that could stand in a body, with its path, through objects and arrays that are there."""
    yield from _properties(kind.type.body, body, ())


def _properties(type_: model.Type, value: Json, path: Path) -> Iterator[tuple[Path, model.Property]]:
    if isinstance(type_, model.DiscriminatedObjectType):
        told = value.get(type_.discriminator) if isinstance(value, dict) else None
        variant = type_.variants.get(told) if isinstance(told, str) else None
        if variant is None:
            return
        type_ = variant
    if isinstance(type_, model.ArrayType) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _properties(type_.item_type, item, (*path, index))
    elif isinstance(type_, model.ObjectType) and isinstance(value, dict):
        for name, item in type_.properties.items():
            yield (*path, name), item
            if name in value:
                yield from _properties(item.type, value[name], (*path, name))


def sample(type_: model.Type) -> Json:
    """Some value that fits a type, for places where any will do."""
    match type_:
        case model.StringType():
            return "x" * max(1, type_.min_length or 0)
        case model.IntegerType():
            return type_.min_value if type_.min_value is not None else 0
        case model.BooleanType():
            return True
        case model.StringLiteralType():
            return type_.value
        case model.UnionType():
            return sample(type_.elements[0]) if type_.elements else None
        case model.ArrayType():
            return []
        case model.NullType():
            return None
        case model.NumberType():
            return 1.5
        case model.ObjectType() | model.DiscriminatedObjectType():
            return {}
        case _:
            return "x"


def wishes(draw: Draw, kind: Kind, base: JsonObject, count: int) -> list[JsonObject]:
    """Bodies for one object that differ from each other in as many properties as can be; fewer than `count` when the
    type has little to change."""
    made: list[JsonObject] = []
    for _ in range(count * 2):
        body = base
        for _ in range(4):
            change = kind.change(draw, body)
            if change is not None:
                body = change.properties
        if body != base and body not in made:
            made.append(body)
        if len(made) == count:
            break
    return made


def doubles(saved: Answer, listing: Answer, step: str) -> list[Problem]:
    """Whether the probe lists what was saved more than once."""
    objects = listing.result.get("objects") if isinstance(listing.result, dict) else None
    count = sum(1 for item in objects if item == saved.identifiers) if isinstance(objects, list) else 1
    return [Problem(f"the probe lists {count} objects of that name", "$.identifiers", step)] if count > 1 else []


@contextmanager
def slow_save(bench: Bench, properties: JsonObject, seconds: float) -> Generator[tuple[JsonObject, bool]]:
    """Within the block one save of the yielded properties takes long, if there is a way; whether there is."""
    slow = bench.kind.fixture.slow if bench.kind is not None else None
    if bench.faults.offers("slow"):
        with bench.faults.inject("slow", properties, verb=Verb.SAVE.wire, times=1, seconds=seconds) as sent:
            yield sent, True
    elif slow:
        yield {**properties, **slow}, True
    else:
        yield properties, False


def state_problem(
    bench: Bench, kind: Kind, got: Answer, complete: Json, step: str, earlier: Json = None
) -> Problem | None:
    """What is wrong with a `get` after a save that was cut short: it has to be absent or whole."""
    if got.error is not None:
        if got.has_code("ResourceNotFound"):
            return None
        return Problem(f"get cannot tell how far the save came: {got.error}", "$.properties", step)
    del bench
    for whole in (complete, earlier):
        if whole is not None and not apart(kind, got.properties, whole):
            return None
    rows = differences(got.properties, complete, ignore=about(kind), unordered=kind.fixture.unordered)
    path = rows[0].path if rows else "$.properties"
    return Problem(
        "the object is neither absent nor as it was asked for", path, step, ("get", "asked for"), tuple(rows)
    )


def operable(kind: Kind | None, *verbs: Verb) -> Kind:
    """The type under test. Raises `NotTested` when there is none with these operations."""
    if kind is None or not kind.has(*verbs):
        raise NotTested(f"no type has {', '.join(verb.wire for verb in verbs)}")
    return kind


def kind_with(bench: Bench, *verbs: Verb) -> Kind | None:
    """The first type under test that has these operations."""
    assert bench.provider is not None
    return next((kind for kind in bench.provider.kinds.values() if kind.has(*verbs)), None)


def usable(bench: Bench, *, full: bool = False) -> JsonObject:
    """A body that the provider takes, as far as a preview tells. Raises `NotTested` when several are refused."""
    kind = operable(bench.kind)
    told = ""
    for number in range(TRIES):
        body = bench.valid(full=full or number % 2 == 1)
        if not kind.has(Verb.PREVIEW_SAVE):
            return body
        answer = bench.preview(body)
        if answer.error is None or answer.has_code("PreviewNotSupported"):
            return body
        told = str(answer.error)
    raise NotTested(f"what the type allows is refused: {told}")
