"""The evaluator: a syntax tree in a frame gives a value, or an `Unknown` with the text of what is left to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeGuard

from extensor.contract.json import Json
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.access import element, member
from extensor.template.ast import Call, Literal, Member, Node, children
from extensor.template.closure import Closure
from extensor.template.functions import FUNCTIONS
from extensor.template.functions.table import Function, LazyFunction, bounded_text
from extensor.template.parser import quote, unparse
from extensor.template.refusal import Refusal, nearest
from extensor.template.residue import call_text, residue, value_text
from extensor.template.values import scan

if TYPE_CHECKING:
    from extensor.template.scope import Scope

_NOTHING: Mapping[str, int] = MappingProxyType({})
_LOCAL = frozenset({"copyindex", "lambdavariables"})


class Frame:
    """Where an expression is evaluated: the scope, the running loops, a user function's arguments, lambda variables."""

    __slots__ = ("arguments", "default_index", "in_default", "lambdas", "loops", "scope")

    def __init__(
        self,
        scope: "Scope",
        *,
        loops: Mapping[str, int] = _NOTHING,
        default_index: int | None = None,
        arguments: Mapping[str, Json] | None = None,
        lambdas: Mapping[str, Json] = _NOTHING,
        in_default: bool = False,
    ) -> None:
        self.scope = scope
        self.loops = loops
        self.default_index = default_index
        self.arguments = arguments
        self.lambdas = lambdas
        self.in_default = in_default

    def value(self, node: Node) -> Json:
        """Evaluate a node here. Raises `Refusal`."""
        return evaluate(node, self)

    def rest(self, node: Node) -> str | None:
        """The text of a node that may never be evaluated: what is known filled in, errors left for later."""
        try:
            return value_text(evaluate(node, self))
        except (Refusal, TemplateError):
            return unparse(node) if self._stands_alone(node) else None

    def parameter(self, name: str) -> Json:
        """A parameter, or inside a user function its argument."""
        if self.arguments is None:
            return self.scope.parameter(name)
        try:
            return self.arguments[name.lower()]
        except KeyError:
            raise Refusal(
                f"the function has no parameter '{name}'; {nearest(name, self.arguments, noun='its parameters')}"
            ) from None

    def lambda_variable(self, name: str) -> Json:
        """A variable of the innermost lambda that binds the name."""
        try:
            return self.lambdas[name.lower()]
        except KeyError:
            raise Refusal(
                f"no lambda around binds '{name}'; {nearest(name, self.lambdas, noun='lambda variables here')}"
            ) from None

    def loop_index(self, name: str | None) -> int:
        """The iteration of a running copy loop, or of the nearest if no name is given."""
        if name is None:
            if self.default_index is None:
                raise Refusal("no copy loop runs here")
            return self.default_index
        try:
            return self.loops[name.lower()]
        except KeyError:
            raise Refusal(
                f"no copy loop '{name}' runs here; {nearest(name, self.loops, noun='running loops')}"
            ) from None

    def in_loop(self, name: str, index: int, *, nearest_loop: bool) -> "Frame":
        """This frame inside one iteration of a loop; `nearest_loop` makes it what ``copyIndex()`` means."""
        return Frame(
            self.scope,
            loops={**self.loops, name.lower(): index},
            default_index=index if nearest_loop or self.default_index is None else self.default_index,
            arguments=self.arguments,
            lambdas=self.lambdas,
            in_default=self.in_default,
        )

    def moved(self, scope: "Scope") -> "Frame":
        """The same frame in another scope."""
        return Frame(
            scope,
            loops=self.loops,
            default_index=self.default_index,
            arguments=self.arguments,
            lambdas=self.lambdas,
            in_default=self.in_default,
        )

    def closure(self, call: Call) -> Closure:
        """The value of ``lambda('x', …, body)``."""
        *variables, body = call.arguments
        names: list[str] = []
        for variable in variables:
            if not isinstance(variable, Literal) or not isinstance(variable.value, str):
                raise Refusal("the variables of a lambda are named by literal strings")
            names.append(variable.value)
        lowered = [name.lower() for name in names]

        def bound(values: "tuple[Json, ...]") -> Frame:
            return Frame(
                self.scope,
                loops=self.loops,
                default_index=self.default_index,
                arguments=self.arguments,
                lambdas={**self.lambdas, **dict(zip(lowered, values, strict=True))},
                in_default=self.in_default,
            )

        def run(*values: Json) -> Json:
            value = evaluate(body, bound(values))
            self.scope.count_work(value)
            return value

        def text() -> str | None:
            rest = bound(tuple(Unknown(f"[lambdaVariables({quote(name)})]") for name in names)).rest(body)
            return None if rest is None else f"lambda({', '.join([*map(quote, names), rest])})"

        return Closure(tuple(names), run, text)

    def _stands_alone(self, node: Node) -> bool:
        if isinstance(node, Call) and (node.key in _LOCAL or (node.key == "parameters" and self.arguments is not None)):
            return False
        return all(map(self._stands_alone, children(node)))


