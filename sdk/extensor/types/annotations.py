"""What stands beside a type in ``Annotated[…]`` or in a pydantic `Field`: marks, limits, a description."""

import math
import re
from collections.abc import Iterable
from typing import Any

from extensor.errors import TypesError
from extensor.types import model
from extensor.types.flags import SECRET, Mark

_LIMITS = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")


class Annotations:
    """All that the metadata of one annotation says, whichever library's objects say it.

    Objects are read by the names of their attributes, as annotated-types lays them down, so nothing is imported here.
    """

    def __init__(self, items: Iterable[Any], where: str) -> None:
        """`where` names model and field in errors."""
        self.items = tuple(items)
        self.marks: set[Mark] = set()
        self.description: str | None = None
        self.discriminator: str | None = None
        self.pattern: str | None = None
        self.shortest: int | None = None
        self.longest: int | None = None
        self._at_least: list[float] = []
        self._above: list[float] = []
        self._at_most: list[float] = []
        self._below: list[float] = []
        waiting = list(self.items)
        while waiting:
            item = waiting.pop(0)
            if isinstance(item, Mark):
                self.marks.add(item)
                continue
            inner = getattr(item, "metadata", None)
            if isinstance(inner, list):
                waiting[:0] = inner
            self._take(item, where)

    def _take(self, item: Any, where: str) -> None:
        description, discriminator = getattr(item, "description", None), getattr(item, "discriminator", None)
        if isinstance(description, str):
            self.description = description
        discriminator = getattr(discriminator, "discriminator", discriminator)
        if isinstance(discriminator, str):
            self.discriminator = discriminator
        for name in _LIMITS:
            value = getattr(item, name, None)
            if name == "pattern":
                self._take_pattern(value, where)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                self._take_limit(name, value)

    def _take_limit(self, name: str, value: float) -> None:
        match name:
            case "ge":
                self._at_least.append(value)
            case "gt":
                self._above.append(value)
            case "le":
                self._at_most.append(value)
            case "lt":
                self._below.append(value)
            case "min_length":
                self.shortest = max(int(value), self.shortest or 0)
            case _:
                self.longest = int(value) if self.longest is None else min(int(value), self.longest)

    def _take_pattern(self, value: Any, where: str) -> None:
        text = value.pattern if isinstance(value, re.Pattern) else value
        if not isinstance(text, str):
            return
        try:
            re.compile(text)
        except re.error as error:
            raise TypesError(f"{where}: the pattern {text!r} cannot be read: {error}") from None
        self.pattern = text

    def integer(self) -> model.IntegerType:
        """A whole number within the limits."""
        least = [math.ceil(value) for value in self._at_least] + [math.floor(value) + 1 for value in self._above]
        most = [math.floor(value) for value in self._at_most] + [math.ceil(value) - 1 for value in self._below]
        return model.IntegerType(max(least, default=None), min(most, default=None))

    def number(self) -> model.NumberType:
        """A number within the limits."""
        return model.NumberType(
            max(self._at_least, default=None),
            min(self._at_most, default=None),
            max(self._above, default=None),
            min(self._below, default=None),
        )

    def text(self, *, sensitive: bool = False) -> model.StringType:
        """A text within the limits."""
        return model.StringType(sensitive or SECRET in self.marks, self.shortest, self.longest, self.pattern)
