"""Running a graph in this process."""

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.engine.executor import InProcessExecutor
from extensor.engine.graph import Graph


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.sets(st.integers(0, 8), max_size=3), max_size=9),
    failing=st.sets(st.integers(0, 8), max_size=2),
    parallelism=st.integers(1, 4),
)
def test_everything_runs_once_after_its_dependencies_or_is_skipped(edges, failing, parallelism) -> None:
    graph = Graph.of(
        {f"n{index}": [f"n{other}" for other in wanted if other < index] for index, wanted in enumerate(edges)}
    )
    started: list[str] = []
    ended: set[str] = set()
    skipped: dict[str, str] = {}
    running = 0

    async def perform(name: str) -> bool:
        nonlocal running
        assert set(graph.depends_on[name]) <= ended
        started.append(name)
        running += 1
        assert running <= parallelism
        await anyio.lowlevel.checkpoint()
        running -= 1
        ended.add(name)
        return int(name[1:]) not in failing

    async def main() -> tuple[str, ...]:
        with anyio.fail_after(5):
            return await InProcessExecutor(parallelism, 0).run(graph, perform, on_skipped=skipped.__setitem__)

    assert anyio.run(main) == ()
    assert sorted([*started, *skipped]) == sorted(graph.depends_on)


@pytest.mark.anyio
async def test_a_stop_before_the_start_starts_nothing() -> None:
    stop = anyio.Event()
    stop.set()

    async def perform(name: str) -> bool:
        raise AssertionError(f"{name} was started")

    left = await InProcessExecutor(2, 0).run(Graph.of({"a": [], "b": ["a"]}), perform, on_skipped=print, stop=stop)
    assert left == ("a", "b")


@pytest.mark.anyio
async def test_what_runs_at_a_stop_is_canceled_only_after_its_grace() -> None:
    stop = anyio.Event()
    outcomes: list[str] = []

    async def perform(name: str) -> bool:
        try:
            if name == "quick":
                await stop.wait()
            else:
                stop.set()
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            outcomes.append(f"{name} canceled")
            raise
        outcomes.append(f"{name} ended")
        return True

    with anyio.fail_after(5):
        await InProcessExecutor(2, 0.05).run(Graph.of({"quick": [], "slow": []}), perform, on_skipped=print, stop=stop)
    assert outcomes == ["quick ended", "slow canceled"]