def evaluate(node: Node, frame: Frame) -> Json:
    """The value of a node. Raises `Refusal` with the function's name where one is to blame."""
    if type(node) is Literal:
        return node.value
    if type(node) is Call:
        return _call(node, frame)
    if type(node) is Member:
        return member(evaluate(node.target, frame), node.name)
    return element(evaluate(node.target, frame), evaluate(node.index, frame))


def _call(node: Call, frame: Frame) -> Json:
    if node.namespace is not None:
        return _user_call(node, frame)
    function = FUNCTIONS.get(node.key)
    if function is None:
        raise Refusal(unknown_function(node.name))
    if len(node.arguments) < function.least or (function.most is not None and len(node.arguments) > function.most):
        raise Refusal(wrong_count(function, len(node.arguments)) or function.name)
    if isinstance(function, LazyFunction):
        try:
            return function.compute(node, frame)
        except _Named:
            raise
        except Refusal as refusal:
            raise _Named(f"{function.name}(): {refusal}") from None
    if function.lambdas:
        values = [frame.closure(one) if _is_lambda(one) else evaluate(one, frame) for one in node.arguments]
    else:
        values = [evaluate(argument, frame) for argument in node.arguments]
    try:
        if function.unknowns != "any" and _stops(function, values):
            return residue(call_text(function.name, values))
        found = function.compute(*values)
        if isinstance(found, str):
            bounded_text(len(found))
    except _Named:
        raise
    except Refusal as refusal:
        raise _Named(f"{function.name}(): {refusal}") from None
    return found


def _is_lambda(node: Node) -> TypeGuard[Call]:
    return isinstance(node, Call) and node.key == "lambda" and node.namespace is None and len(node.arguments) > 0


class _Named(Refusal):
    """A refusal that already names the function that is to blame."""


def _stops(function: Function, values: list[Json]) -> bool:
    if function.unknowns == "nested":
        return any(type(value) is Unknown for value in values)
    return any(type(value) is Unknown or (isinstance(value, list | dict) and scan(value)) for value in values)


def _user_call(node: Call, frame: Frame) -> Json:
    function = frame.scope.names.function(node.namespace or "", node.name)
    if len(node.arguments) != len(function.parameters):
        raise Refusal(
            f"{node.namespace}.{node.name}() takes {len(function.parameters)} arguments, "
            f"{len(node.arguments)} are given"
        )
    values = [evaluate(argument, frame) for argument in node.arguments]
    arguments = {parameter.name.lower(): value for parameter, value in zip(function.parameters, values, strict=True)}
    value = frame.scope.function_body(function, Frame(frame.scope, arguments=arguments))
    frame.scope.count_work(value)
    return value


def unknown_function(name: str) -> str:
    """What to say about a function that does not exist."""
    close = nearest(name, (function.name for function in FUNCTIONS.values()))
    return f"there is no function '{name}'" + (f"; {close}" if close.startswith("did") else "")


def wrong_count(function: Function, given: int) -> str | None:
    """What is wrong with a number of arguments, if anything."""
    least, most = function.least, function.most
    if least <= given and (most is None or given <= most):
        return None
    if least == most:
        due = str(least)
    elif most is None:
        due = f"at least {least}"
    else:
        due = f"{least} to {most}"
    return f"{function.name}() takes {due} argument{'' if due.endswith(' 1') or due == '1' else 's'}, not {given}"
