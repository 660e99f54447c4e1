"""The syntax tree of one expression. Positions are characters of the whole string and do not count in comparisons."""

from dataclasses import dataclass, field
from typing import TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class Literal:
    """A string or an integer; the language has no other literals."""

    value: str | int
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Call:
    """``name(…)`` or, for a user's function, ``namespace.name(…)``. `key` is the name in lower case."""

    namespace: str | None
    name: str
    arguments: "tuple[Node, ...]"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    key: str = field(init=False, default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.name.lower())


@final
@dataclass(frozen=True, slots=True)
class Member:
    """``target.name``."""

    target: "Node"
    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Index:
    """``target[index]``, a name or a number."""

    target: "Node"
    index: "Node"
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Node: TypeAlias = Literal | Call | Member | Index


def children(node: Node) -> "tuple[Node, ...]":
    """The nodes directly below, in the order of the text."""
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Member):
        return (node.target,)
    if isinstance(node, Index):
        return (node.target, node.index)
    return ()
