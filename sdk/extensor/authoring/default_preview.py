"""The preview of a type whose handler has none: the desired state over the current one, by the rule of
`Properties.over`.

What it shows as known holds for every handler that keeps the contract: a save touches what was given and nothing else,
read-only properties may change when anything does, calculated ones always do.
"""

from dataclasses import dataclass
from typing import Any, get_origin

from pydantic import BaseModel

from extensor.authoring.boundary import named
from extensor.authoring.dump import dump_with_unknowns
from extensor.authoring.facts import TypeFacts
from extensor.authoring.unchanging import at, refuse_changes, same
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown, find_unknowns, is_unknown
from extensor.errors import PreviewNotSupported
from extensor.types.model import DiscriminatedObjectType, ObjectType, Type


@dataclass(frozen=True, slots=True)
class Desired:
    """What was asked for: the properties that were given, and the same with the model's defaults."""

    given: JsonObject
    full: JsonObject


def desired_of(model: BaseModel) -> Desired:
    """What a materialised request asks for. Defaults that are made anew each time, or may yet be set by a validator
    that could not run beside an unknown, are unknown themselves.
    """
    certain = _with_uncertain(model)
    return Desired(dump_with_unknowns(model, only_given=True), dump_with_unknowns(certain))


def _with_uncertain(model: BaseModel) -> BaseModel:
    kind = type(model)
    changes: dict[str, Any] = {}
    decorators = kind.__pydantic_decorators__
    values = model.__dict__
    unvalidated = bool(decorators.model_validators) and any(is_unknown(item) for item in values.values())
    for name, field in kind.model_fields.items():
        value = values.get(name)
        if name in model.model_fields_set:
            if isinstance(value, BaseModel):
                changes[name] = _with_uncertain(value)
            elif isinstance(value, list):
                changes[name] = [_with_uncertain(item) if isinstance(item, BaseModel) else item for item in value]
        elif unvalidated or (field.default_factory is not None and not _plain(field.default_factory)):
            changes[name] = Unknown()
    return model.model_copy(update=changes) if changes else model


def _plain(factory: Any) -> bool:
    """Whether a default factory makes an equal value each time."""
    return (get_origin(factory) or factory) in (list, dict, set, tuple, frozenset, str, int, float, bool)


def require_identity(facts: TypeFacts, properties: JsonObject) -> None:
    """Raise `PreviewNotSupported` when it is not known which resource this is about."""
    for path, value in find_unknowns(facts.shape.identifiers_of(properties), ("properties",)):
        place = value.path or format_path(path)
        raise PreviewNotSupported(
            f"{named(place)} names the resource and is not known until the deployment runs, so nothing can be said "
            "about it yet",
            path=place,
        )


def can_look(facts: TypeFacts, properties: JsonObject) -> bool:
    """Whether the identifiers that a `get` needs are there; those the provider assigns are not, before it exists."""
    shape = facts.shape
    identifiers = shape.identifiers_of(properties)
    needed = [path for path in shape.identifiers if path not in shape.read_only]
    return bool(identifiers) and all(at(identifiers, path) is not None for path in needed)


def over_current(facts: TypeFacts, desired: Desired, current: JsonObject) -> JsonObject:
    """The state to come of a resource that exists. Raises `OperationFailed` for changed immutable properties."""
    shape, body = facts.shape, facts.type.body
    refuse_changes(facts, desired.given, current)
    merged = _merge(current, desired.given, desired.full, body)
    if same(shape.without_write_only(merged), current) and same(shape.without_write_only(desired.given), desired.given):
        return _hide(current, [path for path in shape.calculated if at(current, path) is not None])
    return _settle(facts, merged, current, current)


def created(facts: TypeFacts, desired: Desired) -> JsonObject:
    """The state to come of a resource that does not exist."""
    return _settle(facts, desired.full, desired.full)


def without_current(facts: TypeFacts, desired: Desired) -> JsonObject:
    """The state to come when the current one cannot be read: what was given, and nothing is known of the rest."""
    rest = {name: Unknown(path=format_path(("properties", name))) for name in desired.full if name not in desired.given}
    return _settle(facts, {**desired.given, **rest}, desired.full)


def _merge(current: JsonObject, given: JsonObject, full: JsonObject, type_: Type | None) -> JsonObject:
    """`given` over `current`; what is new as a whole comes from `full`, its defaults included."""
    object_type = _object(type_, current, full)
    merged = dict(current)
    for name, value in given.items():
        before, inner = current.get(name), object_type.properties.get(name) if object_type else None
        nested = inner and _object(inner.type, before, value)
        if nested and isinstance(before, dict) and isinstance(value, dict):
            merged[name] = _merge(before, value, full[name], nested)
        else:
            merged[name] = full[name]
    return merged


def _object(type_: Type | None, before: Json, after: Json) -> ObjectType | None:
    """The object type that both values are of; a map, which names no properties, is replaced as a whole."""
    if isinstance(type_, ObjectType):
        return type_ if type_.properties else None
    if isinstance(type_, DiscriminatedObjectType) and isinstance(before, dict) and isinstance(after, dict):
        one, other = before.get(type_.discriminator), after.get(type_.discriminator)
        return type_.variants.get(one) if isinstance(one, str) and isinstance(other, str) and one == other else None
    return None


def _settle(facts: TypeFacts, state: JsonObject, identity: JsonObject, current: JsonObject | None = None) -> JsonObject:
    """A state that a save makes: what the provider sets is not known until then, except what names the resource and
    what cannot change any more.
    """
    shape = facts.shape
    settled = shape.without_read_only(state)
    kept = [path for path in shape.identifiers if path in shape.read_only]
    for path in kept:
        value = at(identity, path)
        _put(settled, path, Unknown(path=format_path(("properties", *path))) if value is None else value)
    hidden = [path for path in (*shape.read_only, *shape.calculated) if path not in shape.identifiers]
    fixed = {path: at(current, path) for path in hidden if path in shape.immutable and path not in shape.calculated}
    settled = _hide(settled, [path for path in hidden if fixed.get(path) is None])
    for path, value in fixed.items():
        if value is not None:
            _put(settled, path, value)
    return settled


def _hide(state: JsonObject, paths: list[Path]) -> JsonObject:
    hidden = _copy(state)
    for path in paths:
        if not any(path[:length] in paths for length in range(1, len(path))):
            _put(hidden, path, Unknown(path=format_path(("properties", *path))))
    return hidden


def _put(value: JsonObject, path: Path, new: Json) -> None:
    """Set a place whose parent is there; where there is no parent, there is no place."""
    *above, last = path
    parent = at(value, tuple(above))
    if isinstance(parent, dict):
        parent[last] = new


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return value
