"""Objects: making, merging, listing, safe access."""

from typing import Any

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.access import element
from extensor.template.functions.arrays import distinct, position
from extensor.template.functions.table import Function, an_object, array, bounded_array, integer, text
from extensor.template.refusal import Refusal
from extensor.template.residue import call_text, residue
from extensor.template.values import deep_equal, find_key, kind_of


def _create_object(*pairs: Json) -> Json:
    if len(pairs) % 2:
        raise Refusal("the arguments are pairs of a name and a value; one value is missing")
    if any(type(name) is Unknown for name in pairs[::2]):
        return residue(call_text("createObject", pairs))
    return {text(name, "a property's name"): value for name, value in zip(pairs[::2], pairs[1::2], strict=True)}


def _union(*parts: Json) -> Json:
    if all(isinstance(part, dict) for part in parts):
        merged: dict[str, Any] = {}
        for part in parts:
            merged = _merged(merged, part)
        return merged
    if all(isinstance(part, list) for part in parts):
        bounded_array(sum(map(len, parts)))
        return distinct(item for part in parts for item in part)
    raise Refusal(f"the arguments must be all objects or all arrays, not {', '.join(map(kind_of, parts))}")


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged = dict(first)
    for name, value in second.items():
        old = find_key(merged, name)
        if old is None:
            merged[name] = value
        elif isinstance(merged[old], dict) and isinstance(value, dict):
            merged[old] = _merged(merged[old], value)
        else:
            merged[old] = value
    return merged


def _intersection(*parts: Json) -> Json:
    if all(isinstance(part, dict) for part in parts):
        first, *others = parts
        return {
            name: value
            for name, value in first.items()
            if all(name in other and deep_equal(value, other[name]) for other in others)
        }
    if all(isinstance(part, list) for part in parts):
        first, *others = parts
        return distinct(item for item in first if all(position(other, item) >= 0 for other in others))
    raise Refusal(f"the arguments must be all objects or all arrays, not {', '.join(map(kind_of, parts))}")


def _shallow_merge(items: Json) -> Json:
    merged: dict[str, Any] = {}
    for at, item in enumerate(array(items)):
        if type(item) is Unknown:
            return residue(call_text("shallowMerge", [items]))
        for name, value in an_object(item, f"element {at}").items():
            merged[find_key(merged, name) or name] = value
    return merged


def _items(value: Json) -> Json:
    return [{"key": name, "value": item} for name, item in _sorted(value)]


def _object_keys(value: Json) -> Json:
    return [name for name, _ in _sorted(value)]


def _sorted(value: Json) -> list[tuple[str, Any]]:
    return sorted(an_object(value).items(), key=lambda pair: pair[0].lower())


def _try_get(target: Json, *keys: Json) -> Json:
    first, *rest = keys
    value = _safe(target, first)
    if value is _MISSING:
        return None
    for key in rest:
        value = _plain_step(value, key)
        if type(value) is Unknown:
            break
    return value if type(value) is not Unknown else _continued(value, target, keys)


def _safe(target: Json, key: Json) -> Json:
    index, from_end = _step(key)
    if target is None:
        return _MISSING
    if isinstance(target, dict):
        found = find_key(target, text(index, "an object's property name"))
        return _MISSING if found is None else target[found]
    at = integer(index, "an array's index")
    items = array(target, "the first argument")
    at = len(items) - at if from_end else at
    return items[at] if 0 <= at < len(items) else _MISSING


def _plain_step(target: Json, key: Json) -> Json:
    index, from_end = _step(key)
    return _index_from_end(target, index) if from_end else element(target, index)


def _step(key: Json) -> tuple[Json, bool]:
    if isinstance(key, dict):
        return key.get("value"), key.get("fromEnd") is True
    return key, False


def _continued(value: Json, target: Json, keys: tuple[Json, ...]) -> Json:
    return value if len(keys) == 1 else residue(call_text("tryGet", [target, *keys]))


def _try_index_from_end(items: Json, index: Json, *rest: Json) -> Json:
    return _try_get(items, {"value": integer(index, "the index"), "fromEnd": True}, *rest)


def _index_from_end(items: Json, index: Json) -> Json:
    if type(items) is Unknown or type(index) is Unknown:
        return residue(call_text("indexFromEnd", [items, index]))
    elements, at = array(items, "the first argument"), integer(index, "the index")
    if 0 < at <= len(elements):
        return elements[-at]
    raise Refusal(f"index {at} from the end is outside the array of {len(elements)} elements")


_MISSING: Any = object()

FUNCTIONS = (
    Function("createObject", 0, None, _create_object, "any"),
    Function("union", 1, None, _union),
    Function("intersection", 2, None, _intersection),
    Function("shallowMerge", 1, 1, _shallow_merge, "nested"),
    Function("items", 1, 1, _items, "nested"),
    Function("objectKeys", 1, 1, _object_keys, "nested"),
    Function("tryGet", 2, None, _try_get, "nested"),
    Function("tryIndexFromEnd", 2, None, _try_index_from_end, "nested"),
    Function("indexFromEnd", 2, 2, _index_from_end, "nested"),
)
