"""Order without cycles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.engine.graph import CycleError, Graph
from extensor.engine.scheduler import Schedule


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, list[str]]:
    count = draw(st.integers(0, 12))
    names = draw(st.permutations([f"n{index}" for index in range(count)]))
    edges = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        for place, name in enumerate(names)
    }
    return {name: edges[name] for name in draw(st.permutations(names))}


@given(acyclic())
def test_every_node_comes_after_what_it_depends_on(edges: dict[str, list[str]]) -> None:
    order = Graph.of(edges).order
    assert sorted(order) == sorted(edges)
    place = {name: index for index, name in enumerate(order)}
    assert all(place[wanted] < place[name] for name, wanteds in edges.items() for wanted in wanteds)


@given(acyclic())
def test_reversing_twice_gives_the_same_edges(edges: dict[str, list[str]]) -> None:
    graph = Graph.of(edges)
    twice = graph.reverse().reverse()
    assert {name: set(wanted) for name, wanted in twice.depends_on.items()} == {
        name: set(wanted) for name, wanted in graph.depends_on.items()
    }


def test_the_declared_order_decides_among_equals() -> None:
    assert Graph.of({"c": [], "a": [], "b": ["c"], "d": []}).order == ("c", "a", "b", "d")


def test_a_cycle_is_named_in_full() -> None:
    with pytest.raises(CycleError) as caught:
        Graph.of({"before": [], "a": ["before", "b"], "b": ["c"], "c": ["a"], "after": ["a"]})
    assert caught.value.cycle == ("a", "b", "c", "a")
    assert "a -> b -> c -> a" in str(caught.value)


def test_a_node_that_depends_on_itself_is_a_cycle() -> None:
    with pytest.raises(CycleError) as caught:
        Graph.of({"a": ["a"]})
    assert caught.value.cycle == ("a", "a")


@given(acyclic(), st.randoms(use_true_random=False), st.sets(st.integers(0, 11)))
def test_a_schedule_starts_nothing_before_its_dependencies_and_accounts_for_everything(edges, random, failing) -> None:
    graph = Graph.of(edges)
    schedule = Schedule(graph)
    succeeded: set[str] = set()
    failed: set[str] = set()
    skipped: dict[str, str] = {}
    running: list[str] = []
    while True:
        while (name := schedule.take()) is not None and len(running) < 3:
            assert set(graph.depends_on[name]) <= succeeded
            running.append(name)
        if name is not None:
            running.append(name)
            assert set(graph.depends_on[name]) <= succeeded
        if not running:
            break
        ended = running.pop(random.randrange(len(running)))
        if int(ended[1:]) in failing:
            failed.add(ended)
            skipped.update(schedule.fail(ended))
        else:
            succeeded.add(ended)
            schedule.succeed(ended)
    assert succeeded | failed | skipped.keys() == set(edges)
    assert not succeeded & skipped.keys()
    assert all(cause in failed or cause in skipped for cause in skipped.values())
    assert all(cause in graph.depends_on[name] for name, cause in skipped.items())
    assert schedule.remaining == ()


def test_a_chain_of_ten_thousand_nodes_is_ordered_without_recursion() -> None:
    edges = {f"n{index}": [f"n{index + 1}"] if index < 9_999 else [] for index in range(10_000)}
    assert Graph.of(edges).order[:2] == ("n9999", "n9998")
    with pytest.raises(CycleError) as caught:
        Graph.of({**edges, "n9999": ["n0"]})
    assert len(caught.value.cycle) == 10_001
