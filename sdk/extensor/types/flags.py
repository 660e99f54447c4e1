"""What a property is, beyond its type: the wire's bits and the marks an author writes in annotations.

Importing this costs next to nothing, so that `extensor` can offer the marks without loading anything else.
"""

import enum
from typing import Annotated, Any, TypeAlias, TypeVar

T = TypeVar("T")


class Flag(enum.Flag):
    """The property bits of bicep-types."""

    NONE = 0
    REQUIRED = 1
    READ_ONLY = 2
    WRITE_ONLY = 4
    DEPLOY_TIME_CONSTANT = 8
    IDENTIFIER = 16


class Mark:
    """One word about a property, put into ``Annotated[…, mark]``. Marks compare by name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is Mark and other.name == self.name

    def __hash__(self) -> int:
        return hash((Mark, self.name))

    def __repr__(self) -> str:
        return self.name


IDENTIFIER = Mark("IDENTIFIER")
"""Names the resource: all that `get` and `delete` need."""
READ_ONLY = Mark("READ_ONLY")
"""Set by the provider; refused in a request."""
WRITE_ONLY = Mark("WRITE_ONLY")
"""Taken in a request, never shown in a result."""
IMMUTABLE = Mark("IMMUTABLE")
"""Cannot be changed once the resource exists."""
CALCULATED = Mark("CALCULATED")
"""Differs each time it is asked for, such as a time stamp."""
SECRET = Mark("SECRET")
"""Masked in logs, errors, state and reports. For texts, objects and arrays of them."""

Identifier: TypeAlias = Annotated[T, IDENTIFIER]
"""``name: Identifier[str]``: see `IDENTIFIER`."""
ReadOnly: TypeAlias = Annotated[T, READ_ONLY]
"""``size: ReadOnly[int | None] = None``: see `READ_ONLY`."""
WriteOnly: TypeAlias = Annotated[T, WRITE_ONLY]
"""``password: Secret[WriteOnly[str]]``: see `WRITE_ONLY`."""
Immutable: TypeAlias = Annotated[T, IMMUTABLE]
"""``region: Immutable[str]``: see `IMMUTABLE`."""
Calculated: TypeAlias = Annotated[T, CALCULATED]
"""``checked_at: Calculated[ReadOnly[str | None]] = None``: see `CALCULATED`."""
Secret: TypeAlias = Annotated[T, SECRET]
"""``token: Secret[str]``: see `SECRET`."""

_HELP: dict[Any, str] = {
    Identifier: "Names the resource, with all others of its kind: ``name: Identifier[str]``. It is all that `get` and "
    "`delete` are given, and each answer shows it as it was asked for.",
    ReadOnly: "Set by the provider and refused in a request: ``size: ReadOnly[int | None] = None``. A preview shows it "
    "as unknown when something changes, unless it is `Immutable` too.",
    WriteOnly: "Taken in a request and shown in no answer: ``password: Secret[WriteOnly[str]]``.",
    Immutable: "Cannot be changed once the resource exists: ``region: Immutable[str]``. The runtime refuses a change "
    "where the handler has `get`.",
    Calculated: "Differs each time it is asked for: ``checked_at: Calculated[ReadOnly[str | None]] = None``.",
    Secret: "Masked in logs, errors, state and reports: ``token: Secret[str]``. For texts, objects and arrays of them; "
    "values of fewer than four characters are masked only where they stand, not inside other texts.",
}
for _alias, _words in _HELP.items():
    _alias.__doc__ = _words  # else help() tells of typing.Annotated
