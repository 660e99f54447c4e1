"""Which resources a value reads: the implicit dependencies that `reference` and `references` make."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from extensor.contract.json import Json
from extensor.template.ast import Call, Literal, Node, children
from extensor.template.model import Template
from extensor.template.parser import is_expression, parse, unparse
from extensor.template.refusal import Refusal

_ELEMENT_FORMAT = re.compile(r"([^{}\[\]]+)\[\{0\}\]\Z")


@dataclass(frozen=True, slots=True)
class ReferenceExpr:
    """A resource named by an expression: `node` is the name's, `symbol` the loop it is an element of, if that shows."""

    node: Node
    symbol: str | None

    @property
    def text(self) -> str:
        """The expression that names the resource, without brackets."""
        return unparse(self.node)


def references_of(value: Json, template: Template | None = None) -> set[str | ReferenceExpr]:
    """Every resource that a value's expressions name in `reference()` or `references()`, evaluated or not.

    With a template, also those named by the variables, parameter defaults and functions that the value uses.
    Raises nothing: what does not parse names nothing, and fails when it is evaluated.
    """
    found: set[str | ReferenceExpr] = set()
    for node in nodes_of(value, template):
        if (
            isinstance(node, Call)
            and node.namespace is None
            and node.key in {"reference", "references"}
            and node.arguments
        ):
            found.add(_named(node.arguments[0]))
    return found


def nodes_of(value: Json, template: Template | None = None) -> Iterator[Node]:
    """Every node of every expression in a value and, with a template, in what the value uses; each place once."""
    pending: list[Json] = [value]
    used: set[tuple[str, str]] = set()
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending.extend(one.values())
            pending.extend(one)
        elif isinstance(one, list):
            pending.extend(one)
        elif isinstance(one, str) and is_expression(one):
            for node in _nodes(one):
                yield node
                if template is not None and isinstance(node, Call):
                    pending.extend(_used(node, template, used))


def _nodes(text: str) -> list[Node]:
    try:
        root = parse(text)
    except Refusal:
        return []
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        found.append(node)
        pending.extend(children(node))
    return found


def _used(call: Call, template: Template, used: set[tuple[str, str]]) -> Iterator[Json]:
    if call.namespace is not None:
        wanted = f"{call.namespace}.{call.name}".lower()
        function = template.functions.get(wanted)
        if function is not None and ("functions", wanted) not in used:
            used.add(("functions", wanted))
            yield function.value
        return
    if call.key not in {"variables", "parameters"} or not call.arguments:
        return
    argument = call.arguments[0]
    literal = str(argument.value).lower() if isinstance(argument, Literal) else None
    known: dict[str, list[Json]] = (
        {
            **{name: [body] for name, body in template.variables.items()},
            **{name: [loop.count, body] for name, (loop, body, _) in template.variable_copies.items()},
        }
        if call.key == "variables"
        else {name: [declared.default] for name, declared in template.parameters.items()}
    )
    for name, bodies in known.items():
        key = (call.key, name.lower())
        if (literal is None or key[1] == literal) and key not in used:
            used.add(key)
            yield from bodies


def needs_of(bodies: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """The section and lower-case name of every parameter and variable that values name by literals."""
    for node in nodes_of(list(bodies)):
        if isinstance(node, Call) and node.namespace is None and node.key in {"variables", "parameters"}:
            for argument in node.arguments[:1]:
                if isinstance(argument, Literal) and isinstance(argument.value, str):
                    yield node.key, argument.value.lower()


def _named(node: Node) -> str | ReferenceExpr:
    if isinstance(node, Literal):
        return str(node.value)
    if isinstance(node, Call) and node.key == "format" and node.arguments and isinstance(node.arguments[0], Literal):
        match = _ELEMENT_FORMAT.match(str(node.arguments[0].value))
        if match is not None:
            return ReferenceExpr(node, match.group(1))
    return ReferenceExpr(node, None)


def name_expression(text: str) -> str | ReferenceExpr:
    """What an element of `dependsOn` names: a name as it is, or an expression. Raises `Refusal`."""
    return _named(parse(text)) if is_expression(text) else text
