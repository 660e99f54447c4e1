"""The names a template declares, looked up without letter case."""

import re
from dataclasses import dataclass

from extensor.template.model import Parameter, ResourceDecl, Template, UserFunction
from extensor.template.refusal import Refusal, nearest

_ELEMENT = re.compile(r"(.+)\[(0|[1-9][0-9]{0,8})\]\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ElementName:
    """What a name such as ``servers[2]`` means; `index` is ``None`` for a bare name."""

    symbol: str
    index: int | None = None

    def __str__(self) -> str:
        return self.symbol if self.index is None else f"{self.symbol}[{self.index}]"


class Names:
    """Look-ups that raise `Refusal` with the nearest name there is."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._parameters = {name.lower(): declared for name, declared in template.parameters.items()}
        self._variables = {name.lower(): name for name in (*template.variables, *template.variable_copies)}
        self._symbols = {symbol.lower(): symbol for symbol in template.resources}
        self._loops = {
            declared.copy.name.lower(): symbol for symbol, declared in template.resources.items() if declared.copy
        }

    def parameter(self, name: str) -> Parameter:
        """The declaration of a parameter."""
        declared = self._parameters.get(name.lower())
        if declared is None:
            near = nearest(name, self._template.parameters, noun="parameters")
            raise Refusal(f"there is no parameter '{name}'; {near}")
        return declared

    def variable(self, name: str) -> str:
        """A variable's name as it is spelled in the template."""
        spelled = self._variables.get(name.lower())
        if spelled is None:
            near = nearest(name, self._variables.values(), noun="variables")
            raise Refusal(f"there is no variable '{name}'; {near}")
        return spelled

    def function(self, namespace: str, name: str) -> UserFunction:
        """The declaration of a user function."""
        wanted = f"{namespace}.{name}"
        function = self._template.functions.get(wanted.lower())
        if function is None:
            known = [f"{one.namespace}.{one.name}" for one in self._template.functions.values()]
            near = nearest(wanted, known, noun="functions of the template")
            raise Refusal(f"there is no function '{wanted}'; {near}")
        return function

    def resource(self, symbol: str) -> ResourceDecl:
        """The declaration behind a resolved symbol."""
        return self._template.resources[symbol]

    def resolve(self, name: str) -> ElementName:
        """The resource, or element of a loop, that a name means."""
        symbol = self._symbols.get(name.lower())
        if symbol is not None:
            return ElementName(symbol)
        match = _ELEMENT.match(name)
        if match is not None:
            symbol = self._symbols.get(match.group(1).lower()) or self._loops.get(match.group(1).lower())
            if symbol is not None:
                if self._template.resources[symbol].copy is None:
                    raise Refusal(f"the resource '{symbol}' has no loop; name it without '[{match.group(2)}]'")
                return ElementName(symbol, int(match.group(2)))
        symbol = self._loops.get(name.lower())
        if symbol is not None:
            return ElementName(symbol)
        raise Refusal(f"there is no resource '{name}'; {nearest(name, self._template.resources, noun='resources')}")
