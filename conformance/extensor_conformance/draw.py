"""Where a plan's choices come from: Hypothesis, the run's names and its canaries. Same seed, same choices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from extensor_conformance.canary import Canaries
from extensor_conformance.names import Names

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject, SearchStrategy

T = TypeVar("T")


class Draw:
    """Handed to a check's `plan`. Call it with a Hypothesis strategy, or use the short forms."""

    def __init__(self, data: "DataObject", names: Names, canaries: Canaries) -> None:
        self._data = data
        self.names = names
        """Gives tokens for identifiers; what it gives is replaced in reruns and replays."""
        self.canaries = canaries
        """Gives values for secret properties, which the monitors look for everywhere."""

    def __call__(self, strategy: "SearchStrategy[T]") -> T:
        """A value of the strategy."""
        return self._data.draw(strategy)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""
        from hypothesis import strategies

        return self(strategies.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        """A whole number, bounds included."""
        from hypothesis import strategies

        return self(strategies.integers(low, high))

    def boolean(self) -> bool:
        """True or false."""
        from hypothesis import strategies

        return self(strategies.booleans())

    def text(self, **bounds: Any) -> str:
        """A text that UTF-8 can carry; bounds as of `hypothesis.strategies.text`."""
        from hypothesis import strategies

        return self(strategies.text(strategies.characters(codec="utf-8"), **bounds))
