"""Which keys of maps are lost from one state of a resource to the next.

The keys of a map are its content, as the items of an array are; the names of an object's properties are its form. A
type alone tells the two apart: a property that is not named counts as a key where the type allows further properties.
"""

from collections.abc import Iterator

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path
from extensor.types import model
from extensor.types.checks import check_of
from extensor.types.findings import Mode

_SHOWN = Mode(given=False, unknown=True)


def lost_keys(type_: model.Type, before: Json, after: Json) -> Iterator[Path]:
    """Places of keys that have a value in `before`, while `after` shows their map without them.

    Maps are found wherever both bodies have them: in objects, in variants, in other maps, and in arrays of the same
    length. Where several types are possible, or anything is, all must agree that it is a map.
    """
    return _lost([type_], before, after, ())


def _lost(types: list[model.Type], before: Json, after: Json, path: Path) -> Iterator[Path]:
    if isinstance(before, dict) and isinstance(after, dict):
        objects = _objects(types, before, after)
        for name, value in before.items():
            if name in after:
                inner = [known for one in objects if (known := _inside(one, name)) is not None]
                if inner:
                    yield from _lost(inner, value, after[name], (*path, name))
            elif value is not None and objects and all(_is_key(one, name) for one in objects):
                yield (*path, name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        items = [one.item_type for one in _alternatives(types) if isinstance(one, model.ArrayType)]
        if items:
            for index, (one, other) in enumerate(zip(before, after, strict=True)):
                yield from _lost(items, one, other, (*path, index))


def _objects(types: list[model.Type], before: JsonObject, after: JsonObject) -> list[model.ObjectType]:
    """The object types that either body can be of; none where the bodies can be anything."""
    found: list[model.ObjectType] = []
    for one in _alternatives(types):
        if isinstance(one, model.AnyType):
            return []
        if isinstance(one, model.ObjectType):
            found.append(one)
        elif isinstance(one, model.DiscriminatedObjectType):
            told = [body.get(one.discriminator) for body in (before, after)]
            variants = [one.variants[name] for name in told if isinstance(name, str) and name in one.variants]
            found += variants if variants else one.variants.values()
    if len(found) < 2:
        return found
    checks = [(one, check_of(one, _SHOWN)) for one in found]
    fitting = [one for one, check in checks if check(after) is None or check(before) is None]
    return fitting or found


def _alternatives(types: list[model.Type]) -> list[model.Type]:
    """The types with unions taken apart, each once."""
    found: dict[int, model.Type] = {}
    waiting = list(types)
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += one.elements if isinstance(one, model.UnionType) else ()
    return [one for one in found.values() if not isinstance(one, model.UnionType)]


def _inside(type_: model.ObjectType, name: str) -> model.Type | None:
    known = type_.properties.get(name)
    return type_.additional_properties if known is None else known.type


def _is_key(type_: model.ObjectType, name: str) -> bool:
    return type_.additional_properties is not None and name not in type_.properties
