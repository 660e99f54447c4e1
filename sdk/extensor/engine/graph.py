"""A directed graph without cycles over names, in a stable order."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from extensor.errors import TemplateError


class CycleError(TemplateError):
    """Nodes depend on each other in a ring. `cycle` lists them, the first one again at the end."""

    def __init__(self, cycle: Sequence[str], path: str | None = None) -> None:
        self.cycle = tuple(cycle)
        super().__init__(
            f"these resources depend on each other in a ring: {' -> '.join(self.cycle)}; break it by removing one of "
            "the references or dependsOn entries",
            path,
            code="CircularDependency",
        )


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and what each depends on. Make one with `Graph.of`; it has no cycle and knows each node it names.

    `order` holds every node after all it depends on; among nodes that are ready at once the declared order decides.
    """

    depends_on: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]

    @classmethod
    def of(cls, edges: Mapping[str, Iterable[str]]) -> "Graph":
        """The graph of ``node: what it depends on``. Raises `CycleError`, and `KeyError` for a name that is no node."""
        depends_on = {node: tuple(dict.fromkeys(wanted)) for node, wanted in edges.items()}
        order = _order(depends_on)
        if len(order) < len(depends_on):
            raise CycleError(_cycle(depends_on, order))
        return cls(depends_on, tuple(order))

    def reverse(self) -> "Graph":
        """The same nodes, each depending on those that depended on it."""
        dependants = self.dependants()
        return Graph.of({node: dependants[node] for node in reversed(self.order)})

    def dependants(self) -> dict[str, list[str]]:
        """Node to the nodes that depend on it directly."""
        dependants: dict[str, list[str]] = {node: [] for node in self.depends_on}
        for node, wanted in self.depends_on.items():
            for name in wanted:
                dependants[name].append(node)
        return dependants


def _order(depends_on: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Kahn's algorithm; a heap over declared positions instead of a queue makes the order stable at no cost."""
    names = list(depends_on)
    place = {name: index for index, name in enumerate(names)}
    waiting = [len(depends_on[name]) for name in names]
    dependants: list[list[int]] = [[] for _ in names]
    for index, name in enumerate(names):
        for wanted in depends_on[name]:
            dependants[place[wanted]].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order: list[str] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(names[index])
        for dependant in dependants[index]:
            waiting[dependant] -= 1
            if waiting[dependant] == 0:
                heapq.heappush(ready, dependant)
    return order


def _cycle(depends_on: Mapping[str, tuple[str, ...]], ordered: Iterable[str]) -> list[str]:
    """One ring among the nodes that could not be ordered: each of those depends on another of them."""
    done = set(ordered)
    node = next(name for name in depends_on if name not in done)
    seen: dict[str, int] = {}
    walk: list[str] = []
    while node not in seen:
        seen[node] = len(walk)
        walk.append(node)
        node = next(wanted for wanted in depends_on[node] if wanted not in done)
    return [*walk[seen[node] :], node]
