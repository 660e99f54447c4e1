"""Arrays, and the functions that take arrays, strings and objects alike."""

from collections.abc import Iterable
from typing import Any

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.functions.table import Function, array, bounded_array, bounded_text, integer, text
from extensor.template.refusal import Refusal
from extensor.template.residue import call_text, residue
from extensor.template.values import deep_equal, find_key, kind_of, scan, to_text

_MAX_RANGE = 10_000
_MAX_RANGE_END = 2**31 - 1


def position(items: list[Any], wanted: Json) -> int:
    """The first position of a value in an array, or -1."""
    return next((at for at, item in enumerate(items) if deep_equal(item, wanted)), -1)


def distinct(items: Iterable[Json]) -> list[Any]:
    """The items without later equals, in order; linear for scalars."""
    seen: set[tuple[type, Json]] = set()
    found: list[Any] = []
    complex_ones: list[Any] = []
    for item in items:
        if isinstance(item, list | dict):
            if position(complex_ones, item) < 0:
                complex_ones.append(item)
                found.append(item)
        else:
            key = (float if isinstance(item, int) and not isinstance(item, bool) else type(item), item)
            if key not in seen:
                seen.add(key)
                found.append(item)
    return found


def _create_array(*items: Json) -> Json:
    return list(items)


def _array(value: Json) -> Json:
    return value if isinstance(value, list) else [value]


def _concat(*parts: Json) -> Json:
    if all(isinstance(part, list) for part in parts):
        bounded_array(sum(map(len, parts)))
        return [item for part in parts for item in part]
    if any(type(part) is Unknown for part in parts):
        return residue(call_text("concat", parts))
    if any(isinstance(part, list | dict) or part is None for part in parts):
        kinds = ", ".join(dict.fromkeys(map(kind_of, parts)))
        raise Refusal(f"the arguments must be all strings or all arrays, not {kinds}")
    texts = [to_text(part) for part in parts]
    bounded_text(sum(map(len, texts)))
    return "".join(texts)


def _length(value: Json) -> Json:
    if isinstance(value, list | dict | str):
        return len(value)
    raise Refusal(f"the argument must be an array, an object or a string, not {kind_of(value)}")


def _empty(value: Json) -> Json:
    return True if value is None else _length(value) == 0


def _first(value: Json) -> Json:
    return _end(value, 0)


def _last(value: Json) -> Json:
    return _end(value, -1)


def _end(value: Json, at: int) -> Json:
    if isinstance(value, str):
        return value[at] if value else ""
    if isinstance(value, list):
        return value[at] if value else None
    raise Refusal(f"the argument must be an array or a string, not {kind_of(value)}")


def _take(value: Json, count: Json) -> Json:
    return _sliceable(value)[: max(integer(count, "the count"), 0)]


def _skip(value: Json, count: Json) -> Json:
    return _sliceable(value)[max(integer(count, "the count"), 0) :]


def _sliceable(value: Json) -> Any:
    if isinstance(value, list | str):
        return value
    raise Refusal(f"the first argument must be an array or a string, not {kind_of(value)}")


def _range(start: Json, count: Json) -> Json:
    first, many = integer(start, "the start"), integer(count, "the count")
    if not 0 <= many <= _MAX_RANGE:
        raise Refusal(f"the count must be from 0 to {_MAX_RANGE}, not {many}")
    if first + many > _MAX_RANGE_END:
        raise Refusal(f"start and count together must not exceed {_MAX_RANGE_END}")
    return list(range(first, first + many))


def _contains(container: Json, wanted: Json) -> Json:
    if isinstance(container, str):
        if isinstance(wanted, list | dict) or wanted is None:
            raise Refusal(f"a string cannot contain {kind_of(wanted)}")
        return to_text(wanted) in container
    if isinstance(container, list):
        if scan(container) or scan(wanted):
            return residue(call_text("contains", [container, wanted]))
        return position(container, wanted) >= 0
    if isinstance(container, dict):
        return find_key(container, text(wanted, "the property's name")) is not None
    raise Refusal(f"the first argument must be a string, an array or an object, not {kind_of(container)}")


def _index_of(container: Json, wanted: Json) -> Json:
    if isinstance(container, list):
        return position(container, wanted)
    return text(container, "the first argument").lower().find(text(wanted, "the second argument").lower())


def _last_index_of(container: Json, wanted: Json) -> Json:
    if isinstance(container, list):
        at = position(container[::-1], wanted)
        return at if at < 0 else len(container) - 1 - at
    return text(container, "the first argument").lower().rfind(text(wanted, "the second argument").lower())


def _join(items: Json, delimiter: Json) -> Json:
    texts = [to_text(item) for item in array(items, "the first argument")]
    between = text(delimiter, "the delimiter")
    bounded_text(sum(map(len, texts)) + len(between) * len(texts))
    return between.join(texts)


def _flatten(items: Json) -> Json:
    found: list[Any] = []
    for at, item in enumerate(array(items)):
        if type(item) is Unknown:
            return residue(call_text("flatten", [items]))
        found.extend(array(item, f"element {at}"))
        bounded_array(len(found))
    return found


def _distinct(items: Json) -> Json:
    return distinct(array(items))


def _extreme(name: str, better: Any) -> Function:
    def compute(*values: Json) -> Json:
        numbers = array(values[0]) if len(values) == 1 and isinstance(values[0], list) else list(values)
        if not numbers:
            raise Refusal("the array is empty")
        return better(integer(number, "each value") for number in numbers)

    return Function(name, 1, None, compute)


FUNCTIONS = (
    Function("createArray", 0, None, _create_array, "any"),
    Function("array", 1, 1, _array, "nested"),
    Function("concat", 1, None, _concat, "nested"),
    Function("length", 1, 1, _length, "nested"),
    Function("empty", 1, 1, _empty, "nested"),
    Function("first", 1, 1, _first, "nested"),
    Function("last", 1, 1, _last, "nested"),
    Function("take", 2, 2, _take, "nested"),
    Function("skip", 2, 2, _skip, "nested"),
    Function("range", 2, 2, _range),
    Function("contains", 2, 2, _contains, "nested"),
    Function("indexOf", 2, 2, _index_of),
    Function("lastIndexOf", 2, 2, _last_index_of),
    Function("join", 2, 2, _join),
    Function("flatten", 1, 1, _flatten, "nested"),
    Function("distinct", 1, 1, _distinct),
    _extreme("min", min),
    _extreme("max", max),
)
