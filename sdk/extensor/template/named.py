"""The values that a template gives names: its parameters and variables, evaluated when they are first needed."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from extensor.contract.json import Json
from extensor.errors import TemplateError
from extensor.template.copy import repeat
from extensor.template.evaluator import Frame
from extensor.template.memo import Key, Memo
from extensor.template.references import needs_of
from extensor.template.refusal import Refusal
from extensor.template.schemas import check

if TYPE_CHECKING:
    from extensor.template.scope import Scope


class NamedValues:
    """Keeps each value, unless it holds something unknown: that is evaluated anew for each call from outside."""

    def __init__(self, scope: "Scope", given: Mapping[str, Json]) -> None:
        """`given` are the given parameters, by names in lower case."""
        self._scope = scope
        self._given = given
        self._memo = Memo(self._define, self._needs, self._spelled)

    def begin(self) -> None:
        """A call from outside begins."""
        self._memo.begin()

    def parameter(self, name: str) -> Json:
        """A parameter's value, given or by default. Raises `Refusal` or, for its own default, `TemplateError`."""
        key = name.lower()
        if key in self._given:
            value = self._given[key]
            if value is not None or not self._scope.names.parameter(key).has_default:
                return value
        return self._memo.get(("parameters", key))

    def variable(self, name: str) -> Json:
        """A variable's value. Raises `TemplateError` for its own definition; there must be such a variable."""
        return self._memo.get(("variables", name.lower()))

    def _define(self, key: Key) -> Json:
        section, name = key
        if section == "parameters":
            return self._default(name)
        template = self._scope.template
        spelled = self._scope.names.variable(name)
        if spelled in template.variables:
            return self._scope.walk(template.variables[spelled], ("variables", spelled), Frame(self._scope))
        loop, body, path = template.variable_copies[spelled]
        return repeat(self._scope, loop, body, path, Frame(self._scope), nearest_loop=True)

    def _default(self, name: str) -> Json:
        declared = self._scope.names.parameter(name)
        if not declared.has_default:
            if declared.schema.nullable:
                return None
            raise Refusal(f"the parameter '{declared.name}' has no value and no default; give it one")
        path = (*declared.path, "defaultValue")
        value = self._scope.walk(declared.default, path, Frame(self._scope, in_default=True))
        faults = check(value, declared.schema.raw, self._scope.template.definitions, path)
        if faults:
            raise TemplateError.many(faults)
        return value

    def _needs(self, key: Key) -> Iterable[Key]:
        section, name = key
        names, template = self._scope.names, self._scope.template
        if section == "parameters":
            bodies: list[Json] = [] if name in self._given else [names.parameter(name).default]
        else:
            spelled = names.variable(name)
            loop, body, _ = template.variable_copies.get(spelled, (None, None, ()))
            bodies = [template.variables[spelled]] if loop is None else [loop.count, body]
        for needed in needs_of(bodies):
            try:
                (names.parameter if needed[0] == "parameters" else names.variable)(needed[1])
            except Refusal:
                continue  # it fails where it is used, with its place
            if needed[0] == "variables" or needed[1] not in self._given:
                yield needed

    def _spelled(self, key: Key) -> str:
        names = self._scope.names
        return names.parameter(key[1]).name if key[0] == "parameters" else names.variable(key[1])
