"""Conditions, comparisons and the three constants. `if`, `and`, `or` and `coalesce` evaluate no more than they need."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.functions.table import Function, LazyFunction, boolean
from extensor.template.refusal import Refusal
from extensor.template.residue import residue, value_text
from extensor.template.values import deep_equal, kind_of

if TYPE_CHECKING:
    from extensor.template.ast import Call
    from extensor.template.evaluator import Frame


def _if(call: "Call", frame: "Frame") -> Json:
    condition = frame.value(call.arguments[0])
    if type(condition) is Unknown:
        texts = [value_text(condition), frame.rest(call.arguments[1]), frame.rest(call.arguments[2])]
        return residue(_joined("if", texts))
    return frame.value(call.arguments[1 if boolean(condition, "the condition") else 2])


def _decided_by(name: str, decisive: bool) -> LazyFunction:
    def compute(call: "Call", frame: "Frame") -> Json:
        texts: list[str | None] = []
        for position, argument in enumerate(call.arguments):
            try:
                value = frame.value(argument)
            except (Refusal, TemplateError):
                if not texts:
                    raise
                texts.append(frame.rest(argument))  # an unknown before it may keep it from being evaluated at all
                continue
            if type(value) is Unknown:
                texts.append(value_text(value))
            elif boolean(value, f"argument {position + 1}") is decisive:
                return decisive
        if not texts:
            return not decisive
        if len(texts) == 1:
            texts.append(value_text(not decisive))
        return residue(_joined(name, texts))

    return LazyFunction(name, 2, None, compute)


def _coalesce(call: "Call", frame: "Frame") -> Json:
    for position, argument in enumerate(call.arguments):
        value = frame.value(argument)
        if type(value) is Unknown:
            texts = [value_text(value), *(frame.rest(later) for later in call.arguments[position + 1 :])]
            return value if len(texts) == 1 else residue(_joined("coalesce", texts))
        if value is not None:
            return value
    return None


def _joined(name: str, texts: list[str | None]) -> str | None:
    known = [text for text in texts if text is not None]
    return f"{name}({', '.join(known)})" if len(known) == len(texts) else None


def _ordered(name: str, holds: Callable[[int], bool]) -> Function:
    def compute(left: Json, right: Json) -> Json:
        if isinstance(left, str) and isinstance(right, str):
            return holds(int(left > right) - int(left < right))
        if not (_is_number(left) and _is_number(right)):
            raise Refusal(f"two numbers or two strings can be ordered, not {kind_of(left)} and {kind_of(right)}")
        return holds(int(left > right) - int(left < right))

    return Function(name, 2, 2, compute)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _not(value: Json) -> bool:
    return not boolean(value)


FUNCTIONS = (
    LazyFunction("if", 3, 3, _if),
    _decided_by("and", False),
    _decided_by("or", True),
    LazyFunction("coalesce", 1, None, _coalesce),
    Function("not", 1, 1, _not),
    Function("equals", 2, 2, deep_equal),
    _ordered("less", lambda order: order < 0),
    _ordered("lessOrEquals", lambda order: order <= 0),
    _ordered("greater", lambda order: order > 0),
    _ordered("greaterOrEquals", lambda order: order >= 0),
    Function("true", 0, 0, lambda: True),
    Function("false", 0, 0, lambda: False),
    Function("null", 0, 0, lambda: None),
)
