"""One row of the function table, and the checks that rows share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from extensor.contract.json import Json
from extensor.template.limits import INT_MAX, INT_MIN, MAX_TEXT_CHARACTERS, MAX_VALUES
from extensor.template.refusal import Refusal
from extensor.template.values import kind_of

if TYPE_CHECKING:
    from extensor.template.ast import Call
    from extensor.template.evaluator import Frame

Tolerance: TypeAlias = Literal["none", "nested", "any"]
"""What a function does with unknowns: ``none`` are let through (the result is unknown when an argument holds one
anywhere), ``nested`` ones inside arrays and objects are, ``any`` are, top-level ones too."""


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function: its documented name, how many arguments, what computes it from their values.

    `lambdas` says that an argument may be a lambda.
    """

    name: str
    least: int
    most: int | None
    compute: Callable[..., Json]
    unknowns: Tolerance = "none"
    lambdas: bool = False


@dataclass(frozen=True, slots=True)
class LazyFunction(Function):
    """A function that gets the call and the frame and evaluates the arguments it needs: ``compute(call, frame)``."""

    compute: "Callable[[Call, Frame], Json]"
    unknowns: Tolerance = "any"


def text(value: Json, what: str = "the argument") -> str:
    """The value if it is a string, else a `Refusal`."""
    if isinstance(value, str):
        return value
    raise Refusal(f"{what} must be a string, not {kind_of(value)}")


def integer(value: Json, what: str = "the argument") -> int:
    """The value if it is an integer, else a `Refusal`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Refusal(f"{what} must be an integer, not {kind_of(value)}")


def boolean(value: Json, what: str = "the argument") -> bool:
    """The value if it is a boolean, else a `Refusal`."""
    if isinstance(value, bool):
        return value
    raise Refusal(f"{what} must be a boolean, not {kind_of(value)}")


def array(value: Json, what: str = "the argument") -> list[Any]:
    """The value if it is an array, else a `Refusal`."""
    if isinstance(value, list):
        return value
    raise Refusal(f"{what} must be an array, not {kind_of(value)}")


def an_object(value: Json, what: str = "the argument") -> dict[str, Any]:
    """The value if it is an object, else a `Refusal`."""
    if isinstance(value, dict):
        return value
    raise Refusal(f"{what} must be an object, not {kind_of(value)}")


def bounded_integer(value: int) -> int:
    """The value if it fits into 64 bits, else a `Refusal`."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise Refusal("the result does not fit into 64 bits")


def bounded_text(characters: int) -> None:
    """Refuse a result of that many characters if it is too long, before it is built."""
    if characters > MAX_TEXT_CHARACTERS:
        raise Refusal(f"the result would have {characters} characters, more than the {MAX_TEXT_CHARACTERS} allowed")


def bounded_array(elements: int) -> None:
    """Refuse a result of that many elements if it is too long, before it is built."""
    if elements > MAX_VALUES:
        raise Refusal(f"the result would have {elements} elements, more than the {MAX_VALUES} allowed")
