"""Functions that take a lambda. A `Closure` is called with evaluated arguments and may give an unknown."""

from functools import cmp_to_key
from typing import Any

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.template.closure import Closure
from extensor.template.functions.table import Function, an_object, array, boolean, text
from extensor.template.refusal import Refusal
from extensor.template.residue import call_text, residue
from extensor.template.values import kind_of


class _NotKnown(Exception):
    """A lambda's result decides over the whole and is not known."""


def _closure(value: Json, *arities: int) -> Closure:
    if not isinstance(value, Closure):
        raise Refusal(f"the last argument must be a lambda, not {kind_of(value)}")
    if len(value.names) not in arities:
        raise Refusal(f"the lambda must take {' or '.join(map(str, arities))} arguments, it takes {len(value.names)}")
    return value


def _apply(closure: Closure, item: Json, *more: Json) -> Json:
    return closure(*(item, *more)[: len(closure.names)])


def _known(value: Json) -> Json:
    if type(value) is Unknown:
        raise _NotKnown
    return value


def _map(items: Json, function: Json) -> Json:
    closure = _closure(function, 1, 2)
    return [_apply(closure, item, at) for at, item in enumerate(array(items, "the first argument"))]


def _filter(items: Json, function: Json) -> Json:
    closure = _closure(function, 1, 2)
    try:
        return [
            item
            for at, item in enumerate(array(items, "the first argument"))
            if boolean(_known(_apply(closure, item, at)), "the lambda's result")
        ]
    except _NotKnown:
        return residue(call_text("filter", [items, function]))


def _reduce(items: Json, initial: Json, function: Json) -> Json:
    closure = _closure(function, 2, 3)
    value = initial
    for at, item in enumerate(array(items, "the first argument")):
        value = closure(*(value, item, at)[: len(closure.names)])
    return value


def _sort(items: Json, function: Json) -> Json:
    closure = _closure(function, 2)

    def before(left: Json, right: Json) -> bool:
        return boolean(_known(closure(left, right)), "the lambda's result")

    def compare(left: Json, right: Json) -> int:
        return -1 if before(left, right) else int(before(right, left))

    try:
        return sorted(array(items, "the first argument"), key=cmp_to_key(compare))
    except _NotKnown:
        return residue(call_text("sort", [items, function]))


def _keyed(name: str, items: Json, functions: tuple[Json, ...]) -> list[tuple[str, Json]] | Unknown:
    by_key, *by_value = (_closure(function, 1) for function in functions)
    try:
        return [
            (text(_known(by_key(item)), "a key"), by_value[0](item) if by_value else item)
            for item in array(items, "the first argument")
        ]
    except _NotKnown:
        return residue(call_text(name, [items, *functions]))


def _to_object(items: Json, *functions: Json) -> Json:
    pairs = _keyed("toObject", items, functions)
    return pairs if isinstance(pairs, Unknown) else dict(pairs)


def _group_by(items: Json, *functions: Json) -> Json:
    pairs = _keyed("groupBy", items, functions)
    if isinstance(pairs, Unknown):
        return pairs
    groups: dict[str, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _map_values(members: Json, function: Json) -> Json:
    closure = _closure(function, 1)
    return {name: closure(value) for name, value in an_object(members, "the first argument").items()}


FUNCTIONS = (
    Function("map", 2, 2, _map, "nested", lambdas=True),
    Function("filter", 2, 2, _filter, "nested", lambdas=True),
    Function("reduce", 3, 3, _reduce, "nested", lambdas=True),
    Function("sort", 2, 2, _sort, "nested", lambdas=True),
    Function("toObject", 2, 3, _to_object, "nested", lambdas=True),
    Function("groupBy", 2, 3, _group_by, "nested", lambdas=True),
    Function("mapValues", 2, 2, _map_values, "nested", lambdas=True),
)
