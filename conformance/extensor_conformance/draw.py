"""Where a plan's choices come from: Hypothesis, the run's names and its canaries. Same seed, same choices."""

import tempfile
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from extensor_conformance.canary import Canaries
from extensor_conformance.names import Names

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

Source: TypeAlias = "Callable[[SearchStrategy[Any]], Any]"
"""Draws a value of a strategy: the ``draw`` of a composite strategy, or `DataObject.draw`."""


class Draw:
    """Handed to a check's `plan`. Call it with a Hypothesis strategy, or use the short forms."""

    def __init__(self, source: Source, names: Names, canaries: Canaries) -> None:
        self._source = source
        self.names = names
        """Gives tokens for identifiers; what it gives is replaced in reruns and replays."""
        self.canaries = canaries
        """Gives values for secret properties, which the monitors look for everywhere."""

    def __call__(self, strategy: "SearchStrategy[T]") -> T:
        """A value of the strategy."""
        return self._source(strategy)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""
        return options[self.integer(0, len(options) - 1)]

    def integer(self, low: int, high: int) -> int:
        """A whole number, bounds included."""
        return low if low == high else self._source(_integers(low, high))

    def boolean(self) -> bool:
        """True or false."""
        return self._source(_booleans())

    def text(self, **bounds: Any) -> str:
        """A text that UTF-8 can carry; bounds as of `hypothesis.strategies.text`."""
        return self._source(_texts(**bounds))

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """Up to `most` different ones of the options, in their order."""
        if len(options) <= most:
            return [item for item in options if self.boolean()]
        taken = {self.integer(0, len(options) - 1) for _ in range(self.integer(0, most))}
        return [options[index] for index in sorted(taken)]


@lru_cache(256)
def _integers(low: int, high: int) -> "SearchStrategy[int]":
    from hypothesis import strategies

    return strategies.integers(low, high)


@cache
def _booleans() -> "SearchStrategy[bool]":
    from hypothesis import strategies

    return strategies.booleans()


@lru_cache(64)
def _texts(**bounds: Any) -> "SearchStrategy[str]":
    from hypothesis import strategies

    load_characters()
    return strategies.text(strategies.characters(exclude_categories=("Cs",)), **bounds)


@cache
def load_characters() -> None:
    """Let Hypothesis read its tables of characters, without the folder that it would leave where the kit is run."""
    from hypothesis import configuration, strategies

    home = vars(configuration).get("__hypothesis_home_directory")
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            strategies.text("ab").validate()
            strategies.characters(exclude_categories=("Cs",)).validate()
        finally:
            configuration.set_hypothesis_home_dir(home)
