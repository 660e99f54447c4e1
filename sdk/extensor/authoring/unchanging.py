"""What may not change: the identity that a call is about, and immutable properties of what exists (P-RESULT-02,
P-TYPE-04).
"""

from pydantic import BaseModel

from extensor.authoring.boundary import HandlerBug
from extensor.authoring.dump import dump, dump_with_unknowns
from extensor.authoring.facts import TypeFacts
from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown, find_unknowns, is_unknown
from extensor.errors import OperationFailed


def refuse_respelling(facts: TypeFacts, model: BaseModel, asked: JsonObject) -> None:
    """Raise `OperationFailed` when the model turns an identifier into another than was asked for, ``Web`` into ``web``.

    The host would keep the resource under a name that no answer shows (P-RPC-09).
    """
    for field, name in facts.identifier_fields:
        told = asked.get(name)
        if told is None or type(told) is Unknown:
            continue
        made = getattr(model, field, None)
        if type(made) is type(told) and made == told:
            continue
        kept = dump(model, only=field).get(name)
        if kept is not None and not same(kept, told):
            message = f"names the resource, and the provider keeps it as {kept!r}; write it so"
            raise OperationFailed(message, code=ErrorCode.INVALID_PROPERTY, path=format_path(("properties", name)))


def require_identity_of(facts: TypeFacts, answered: JsonObject, asked: JsonObject) -> None:
    """Raise `HandlerBug` when an answer is about another resource than the request."""
    for path in facts.shape.identifiers:
        wanted = at(asked, path)
        if wanted is None or type(wanted) is Unknown or same(at(answered, path), wanted):
            continue
        shape = facts.shape
        raise HandlerBug(
            f"its result is about another resource: asked for {shape.identity_of(asked)}, "
            f"it answered {shape.identity_of(answered)}"
        )


def given_immutables(facts: TypeFacts, model: BaseModel) -> JsonObject | None:
    """The properties that were given, when an immutable one that can be compared is among them."""
    given = dump_with_unknowns(model, only_given=True)
    return given if any(_known(at(given, path)) for path in _comparable(facts)) else None


def refuse_changes(facts: TypeFacts, given: JsonObject, current: JsonObject) -> None:
    """Raise `OperationFailed` for each immutable property whose given value is another than the current one."""
    faults = [
        Fault(
            ErrorCode.IMMUTABLE_PROPERTY,
            "cannot be changed once the resource exists; delete the resource first or give it another name",
            format_path(("properties", *path)),
        )
        for path in _comparable(facts)
        if _known(wanted := at(given, path)) and not same(wanted, at(current, path))
    ]
    if faults:
        raise OperationFailed.many(faults)


def _comparable(facts: TypeFacts) -> list[Path]:
    return [path for path in facts.shape.immutable if path not in facts.shape.write_only]


def _known(value: Json) -> bool:
    return value is not None and next(find_unknowns(value), None) is None


def at(value: Json, path: Path) -> Json:
    """What stands at a path through objects, ``None`` when nothing does."""
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def same(one: Json, other: Json) -> bool:
    """Whether two values are known to be equal."""
    if is_unknown(one) or is_unknown(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(item, other[name]) for name, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
