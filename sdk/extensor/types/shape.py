"""What a type says about handling a body: which properties name it, which are hidden, which are left out."""

import json
from collections.abc import Callable, Hashable
from typing import TypeAlias

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path
from extensor.contract.unknown import Unknown
from extensor.types import model
from extensor.types.checks import fits_kind

Kind: TypeAlias = str
"""``read_only``, ``write_only``, ``immutable``, ``calculated`` or ``secret``."""

KINDS = ("read_only", "write_only", "immutable", "calculated", "secret")


_as_one_text = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


class Shape:
    """The facts about one resource type or configuration type, worked out once and kept with it.

    The tuples list paths relative to the properties, parents before children, through nested objects; what lies inside
    arrays, maps and variants has no one path and is found by the methods alone.
    """

    __slots__ = (
        "_body",
        "_names",
        "calculated",
        "holds_secrets",
        "holds_write_only",
        "identifiers",
        "immutable",
        "lone_identifier",
        "read_only",
        "required_identifiers",
        "secret",
        "write_only",
    )

    def __init__(self, body: model.Body) -> None:
        self._body = body
        named = list(_identifiers(body, (), ()))
        self.identifiers: tuple[Path, ...] = tuple(path for path, _ in named)
        """The properties that name the resource; an object that holds identifiers counts by those."""
        self.required_identifiers: tuple[Path, ...] = tuple(path for path, required in named if required)
        """Those that a `get` must give."""
        self.lone_identifier: str | None = str(named[0][0][0]) if len(named) == 1 and len(named[0][0]) == 1 else None
        """The property that alone names the resource, where one does and it is no nested one."""
        self.holds_secrets = _reaches(body, "secret")
        """Whether a secret can lie anywhere in a body."""
        self.holds_write_only = _reaches(body, "write_only")
        """Whether a write-only property can lie anywhere in a body."""
        paths: dict[Kind, list[Path]] = {kind: [] for kind in KINDS}
        _collect(body, (), (), paths)
        self.read_only = tuple(paths["read_only"])
        self.write_only = tuple(paths["write_only"])
        self.immutable = tuple(paths["immutable"])
        self.calculated = tuple(paths["calculated"])
        self.secret = tuple(paths["secret"])
        self._names = _tree(self.identifiers)

    def identifiers_of(self, properties: JsonObject) -> JsonObject:
        """The identifier properties that a body gives, nested as they are there; null ones are left out."""
        return _pick(properties, self._names)

    def identity_of(self, properties: JsonObject) -> str:
        """One text per identity, for locks and look-ups: the identifiers as JSON with sorted names."""
        return _as_one_text(self.identifiers_of(properties))

    def key_of(self, properties: JsonObject) -> Hashable | None:
        """The same for a table in this process, cheaper to make; ``None`` when nothing names the resource."""
        if self.lone_identifier is not None:
            name = properties.get(self.lone_identifier)
            if type(name) is str:
                return name
        named = self.identifiers_of(properties)
        return (_as_one_text(named),) if named else None

    def mask(self, properties: Json) -> Json:
        """A copy with each secret value replaced by ``***``; unknown and null ones stay."""
        return _walk(properties, self._body, "secret", _masked)

    def secrets_in(self, properties: Json) -> list[Json]:
        """The secret values in a body, for a `Redactor` to learn."""
        if not self.holds_secrets:
            return []
        found: list[Json] = []

        def note(value: Json) -> Json:
            if value is not None and type(value) is not Unknown:
                found.append(value)
            return value

        _walk(properties, self._body, "secret", note)
        return found

    def without_write_only(self, properties: JsonObject) -> JsonObject:
        """The properties without the write-only ones, nested ones included; the same object when there can be none."""
        if not self.holds_write_only:
            return properties
        return _walk(properties, self._body, "write_only", _dropped)

    def without_read_only(self, properties: JsonObject) -> JsonObject:
        """A copy without the read-only properties, nested ones included: what a save may send back."""
        return _walk(properties, self._body, "read_only", _dropped)

    def lost_keys(self, before: JsonObject, after: JsonObject) -> frozenset[Path]:
        """Places of keys that `before` has in a map which `after` shows without them; see `extensor.types.maps`."""
        from extensor.types.maps import lost_keys  # brings the checks, which only a host that compares needs here

        return frozenset(lost_keys(self._body, before, after))


def shape_of(type_: model.ResourceType | model.Body) -> Shape:
    """The shape of a type, made at the first call."""
    body = type_.body if isinstance(type_, model.ResourceType) else type_
    shape: Shape | None = body.facts.get("shape")
    if shape is None:
        shape = body.facts["shape"] = Shape(body)
    return shape


class _Drop:
    pass


_DROP = _Drop()


def _dropped(_: Json) -> Json:
    return _DROP


def _masked(value: Json) -> Json:
    from extensor.contract.redaction import MASK  # brings urllib, which a provider without secrets need not load

    return value if value is None or type(value) is Unknown else MASK


