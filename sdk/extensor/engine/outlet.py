"""The one way out of a run: events, results and errors leave it without the secrets that the run has learnt."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from extensor.contract import ErrorCode, Fault, Unknown
from extensor.contract.redaction import Redactor
from extensor.engine.events import Event, OnEvent, OperationStarted, OperationSucceeded, ResourcePlanned
from extensor.errors import StateError, TemplateError

_T = TypeVar("_T")
_CODE = re.compile(r"[A-Z][A-Za-z0-9]{0,79}\Z")
_DECLARED = frozenset(
    {"symbolic_name", "type", "depends_on", "alias", "stack", "deployment_id", "kind", "status", "change_type", "verb"}
)
"""Fields whose texts the template or the engine wrote: no value of a parameter gets there, and they are looked up."""


_PLAIN = frozenset({ResourcePlanned, OperationStarted, OperationSucceeded})
"""Events by the thousand, which hold no fault, so that only a known secret could be in them."""


class Outlet:
    """Tells what a run tells. Secrets are known to the redactor before anything about them can be told."""

    def __init__(self, on_event: OnEvent, redactor: Redactor, *, recorded: bool = False) -> None:
        """`recorded`: identifiers come from the record, which holds no secret, and are told as they stand there."""
        self._on_event = on_event
        self._redactor = redactor
        self._kept = _DECLARED | {"identifiers"} if recorded else _DECLARED

    def event(self, event: Event) -> None:
        """Hand an event on."""
        plain = type(event) in _PLAIN and not self._redactor.knows_any
        self._on_event(event if plain else self.shown(event))

    def shown(self, told: _T) -> _T:
        """A copy of an event, a result or a fault without secrets."""
        return cast("_T", _shown(told, self._redactor, self._kept))

    @contextmanager
    def errors(self) -> Generator[None]:
        """Let out only errors without secrets."""
        try:
            yield
        except TemplateError as error:
            raise TemplateError.many(self.shown(error.faults)) from None
        except StateError as error:
            raise StateError(self._redactor.text(str(error))) from error


def safe_fault(fault: Fault, redactor: Redactor) -> Fault:
    """A fault without secrets in its code, message and path. A code that is none (P-ERROR-03) is `InternalError`."""
    path = None if fault.path is None else redactor.text(fault.path)
    return Fault(safe_code(fault.code, redactor), redactor.text(fault.message), path)


def safe_code(code: str, redactor: Redactor) -> str:
    """A fault's code, `InternalError` in place of one that is no PascalCase word or holds a secret."""
    return code if _CODE.match(code) and redactor.text(code) == code else ErrorCode.INTERNAL_ERROR


def _shown(told: Any, redactor: Redactor, kept: frozenset[str]) -> Any:
    """The value itself where nothing in it is secret: unknowns in it cannot be compared."""
    if isinstance(told, str):
        return told if isinstance(told, Enum) else redactor.text(told)
    if isinstance(told, Fault):
        safe = safe_fault(told, redactor)
        return told if safe == told else safe
    if type(told) is Unknown:
        shown = redactor.text(told.expression) if told.expression is not None else None
        place = redactor.text(told.path) if told.path is not None else None
        return told if shown is told.expression and place is told.path else Unknown(shown, place)
    if isinstance(told, tuple | list):
        items = cast("tuple[Any, ...]", told)
        every = [_shown(item, redactor, kept) for item in items]
        if all(one is other for one, other in zip(every, items, strict=True)):
            return items
        return tuple(every) if isinstance(told, tuple) else every
    if isinstance(told, dict):
        members = cast("dict[str, Any]", told)
        named = {redactor.text(name): _shown(item, redactor, kept) for name, item in members.items()}
        same = all(name in members and members[name] is item for name, item in named.items())
        return members if same and len(named) == len(members) else named
    if is_dataclass(told) and not isinstance(told, type):
        changed: dict[str, Any] = {}
        for field in fields(told):
            before = getattr(told, field.name)
            after = before if field.name in kept else _shown(before, redactor, kept)
            if after is not before:
                changed[field.name] = after
        return replace(told, **changed) if changed else told
    return told
