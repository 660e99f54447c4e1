"""What can be said of a template's expressions before any is evaluated: all faults at once, each with its place."""

from collections.abc import Iterator
from dataclasses import dataclass

from extensor.contract.faults import Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path
from extensor.template.ast import Call, Literal, Node, children
from extensor.template.evaluator import unknown_function, wrong_count
from extensor.template.functions import FUNCTIONS
from extensor.template.model import Template, UserFunction
from extensor.template.names import Names
from extensor.template.parser import is_expression, parse
from extensor.template.refusal import Refusal, nearest

_CODE = "InvalidTemplate"


@dataclass(frozen=True, slots=True)
class _Place:
    value: Json
    path: Path
    function: UserFunction | None = None


def check_template(template: Template) -> list[Fault]:
    """Every expression that does not parse, or calls or names something that does not exist, in document order.

    Names that are themselves expressions are not looked at; they fail, with their place, when they are evaluated.
    """
    names = Names(template)
    faults: list[Fault] = []
    for place in _places(template):
        for text, path in _expressions(place.value, place.path):
            try:
                root = parse(text)
            except Refusal as refusal:
                faults.append(Fault(_CODE, str(refusal), format_path(path)))
                continue
            faults.extend(
                Fault(_CODE, complaint, format_path(path)) for complaint in _complaints(root, names, place.function)
            )
    for declared in template.resources.values():
        for at, text in enumerate(declared.depends_on):
            if not is_expression(text):
                faults.extend(_misses(text, names, (*declared.path, "dependsOn", at)))
    return faults


def _places(template: Template) -> Iterator[_Place]:
    for parameter in template.parameters.values():
        yield _Place(parameter.default, (*parameter.path, "defaultValue"))
    for name, value in template.variables.items():
        yield _Place(value, ("variables", name))
    for loop, body, path in template.variable_copies.values():
        yield _Place(loop.count, (*path, "count"))
        yield _Place(body, (*path, "input"))
    for declared in template.imports.values():
        for key, value in declared.config.items():
            yield _Place(value, declared.config_paths[key])
    for function in template.functions.values():
        yield _Place(function.value, function.path, function)
    for resource in template.resources.values():
        yield _Place(resource.condition, (*resource.path, "condition"))
        if resource.copy is not None:
            yield _Place(resource.copy.count, (*resource.path, "copy", "count"))
        yield _Place(resource.properties, (*resource.path, "properties"))
        for at, text in enumerate(resource.depends_on):
            yield _Place(text, (*resource.path, "dependsOn", at))
    for output in template.outputs.values():
        yield _Place(output.condition, (*output.path, "condition"))
        if output.copy is not None:
            yield _Place(output.copy.count, (*output.path, "copy", "count"))
        yield _Place(output.value, (*output.path, *(("copy", "input") if output.copy else ("value",))))


def _expressions(value: Json, path: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(value, str):
        if is_expression(value):
            yield value, path
    elif isinstance(value, dict):
        for key, item in value.items():
            if is_expression(key):
                yield key, (*path, key)
            yield from _expressions(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _expressions(item, (*path, at))


def _complaints(node: Node, names: Names, function: UserFunction | None) -> Iterator[str]:
    if isinstance(node, Call):
        complaint = _user_call(node, names) if node.namespace is not None else _call(node, names, function)
        if complaint is not None:
            yield complaint
    for child in children(node):
        yield from _complaints(child, names, function)


def _user_call(call: Call, names: Names) -> str | None:
    try:
        declared = names.function(call.namespace or "", call.name)
    except Refusal as refusal:
        return str(refusal)
    due, given = len(declared.parameters), len(call.arguments)
    return None if due == given else f"{call.namespace}.{call.name}() takes {due} arguments, not {given}"


def _call(call: Call, names: Names, function: UserFunction | None) -> str | None:
    builtin = FUNCTIONS.get(call.key)
    if builtin is None:
        return unknown_function(call.name)
    if complaint := wrong_count(builtin, len(call.arguments)):
        return complaint
    first = call.arguments[0] if call.arguments else None
    if not isinstance(first, Literal) or not isinstance(first.value, str):
        return None
    try:
        if call.key == "variables":
            names.variable(first.value)
        elif call.key == "parameters" and function is None:
            names.parameter(first.value)
        elif call.key == "parameters" and function is not None:
            own = [parameter.name for parameter in function.parameters]
            if first.value.lower() not in {name.lower() for name in own}:
                near = nearest(first.value, own, noun="its parameters")
                return f"the function has no parameter '{first.value}'; {near}"
        elif call.key in {"reference", "references"}:
            names.resolve(first.value)
    except Refusal as refusal:
        return str(refusal)
    return None


def _misses(name: str, names: Names, path: Path) -> list[Fault]:
    try:
        names.resolve(name)
    except Refusal as refusal:
        return [Fault(_CODE, str(refusal), format_path(path))]
    return []