def _tables(type_: model.Type) -> list[dict[str, model.Property]]:
    if isinstance(type_, model.ObjectType):
        return [type_.properties]
    if isinstance(type_, model.DiscriminatedObjectType):
        return [variant.properties for variant in type_.variants.values()]
    return []


def _identifiers(type_: model.Type, path: Path, above: tuple[int, ...]) -> list[tuple[Path, bool]]:
    found: dict[Path, bool] = {}
    for table in _tables(type_):
        for name, item in table.items():
            if not item.identifier:
                continue
            inner = [] if id(item.type) in above else _identifiers(item.type, (*path, name), (*above, id(type_)))
            for place, required in inner or [((*path, name), True)]:
                found.setdefault(place, required and item.required)
    return list(found.items())


def _collect(type_: model.Type, path: Path, above: tuple[int, ...], paths: dict[Kind, list[Path]]) -> None:
    if id(type_) in above:
        return
    for table in _tables(type_):
        for name, item in table.items():
            place = (*path, name)
            for kind in KINDS:
                if _has(item, kind) and place not in paths[kind]:
                    paths[kind].append(place)
            if isinstance(item.type, model.ObjectType | model.DiscriminatedObjectType) and any(
                _reaches(item.type, kind) for kind in KINDS
            ):
                _collect(item.type, place, (*above, id(type_)), paths)


def _has(item: model.Property, kind: Kind) -> bool:
    return _is_secret(item.type) if kind == "secret" else bool(getattr(item, kind))


def _is_secret(type_: model.Type) -> bool:
    return isinstance(type_, model.StringType | model.StringLiteralType | model.ObjectType) and type_.sensitive


def _reaches(type_: model.Type, kind: Kind) -> bool:
    """Whether a property of that kind, or a secret, can lie anywhere inside; kept with the object types."""
    facts = type_.facts if isinstance(type_, model.ObjectType | model.DiscriminatedObjectType) else None
    key = f"reaches {kind}"
    if facts is not None and key in facts:
        return facts[key]
    seen: set[int] = set()
    waiting: list[model.Type] = [type_]
    reached = False
    while waiting and not reached:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if kind == "secret":
            reached = _is_secret(one)
        else:
            reached = any(_has(item, kind) for table in _tables(one) for item in table.values())
        waiting.extend(model.children(one))
    if facts is not None:
        facts[key] = reached
    return reached


def _walk(value: Json, type_: model.Type, kind: Kind, act: Callable[[Json], Json]) -> Json:
    """A copy of a body in which `act` replaced every value of a property of that kind, `_DROP` leaving it out."""
    if kind == "secret" and _is_secret(type_):
        return act(value)
    match type_:
        case model.ObjectType() if isinstance(value, dict) and _reaches(type_, kind):
            return _walk_object(value, type_.properties, type_.additional_properties, kind, act)
        case model.DiscriminatedObjectType() if isinstance(value, dict) and _reaches(type_, kind):
            variant = type_.variants.get(value[type_.discriminator]) if _is_text(value, type_.discriminator) else None
            if variant is not None:
                return _walk_object(value, variant.properties, variant.additional_properties, kind, act)
            return _walk_object(value, _any_variant(type_, kind), None, kind, act)
        case model.ArrayType() if isinstance(value, list):
            return [_walk(item, type_.item_type, kind, act) for item in value]
        case model.UnionType():
            for element in type_.elements:
                if fits_kind(value, element):
                    value = _walk(value, element, kind, act)
            return value
        case _:
            return value


def _is_text(value: JsonObject, key: str) -> bool:
    return type(value.get(key)) is str


def _any_variant(type_: model.DiscriminatedObjectType, kind: Kind) -> dict[str, model.Property]:
    """Every property of every variant; where names meet, the one that must be handled."""
    found: dict[str, model.Property] = {}
    for variant in type_.variants.values():
        for name, item in variant.properties.items():
            if name not in found or _has(item, kind) or (not _has(found[name], kind) and _reaches(item.type, kind)):
                found[name] = item
    return found


def _walk_object(
    value: JsonObject,
    properties: dict[str, model.Property],
    extra: model.Type | None,
    kind: Kind,
    act: Callable[[Json], Json],
) -> JsonObject:
    copy: JsonObject = {}
    for name, item in value.items():
        known = properties.get(name)
        if known is not None:
            new = act(item) if kind != "secret" and _has(known, kind) else _walk(item, known.type, kind, act)
        else:
            new = item if extra is None else _walk(item, extra, kind, act)
        if new is not _DROP:
            copy[name] = new
    return copy


_Tree: TypeAlias = dict[str | int, "_Tree"]


def _tree(paths: tuple[Path, ...]) -> _Tree:
    root: _Tree = {}
    for path in paths:
        at = root
        for step in path:
            at = at.setdefault(step, {})
    return root


def _pick(value: JsonObject, names: _Tree) -> JsonObject:
    picked: JsonObject = {}
    for name, inner in names.items():
        item = value.get(str(name))
        if item is None:
            continue
        if inner and isinstance(item, dict):
            item = _pick(item, inner)
            if not item:
                continue
        picked[str(name)] = item
    return picked
