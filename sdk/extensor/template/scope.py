"""A template with its parameters: what every expression in it evaluates against."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.copy import checked_count, expand, repeat
from extensor.template.dependencies import Dependencies
from extensor.template.discretion import Discretion
from extensor.template.evaluator import Frame, evaluate
from extensor.template.limits import MAX_WORK
from extensor.template.model import Output, ResourceDecl, Template, UserFunction
from extensor.template.named import NamedValues
from extensor.template.names import ElementName, Names
from extensor.template.parameters import check_parameters
from extensor.template.parser import is_expression, literal_text, parse, quote
from extensor.template.refusal import Refusal, shortened
from extensor.template.schemas import check
from extensor.template.secrecy import texts
from extensor.template.values import kind_of, scan


@dataclass(frozen=True, slots=True)
class CopyContext:
    """The iteration of a resource's loop: its name, and its index from 0."""

    name: str
    index: int


class Scope:
    """Evaluates what stands in a template.

    Parameters and variables are evaluated when they are first needed and kept, unless they hold something unknown:
    that may become known later, so it is evaluated anew for each call from outside.
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

        It may raise `Refusal` or `TemplateError` for a resource that takes no part. Without it all are unknown.
        With `secure_as_unknown` secure parameters evaluate to an `Unknown` that holds ``[parameters('…')]``.
        Raises `TemplateError` with every fault of the given parameters.
        """
        self.template = template
        self.names = Names(template)
        self.deployment_name = deployment_name
        self.now = now or datetime.now(UTC)
        given = dict(parameters or {})
        faults = check_parameters(template, given)
        if faults:
            raise TemplateError.many(faults)
        self.given = {name.lower(): value for name, value in given.items()}
        """The given parameters, by names in lower case."""
        self.reference = reference
        self.secure_as_unknown = secure_as_unknown
        self.values = NamedValues(self, self.given)
        """What the parameters and variables are."""
        self._dependencies = Dependencies(self)
        self._discretion = Discretion(self)
        self._depth = 0
        self._work = 0

    # What callers use -------------------------------------------------------------------------------------------

    def evaluate(self, value: Json, path: Path = (), *, loop: CopyContext | None = None) -> Json:
        """The value with every expression in it evaluated, property loops run, and one ``[`` taken off ``[[…]``.

        `path` is the value's place in the template, for messages; `loop` is the running iteration of the resource's
        loop. What is not known is an `Unknown` with the text of the rest. Raises `TemplateError`.
        """
        return self._discretion.of(lambda scope: scope.walk(value, path, scope._frame(loop)))

    def evaluate_properties(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> JsonObject:
        """The evaluated properties of a resource, or of one element of its loop. Raises `TemplateError`."""
        return self.evaluate(declared.properties, (*declared.path, "properties"), loop=loop)

    def evaluate_condition(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> bool | Unknown:
        """Whether a resource, or an element of its loop, takes part. Raises `TemplateError`."""
        return self._condition(declared.condition, (*declared.path, "condition"), loop)

    def evaluate_config(self, alias: str) -> JsonObject:
        """The evaluated config of an import. Raises `TemplateError`."""
        declared = self.template.imports[alias]
        return {key: self.evaluate(value, declared.config_paths[key]) for key, value in declared.config.items()}

    def copy_count(self, declared: ResourceDecl) -> int | Unknown | None:
        """How many elements a resource's loop has; ``None`` for a resource without one. Raises `TemplateError`."""
        if declared.copy is None:
            return None
        return self._discretion.of(lambda scope: scope._count_of(declared))

    def loops(self, declared: ResourceDecl) -> list[CopyContext] | Unknown:
        """The iterations of a resource's loop, in order. Raises `TemplateError`; the resource must have a loop."""
        if declared.copy is None:
            raise ValueError(f"{declared.symbol} has no loop")
        name, count = declared.copy.name, self.copy_count(declared)
        return count if isinstance(count, Unknown) else [CopyContext(name, index) for index in range(count or 0)]

    def outputs(self) -> JsonObject:
        """Every output whose condition holds, by name; whether one is secure is said by its declaration.

        Raises `TemplateError`, also for a value that does not fit the declared type.
        """
        found: JsonObject = {}
        for name, declared in self.template.outputs.items():
            condition = self._condition(declared.condition, (*declared.path, "condition"), None)
            if isinstance(condition, Unknown):
                found[name] = condition
            elif condition:
                found[name] = self.output(declared)
        return found

    def output(self, declared: Output) -> Json:
        """One output's value, its condition not looked at. Raises `TemplateError`."""
        return self._discretion.of(lambda scope: scope._output(declared))

    def dependencies(self, declared: ResourceDecl, *, loop: CopyContext | None = None) -> set[str]:
        """What a resource, or an element of its loop, waits for: symbols, and ``symbol[index]`` for single elements.

        Its `dependsOn` and every resource that its properties, condition or loop read, through variables too, also
        in branches that will not be taken. An element whose index is not known yet gives the whole loop.
        Raises `TemplateError` for a name that no resource has.
        """
        return self._discretion.of(lambda scope: scope._dependencies.of(declared, scope._frame(loop)))

    def veil_errors(self, secretless: "Scope") -> None:
        """Have errors quote only what the same evaluation quotes in a scope that knows no secrets at all.

        Without it the secure parameters alone count as secrets.
        """
        self._discretion.veil = secretless

    def secrets(self) -> list[str]:
        """The texts that must not be shown: all texts and numbers in secure parameters, given or by default."""
        found: list[str] = []
        for name, declared in self.template.parameters.items():
            if declared.secure:
                try:
                    with self.evaluation():
                        found.extend(texts(self.values.parameter(name)))
                except TemplateError:
                    continue  # no value, no secret; whoever needs the value gets the error
        return found

    def resolve(self, name: str) -> ElementName:
        """The resource, or element of a loop, that a name means; letter case does not count. Raises `Refusal`."""
        return self.names.resolve(name)

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
        declared = self.names.parameter(name)
        if self.secure_as_unknown and declared.secure:
            return Unknown(f"[parameters({quote(declared.name)})]")
        return self.values.parameter(name)

    def variable(self, name: str) -> Json:
        """A variable's value. Raises `Refusal` or, for its own definition, `TemplateError`."""
        self.names.variable(name)
        return self.values.variable(name)

    def function_body(self, function: UserFunction, frame: Frame) -> Json:
        """The value of a user function's body in the frame of a call."""
        return self.walk(function.value, function.path, frame)

    def resource_value(self, name: str, *, full: bool) -> Json:
        """What ``reference(name)`` gives. Raises `Refusal`."""
        wanted = self.names.resolve(name)
        declared = self.names.resource(wanted.symbol)
        if declared.copy is not None:
            if wanted.index is None:
                raise Refusal(
                    f"the resource '{wanted.symbol}' is a loop; use references('{wanted.symbol}') for all of it, "
                    f"or name one element, '{wanted.symbol}[0]'"
                )
            count = self._count_of(declared)
            if isinstance(count, int) and wanted.index >= count:
                raise Refusal(f"'{wanted}' is outside the loop '{wanted.symbol}' of {count} elements")
        return self._fetched(wanted, declared, full=full)

    def resource_values(self, name: str, *, full: bool) -> Json:
        """What ``references(name)`` gives: an array, one element an iteration. Raises `Refusal`."""
        wanted = self.names.resolve(name)
        declared = self.names.resource(wanted.symbol)
        if wanted.index is not None or declared.copy is None:
            raise Refusal(f"'{wanted}' is a single resource; use reference('{wanted}')")
        count = self._count_of(declared)
        if isinstance(count, Unknown):
            return Unknown(f"[references({quote(wanted.symbol)}{', ' + quote('full') if full else ''})]")
        return [self._fetched(ElementName(wanted.symbol, index), declared, full=full) for index in range(count)]

    def count_work(self, value: Json) -> None:
        """Count a call or an iteration that gave a value. Raises `Refusal` when one evaluation needs too much."""
        self._work += 1 + (len(value) if isinstance(value, list | dict) else 0)
        if self._work > MAX_WORK:
            raise Refusal(f"more than {MAX_WORK} calls, iterations and elements of their results would be needed here")

    @contextmanager
    def evaluation(self) -> Generator[None]:
        """An evaluation, from outside or within another. Raises `TemplateError` for what nests too deep."""
        if self._depth == 0:
            self.values.begin()
            self._work = 0
        self._depth += 1
        try:
            yield
        except RecursionError:
            raise TemplateError(
                "this nests too deep to be evaluated; a function may call itself, or values be nested in values"
            ) from None
        finally:
            self._depth -= 1

    @property
    def is_evaluating(self) -> bool:
        """Whether an evaluation is under way."""
        return self._depth > 0

    def alike(
        self,
        given: Mapping[str, Json],
        reference: Callable[[str], Json] | None,
        *,
        secure_as_unknown: bool = False,
    ) -> "Scope":
        """The same template and circumstances with other parameters. Raises `TemplateError`."""
        return Scope(
            self.template,
            given,
            reference=reference,
            deployment_name=self.deployment_name,
            now=self.now,
            secure_as_unknown=secure_as_unknown,
        )

    # Inside -----------------------------------------------------------------------------------------------------

    def _output(self, declared: Output) -> Json:
        path = (*declared.path, "copy" if declared.copy else "value")
        if declared.copy is None:
            value = self.walk(declared.value, path, Frame(self))
        else:
            value = repeat(self, declared.copy, declared.value, path, Frame(self), nearest_loop=True)
        faults = check(value, declared.schema.raw, self.template.definitions, path)
        if faults:
            raise TemplateError.many(faults)
        return value

    def _frame(self, loop: CopyContext | None) -> Frame:
        frame = Frame(self)
        return frame if loop is None else frame.in_loop(loop.name, loop.index, nearest_loop=True)

    def _condition(self, condition: Json, path: Path, loop: CopyContext | None) -> bool | Unknown:
        value = condition if isinstance(condition, bool) else self.evaluate(condition, path, loop=loop)
        if isinstance(value, bool | Unknown):
            return value
        raise TemplateError(f"the condition must be true or false, not {kind_of(value)}", format_path(path))

    def _text(self, text: str, path: Path, frame: Frame) -> Json:
        if not is_expression(text):
            return literal_text(text)
        try:
            value = evaluate(parse(text), frame)
            unknown = scan(value)
        except Refusal as refusal:
            raise TemplateError(f"{refusal}; in {shortened(text)}", format_path(path)) from None
        return self._discretion.placed(value, text, path, frame) if unknown else value

    def _members(self, members: JsonObject, path: Path, frame: Frame) -> Json:
        found: JsonObject = {}
        for key, item in members.items():
            place = (*path, key)
            if key == "copy" and isinstance(item, list):
                expand(self, item, found, place, frame)
                continue
            name = key
            if key and key[0] == "[" and key[-1] == "]":
                name = self._text(key, place, frame)
                if type(name) is Unknown:
                    return Unknown(None, format_path(path))
                if not isinstance(name, str):
                    raise TemplateError(f"a name must be a string, not {kind_of(name)}", format_path(place))
            if name in found:
                raise TemplateError(f"the name '{name}' stands twice in one object", format_path(place))
            found[name] = self.walk(item, place, frame)
        return found

    def _fetched(self, wanted: ElementName, declared: ResourceDecl, *, full: bool) -> Json:
        value = self.reference(str(wanted)) if self.reference is not None else Unknown()
        if type(value) is Unknown and value.expression is None:
            value = Unknown(f"[reference({quote(str(wanted))})]")
        if not full:
            return value
        version = {"apiVersion": declared.api_version} if declared.api_version else {}
        return {"type": declared.type, **version, "properties": value}

    def _count_of(self, declared: ResourceDecl) -> int | Unknown:
        if declared.copy is None:
            raise ValueError(f"{declared.symbol} has no loop")
        path = (*declared.path, "copy", "count")
        return checked_count(self.walk(declared.copy.count, path, Frame(self)), path)
