"""A preview that says more than the state to come."""

from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Generic[P]):
    """What `preview_save` may return instead of bare properties: the state to come, and lists of paths about it.

    Paths are relative to the properties, ``"spec.ports[0]"``, or full, ``"$.properties.spec"``. A path belongs in one
    list at most. Every `Unknown` in the properties is listed under `unknown` by itself.
    """

    properties: P
    read_only: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    calculated: tuple[str, ...] = ()
    """Differs each time."""
    unknown: tuple[str, ...] = ()
    """Cannot be told yet."""
