"""A lambda as a value: functions such as `map` call it; nothing else can be done with it."""

from collections.abc import Callable

from extensor.contract.json import Json


class Closure:
    """A lambda with the surroundings it was written in."""

    __slots__ = ("_call", "_text", "names")

    def __init__(self, names: tuple[str, ...], call: Callable[..., Json], text: Callable[[], str | None]) -> None:
        self.names = names
        self._call = call
        self._text = text

    def __call__(self, *values: Json) -> Json:
        """The body's value with the variables bound in order. Raises `Refusal`."""
        return self._call(*values)

    def text(self) -> str | None:
        """The lambda as an expression's text, its surroundings filled in; ``None`` if that is not possible."""
        return self._text()
