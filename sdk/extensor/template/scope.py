"""A template with its parameters: what every expression in it evaluates against."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from copy import copy as shallow_copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown, has_unknown
from extensor.errors import TemplateError
from extensor.template.copy import expand, repeat
from extensor.template.evaluator import Frame, evaluate
from extensor.template.limits import MAX_CALLS, MAX_COPIES
from extensor.template.model import Output, ResourceDecl, Template, UserFunction
from extensor.template.parameters import check_parameters
from extensor.template.parser import is_expression, literal_text, parse, quote
from extensor.template.references import ReferenceExpr, name_expression, references_of
from extensor.template.refusal import Refusal, nearest
from extensor.template.schemas import check
from extensor.template.values import kind_of, scan

_ELEMENT = re.compile(r"(.+)\[(0|[1-9][0-9]{0,8})\]\Z", re.DOTALL)
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class CopyContext:
    """The iteration of a resource's loop: its name, and its index from 0."""

    name: str
    index: int


@dataclass(frozen=True, slots=True)
class ElementName:
    """What a name such as ``servers[2]`` means; `index` is ``None`` for a bare name."""

    symbol: str
    index: int | None = None

    def __str__(self) -> str:
        return self.symbol if self.index is None else f"{self.symbol}[{self.index}]"


class Scope:
    """Evaluates what stands in a template.

    Parameters and variables are evaluated when they are first needed and kept, unless they hold something unknown:
    that may become known later, so it is evaluated anew for each call of `evaluate`.
    """

    def __init__(
        self,
        template: Template,
        parameters: Mapping[str, Json] | None = None,
        *,
        reference: Callable[[str], Json] | None = None,
        deployment_name: str = "main",
        now: datetime | None = None,
        secure_as_unknown: bool = False,
    ) -> None:
        """`reference` gets a symbol or ``symbol[index]`` and gives the resource's properties, or an `Unknown`.

        It may raise `TemplateError` for a resource that does not exist. Without it every resource is unknown.
        With `secure_as_unknown` secure parameters evaluate to an `Unknown` that holds ``[parameters('…')]``.
        Raises `TemplateError` with every fault of the given parameters.
        """
        self.template = template
        self.deployment_name = deployment_name
        self.now = now or datetime.now(UTC)
        given = dict(parameters or {})
        faults = check_parameters(template, given)
        if faults:
            raise TemplateError.many(faults)
        self._given = {name.lower(): value for name, value in given.items()}
        self._reference = reference
        self._secure_as_unknown = secure_as_unknown
        self.saw_unknown = any(map(has_unknown, given.values()))
        self._parameters = {name.lower(): declared for name, declared in template.parameters.items()}
        self._variables = {name.lower(): name for name in (*template.variables, *template.variable_copies)}
        self._symbols = {symbol.lower(): symbol for symbol in template.resources}
        self._loop_names = {
            declared.copy.name.lower(): symbol for symbol, declared in template.resources.items() if declared.copy
        }
        self._kept: dict[tuple[str, str], Json] = {}
        self._passing: dict[tuple[str, str], Json] = {}
        self._running: dict[tuple[str, str], None] = {}
        self._depth = 0
        self._calls = 0
        self._twin: Scope | None = None

    # What callers use -------------------------------------------------------------------------------------------

    def evaluate(self, value: Json, path: Path = (), *, loop: CopyContext | None = None) -> Json:
        """The value with every expression in it evaluated, property loops run, and one ``[`` taken off ``[[…]``.

        `path` is the value's place in the template, for messages; `loop` is the running iteration of the resource's
        loop. What is not known is an `Unknown` with the text of the rest. Raises `TemplateError`.
        """
        frame = Frame(self)
        if loop is not None:
            frame = frame.in_loop(loop.name, loop.index, nearest_loop=True)
        with self._outermost():
            return self.walk(value, path, frame)

    def evaluate_properties(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> JsonObject:
        """The evaluated properties of a resource, or of one element of its loop. Raises `TemplateError`."""
        return self.evaluate(declared.properties, (*declared.path, "properties"), loop=loop)

    def evaluate_condition(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> bool | Unknown:
        """Whether a resource, or an element of its loop, takes part. Raises `TemplateError`."""
        path = (*declared.path, "condition")
        return _boolean(self.evaluate(declared.condition, path, loop=loop), path)

    def evaluate_config(self, alias: str) -> JsonObject:
        """The evaluated config of an import. Raises `TemplateError`."""
        declared = self.template.imports[alias]
        return {key: self.evaluate(value, declared.config_paths[key]) for key, value in declared.config.items()}

    def copy_count(self, declared: ResourceDecl) -> int | Unknown | None:
        """How many elements a resource's loop has; ``None`` for a resource without one. Raises `TemplateError`."""
        if declared.copy is None:
            return None
        path = (*declared.path, "copy", "count")
        return _count(self.evaluate(declared.copy.count, path), path)

    def loops(self, declared: ResourceDecl) -> "list[CopyContext] | Unknown":
        """The iterations of a resource's loop, in order. Raises `TemplateError`; the resource must have a loop."""
        count = self.copy_count(declared)
        if isinstance(count, Unknown):
            return count
        if declared.copy is None or count is None:
            raise ValueError(f"{declared.symbol} has no loop")
        return [CopyContext(declared.copy.name, index) for index in range(count)]

    def outputs(self) -> JsonObject:
        """Every output whose condition holds, by name; whether one is secure is said by its declaration.

        Raises `TemplateError`, also for a value that does not fit the declared type.
        """
        found: JsonObject = {}
        for name, declared in self.template.outputs.items():
            path = (*declared.path, "condition")
            condition = _boolean(self.evaluate(declared.condition, path), path)
            if isinstance(condition, Unknown):
                found[name] = condition
            elif condition:
                found[name] = self.output(declared)
        return found

    def output(self, declared: Output) -> Json:
        """One output's value, its condition not looked at. Raises `TemplateError`."""
        path = (*declared.path, "value")
        if declared.copy is None:
            value = self.evaluate(declared.value, path)
        else:
            path = (*declared.path, "copy")
            with self._outermost():
                value = repeat(
                    self, declared.copy.name, declared.copy.count, declared.value, path, Frame(self), nearest_loop=True
                )
        faults = check(value, declared.schema.raw, self.template.definitions, path)
        if faults:
            raise TemplateError.many(faults)
        return value

    def secrets(self) -> list[str]:
        """The texts that must not be shown: every string in the values of secure parameters, given or by default."""
        found: list[str] = []
        for name, declared in self.template.parameters.items():
            if not declared.secure:
                continue
            try:
                with self._outermost():
                    value = self._parameter_value(name.lower())
            except (TemplateError, Refusal):
                continue  # no value, no secret; whoever needs the value gets the error
            found.extend(_texts(value))
        return found

    def dependencies(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> set[str]:
        """What a resource, or an element of its loop, waits for: symbols, and ``symbol[index]`` for single elements.

        Its `dependsOn` and every resource that its properties, condition or loop read, through variables too, also
        in branches that will not be taken. An element whose index is not known yet gives the whole loop.
        Raises `TemplateError` for a name that no resource has.
        """
        frame = Frame(self)
        if loop is not None:
            frame = frame.in_loop(loop.name, loop.index, nearest_loop=True)
        found: set[str] = set()
        for at, text in enumerate(declared.depends_on):
            path = (*declared.path, "dependsOn", at)
            try:
                found.add(self._target(name_expression(text), frame))
            except Refusal as refusal:
                raise TemplateError(f"{refusal}; in {_shortened(text)}", format_path(path)) from None
        count = None if declared.copy is None else declared.copy.count
        for member, value in (("properties", declared.properties), ("condition", declared.condition), ("copy", count)):
            for reference in references_of(value, self.template):
                try:
                    found.add(self._target(reference, frame))
                except Refusal as refusal:
                    raise TemplateError(str(refusal), format_path((*declared.path, member))) from None
        return found

    def is_secure(self, name: str) -> bool:
        """Whether a parameter is declared secure."""
        declared = self._parameters.get(name.lower())
        return declared is not None and declared.secure

    def resolve(self, name: str) -> ElementName:
        """The resource, or element of a loop, that a name means; letter case does not count. Raises `Refusal`."""
        symbol = self._symbols.get(name.lower())
        if symbol is not None:
            return ElementName(symbol)
        match = _ELEMENT.match(name)
        if match is not None:
            symbol = self._symbols.get(match.group(1).lower())
            if symbol is not None:
                if self.template.resources[symbol].copy is None:
                    raise Refusal(f"the resource '{symbol}' has no loop; name it without '[{match.group(2)}]'")
                return ElementName(symbol, int(match.group(2)))
        symbol = self._loop_names.get(name.lower())
        if symbol is not None:
            return ElementName(symbol)
        raise Refusal(f"there is no resource '{name}'; {nearest(name, self.template.resources, noun='resources')}")

    # What the evaluator uses ------------------------------------------------------------------------------------

    def walk(self, value: Json, path: Path, frame: Frame) -> Json:
        """Evaluate a value that stands in the document. Raises `TemplateError` with the innermost place."""
        if isinstance(value, str):
            if not value or value[0] != "[" or value[-1] != "]":
                return value
            return self._text(value, path, frame)
        if isinstance(value, dict):
            return self._members(value, path, frame)
        if isinstance(value, list):
            return [self.walk(item, (*path, at), frame) for at, item in enumerate(value)]
        return value

    def parameter(self, name: str) -> Json:
        """A parameter's value, given or by default. Raises `Refusal` or, for its own default, `TemplateError`."""
        key = name.lower()
        declared = self._parameters.get(key)
        if declared is None:
            raise Refusal(
                f"there is no parameter '{name}'; {nearest(name, self.template.parameters, noun='parameters')}"
            )
        if self._secure_as_unknown and declared.secure:
            self.saw_unknown = True
            return Unknown(f"[parameters({quote(declared.name)})]")
        return self._parameter_value(key)

    def variable(self, name: str) -> Json:
        """A variable's value. Raises `Refusal` or, for its own definition, `TemplateError`."""
        key = name.lower()
        spelled = self._variables.get(key)
        if spelled is None:
            raise Refusal(f"there is no variable '{name}'; {nearest(name, self._variables.values(), noun='variables')}")
        return self._once(("variables", key), lambda: self._define(spelled))

    def user_function(self, namespace: str, name: str) -> UserFunction:
        """A function that the template declares. Raises `Refusal`."""
        function = self.template.functions.get(f"{namespace}.{name}".lower())
        if function is None:
            known = [f"{one.namespace}.{one.name}" for one in self.template.functions.values()]
            wanted = f"{namespace}.{name}"
            raise Refusal(
                f"there is no function '{wanted}'; {nearest(wanted, known, noun='functions of the template')}"
            )
        return function

    def function_body(self, function: UserFunction, frame: Frame) -> Json:
        """The value of a user function's body."""
        return self.walk(function.value, function.path, frame)

    def resource_value(self, name: str, *, full: bool) -> Json:
        """What ``reference(name)`` gives. Raises `Refusal`."""
        wanted = self.resolve(name)
        declared = self.template.resources[wanted.symbol]
        if declared.copy is not None:
            if wanted.index is None:
                raise Refusal(
                    f"the resource '{wanted.symbol}' is a loop; use references('{wanted.symbol}') for all of it, "
                    f"or name one element, '{wanted.symbol}[0]'"
                )
            count = self._reentrant_count(declared)
            if isinstance(count, int) and wanted.index >= count:
                raise Refusal(f"'{wanted}' is outside the loop '{wanted.symbol}' of {count} elements")
        return self._fetched(wanted, declared, full=full)

    def resource_values(self, name: str, *, full: bool) -> Json:
        """What ``references(name)`` gives: an array, one element an iteration. Raises `Refusal`."""
        wanted = self.resolve(name)
        declared = self.template.resources[wanted.symbol]
        if wanted.index is not None or declared.copy is None:
            raise Refusal(f"'{wanted}' is a single resource; use reference('{wanted}')")
        count = self._reentrant_count(declared)
        if isinstance(count, Unknown):
            self.saw_unknown = True
            return Unknown(f"[references({quote(wanted.symbol)}{', ' + quote('full') if full else ''})]")
        return [self._fetched(ElementName(wanted.symbol, index), declared, full=full) for index in range(count or 0)]

    def count_call(self) -> None:
        """Count one call of a lambda or user function. Raises `Refusal` when there are too many."""
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise Refusal(f"more than {MAX_CALLS} calls of lambdas and functions are needed; the template does not end")

    @contextmanager
    def rehearsal(self) -> Generator[None]:
        """Around an evaluation with made-up unknowns: functions must look for them."""
        before, self.saw_unknown = self.saw_unknown, True
        try:
            yield
        finally:
            self.saw_unknown = before

    # Inside -----------------------------------------------------------------------------------------------------

    def _target(self, reference: str | ReferenceExpr, frame: Frame) -> str:
        if isinstance(reference, str):
            return str(self.resolve(reference))
        try:
            with self._outermost():
                name = evaluate(reference.node, frame)
        except (Refusal, TemplateError):
            name = Unknown()
        if isinstance(name, str):
            return str(self.resolve(name))
        if reference.symbol is None:
            raise Refusal(
                f"which resource {reference.text} names is not known before it runs; name it by a literal string"
            )
        return str(self.resolve(reference.symbol))

    def _text(self, text: str, path: Path, frame: Frame) -> Json:
        if not is_expression(text):
            return literal_text(text)
        try:
            value = evaluate(parse(text), frame)
            unknown = self.saw_unknown and scan(value)
        except Refusal as refusal:
            raise TemplateError(f"{refusal}; in {_shortened(text)}", format_path(path)) from None
        if unknown:
            return self._without_secrets(value, text, path, frame)
        if isinstance(value, str | bool | int | float | list | dict) or value is None:
            return value
        raise TemplateError(
            f"the result is {kind_of(value)}, which is no value; in {_shortened(text)}", format_path(path)
        )

    def _members(self, members: JsonObject, path: Path, frame: Frame) -> Json:
        found: JsonObject = {}
        for key, item in members.items():
            if key == "copy" and isinstance(item, list):
                expand(self, item, found, (*path, key), frame)
                continue
            name = key
            if key and key[0] == "[" and key[-1] == "]":
                name = self._text(key, (*path, key), frame)
                if type(name) is Unknown:
                    return Unknown()
                if not isinstance(name, str):
                    raise TemplateError(f"a name must be a string, not {kind_of(name)}", format_path((*path, key)))
            if name in found:
                raise TemplateError(f"the name '{name}' stands twice in one object", format_path((*path, key)))
            found[name] = self.walk(item, (*path, key), frame)
        return found

    def _parameter_value(self, key: str) -> Json:
        if key in self._given:
            value = self._given[key]
            if value is not None or not self._parameters[key].has_default:
                return value
        return self._once(("parameters", key), lambda: self._default(key))

    def _default(self, key: str) -> Json:
        declared = self._parameters[key]
        if not declared.has_default:
            if declared.schema.nullable:
                return None
            raise Refusal(f"the parameter '{declared.name}' has no value and no default; give it one")
        path = (*declared.path, "defaultValue")
        value = self.walk(declared.default, path, Frame(self, in_default=True))
        faults = check(value, declared.schema.raw, self.template.definitions, path)
        if faults:
            raise TemplateError.many(faults)
        return value

    def _define(self, name: str) -> Json:
        if name in self.template.variables:
            return self.walk(self.template.variables[name], ("variables", name), Frame(self))
        loop, body, path = self.template.variable_copies[name]
        return repeat(self, loop.name, loop.count, body, path, Frame(self), nearest_loop=True)

    def _once(self, key: tuple[str, str], define: Callable[[], Json]) -> Json:
        if key in self._kept:
            return self._kept[key]
        if key in self._passing:
            return self._passing[key]
        if key in self._running:
            cycle = [*list(self._running)[list(self._running).index(key) :], key]
            raise TemplateError(
                f"these need each other in a circle: {' -> '.join(self._spelled(one) for one in cycle)}",
                format_path((key[0], self._spelled(key))),
            )
        self._running[key] = None
        try:
            value = define()
            unknown = scan(value)
        except Refusal as refusal:
            raise TemplateError(str(refusal), format_path((key[0], self._spelled(key)))) from None
        finally:
            del self._running[key]
        (self._passing if unknown else self._kept)[key] = value
        return value

    def _spelled(self, key: tuple[str, str]) -> str:
        return self._parameters[key[1]].name if key[0] == "parameters" else self._variables[key[1]]

    def _fetched(self, wanted: ElementName, declared: ResourceDecl, *, full: bool) -> Json:
        value = self._reference(str(wanted)) if self._reference is not None else Unknown()
        text = f"reference({quote(str(wanted))})"
        if type(value) is Unknown:
            self.saw_unknown = True
            if value.expression is None:
                value = Unknown(f"[{text}]")
        elif not self.saw_unknown and has_unknown(value):
            self.saw_unknown = True
        if not full:
            return value
        return {
            "type": declared.type,
            **({"apiVersion": declared.api_version} if declared.api_version else {}),
            "properties": value,
        }

    def _reentrant_count(self, declared: ResourceDecl) -> int | Unknown | None:
        assert declared.copy is not None
        path = (*declared.path, "copy", "count")
        return _count(self.walk(declared.copy.count, path, Frame(self)), path)

    def _without_secrets(self, value: Json, text: str, path: Path, frame: Frame) -> Json:
        """The value, its unknowns' texts rewritten so that no secure parameter's value was filled in."""
        if self._secure_as_unknown or not any(one.secure for one in self.template.parameters.values()):
            return _placed(value, value, path)
        twin = self._secretless()
        try:
            with twin._outermost():
                shadow = evaluate(parse(text), _moved(frame, twin))
        except (Refusal, TemplateError):
            shadow = None
        return _placed(value, shadow, path)

    def _secretless(self) -> "Scope":
        if self._twin is None:
            twin = shallow_copy(self)
            twin._secure_as_unknown = True
            twin.saw_unknown = True
            twin._kept, twin._passing, twin._running = {}, {}, {}
            twin._depth = 0
            self._twin = twin
        return self._twin

    @contextmanager
    def _outermost(self) -> Generator[None]:
        if self._depth == 0:
            self._passing.clear()
            self._calls = 0
        self._depth += 1
        try:
            yield
        except RecursionError:
            raise TemplateError(
                "the template nests too deep to be evaluated; shorten its chains of variables"
            ) from None
        finally:
            self._depth -= 1


def _placed(value: Json, shadow: Json, path: Path) -> Any:
    """Unknowns with their place and, from the shadow, a text without secrets."""
    if type(value) is Unknown:
        return Unknown(shadow.expression if type(shadow) is Unknown else None, format_path(path))
    if isinstance(value, dict):
        members = shadow if isinstance(shadow, dict) else {}
        return {key: _placed(item, members.get(key), path) for key, item in value.items()}
    if isinstance(value, list):
        items = shadow if isinstance(shadow, list) and len(shadow) == len(value) else [None] * len(value)
        return [_placed(item, other, path) for item, other in zip(value, items, strict=True)]
    return value


def _moved(frame: Frame, scope: Scope) -> Frame:
    return Frame(
        scope,
        loops=frame.loops,
        default_index=frame.default_index,
        arguments=frame.arguments,
        lambdas=frame.lambdas,
        in_default=frame.in_default,
    )


def _boolean(value: Json, path: Path) -> bool | Unknown:
    if isinstance(value, bool | Unknown):
        return value
    raise TemplateError(f"the condition must be true or false, not {kind_of(value)}", format_path(path))


def _count(value: Json, path: Path) -> int | Unknown:
    if isinstance(value, Unknown):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COPIES:
        raise TemplateError(
            f"a loop's count must be an integer from 0 to {MAX_COPIES}, not "
            f"{value if isinstance(value, int) and not isinstance(value, bool) else kind_of(value)}",
            format_path(path),
        )
    return value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
