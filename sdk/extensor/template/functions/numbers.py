"""64-bit integer arithmetic; what does not fit is an error."""

from collections.abc import Callable

from extensor.contract.json import Json
from extensor.template.functions.table import Function, bounded_integer, integer
from extensor.template.refusal import Refusal


def _arithmetic(name: str, compute: Callable[[int, int], int]) -> Function:
    def checked(left: Json, right: Json) -> Json:
        return bounded_integer(compute(integer(left, "the first operand"), integer(right, "the second operand")))

    return Function(name, 2, 2, checked)


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise Refusal("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    return left - right * _quotient(left, right)


FUNCTIONS = (
    _arithmetic("add", lambda left, right: left + right),
    _arithmetic("sub", lambda left, right: left - right),
    _arithmetic("mul", lambda left, right: left * right),
    _arithmetic("div", _quotient),
    _arithmetic("mod", _remainder),
)
