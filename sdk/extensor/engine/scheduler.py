"""Which operations may start now: a state machine over a graph, without tasks, clocks or calls."""

import heapq

from extensor.engine.graph import Graph


class Schedule:
    """Hands out each node once all it depends on have succeeded; skips what depends on a failure."""

    def __init__(self, graph: Graph) -> None:
        self._names = graph.order
        self._place = {name: index for index, name in enumerate(graph.order)}
        self._dependants = graph.dependants()
        self._waiting = {name: len(wanted) for name, wanted in graph.depends_on.items()}
        self._ready = [index for index, name in enumerate(graph.order) if not self._waiting[name]]
        self._running: set[str] = set()
        self._ended: set[str] = set()

    def take(self) -> str | None:
        """The next node that may start, in the graph's order; ``None`` when nothing is ready."""
        if not self._ready:
            return None
        name = self._names[heapq.heappop(self._ready)]
        self._running.add(name)
        return name

    def succeed(self, name: str) -> None:
        """A node that was taken ended well; its dependants may become ready."""
        self._end(name)
        for dependant in self._dependants[name]:
            self._waiting[dependant] -= 1
            if not self._waiting[dependant] and dependant not in self._ended:
                heapq.heappush(self._ready, self._place[dependant])

    def fail(self, name: str) -> list[tuple[str, str]]:
        """A node that was taken failed. What needs it is skipped: pairs of node and the one it waited for."""
        self._end(name)
        skipped: list[tuple[str, str]] = []
        causes = [name]
        for cause in causes:
            for dependant in self._dependants[cause]:
                if dependant not in self._ended:
                    self._ended.add(dependant)
                    skipped.append((dependant, cause))
                    causes.append(dependant)
        return skipped

    @property
    def running(self) -> frozenset[str]:
        """Nodes taken and not ended."""
        return frozenset(self._running)

    @property
    def remaining(self) -> tuple[str, ...]:
        """Nodes that neither ended, nor run, nor were skipped, in the graph's order."""
        return tuple(name for name in self._names if name not in self._ended and name not in self._running)

    def _end(self, name: str) -> None:
        self._running.remove(name)
        self._ended.add(name)
