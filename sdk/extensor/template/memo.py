"""Values that are evaluated when they are first needed: parameters and variables."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from extensor.contract.json import Json
from extensor.contract.paths import format_path
from extensor.errors import TemplateError
from extensor.template.refusal import Refusal
from extensor.template.values import scan

Key: TypeAlias = tuple[str, str]
"""The section, ``parameters`` or ``variables``, and the name in lower case."""

_PREPARE_AT = 4
"""So many values may wait for each other before their needs are evaluated in order instead of one inside the other."""


class Memo:
    """Keeps what is known for good, and what is not for one evaluation: an unknown may become known, a failure mend."""

    def __init__(
        self,
        define: Callable[[Key], Json],
        needs: Callable[[Key], Iterable[Key]],
        spelled: Callable[[Key], str],
    ) -> None:
        """`define` evaluates a value, `needs` says which others it names, `spelled` gives its name as written."""
        self._define = define
        self._needs = needs
        self._spelled = spelled
        self._kept: dict[Key, Json] = {}
        self._passing: dict[Key, Json] = {}
        self._failed: dict[Key, TemplateError] = {}
        self._running: dict[Key, None] = {}

    def begin(self) -> None:
        """A new evaluation begins: forget what was not known or failed."""
        self._passing.clear()
        self._failed.clear()

    def get(self, key: Key) -> Json:
        """The value. Raises `TemplateError`; values that need each other in a circle are named in it."""
        if key in self._kept:
            return self._kept[key]
        if key in self._passing:
            return self._passing[key]
        if key in self._failed:
            raise self._failed[key].with_traceback(None)
        if key in self._running:
            waiting = list(self._running)
            circle = [*waiting[waiting.index(key) :], key]
            raise TemplateError(
                f"these need each other in a circle: {' -> '.join(map(self._spelled, circle))}", self._place(key)
            )
        if len(self._running) == _PREPARE_AT:
            self._prepare(key)
        return self._evaluate(key)

    def _evaluate(self, key: Key) -> Json:
        self._running[key] = None
        try:
            value = self._define(key)
            unknown = scan(value)
        except Refusal as refusal:
            self._failed[key] = TemplateError(str(refusal), self._place(key))
            raise self._failed[key] from None
        except TemplateError as error:
            self._failed[key] = error
            raise
        finally:
            del self._running[key]
        (self._passing if unknown else self._kept)[key] = value
        return value

    def _prepare(self, key: Key) -> None:
        """Evaluate what a value names, the deepest first, so that long chains do not nest calls."""
        seen = {key, *self._running}
        waiting = [(key, iter(self._needs(key)))]
        while waiting:
            current, needs = waiting[-1]
            deeper = next((need for need in needs if need not in seen), None)
            if deeper is not None:
                seen.add(deeper)
                waiting.append((deeper, iter(self._needs(deeper))))
                continue
            waiting.pop()
            if current != key and not self._known(current):
                try:
                    self._evaluate(current)
                except TemplateError:
                    continue  # kept as failed, and raised if the value turns out to be needed

    def _known(self, key: Key) -> bool:
        return key in self._kept or key in self._passing or key in self._failed

    def _place(self, key: Key) -> str:
        return format_path((key[0], self._spelled(key)))
