"""The engine dies at any moment: a rerun converges, a destruction leaves nothing, and the record never lies."""

from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SETTINGS = settings(max_examples=25, deadline=None)


@st.composite
def templates(draw: st.DrawFn) -> list[tuple[str, list[int]]]:
    """Resources as name of the box and indices of earlier resources it needs."""
    count = draw(st.integers(1, 6))
    names = draw(st.lists(st.sampled_from("abcdefgh"), min_size=count, max_size=count, unique=True))
    return [
        (name, draw(st.lists(st.integers(0, index - 1), unique=True, max_size=2)) if index else [])
        for index, name in enumerate(names)
    ]


def written(make: Any, resources: list[tuple[str, list[int]]]) -> Any:
    return make.template(
        {
            f"r{index}": make.box(name, needs=[f"r{other}" for other in needs])
            for index, (name, needs) in enumerate(resources)
        }
    )


class Bomb:
    """Ends the engine at one of its calls, before or after the provider did its work."""

    def __init__(self, world: Any, died: type[BaseException], at: int, *, after: bool) -> None:
        self._left = at
        self._died = died
        if after:
            world.after = self._tick
        else:
            world.before = self._tick

    def _tick(self, verb: Any, data: Any) -> None:
        self._left -= 1
        if self._left == 0:
            raise self._died


def run(function: Any, died: type[BaseException]) -> bool:
    """Run to the end, or to the death of the engine; whether it died."""
    try:
        anyio.run(function)
    except BaseExceptionGroup as group:
        if group.subgroup(died) is None:
            raise
        return True
    except died:
        return True
    return False


def defuse(world: Any) -> None:
    world.before = world.after = lambda verb, data: None


def true_record(stack: Any) -> None:
    """Whatever exists is recorded, so that nothing is orphaned."""
    recorded = {record.identifiers["name"] for record in stack.show().resources}
    assert stack.world.names() <= recorded


@SETTINGS
@given(first=templates(), second=templates(), at=st.integers(1, 14), after=st.booleans())
def test_after_a_crash_anywhere_a_rerun_converges(make_stack, make, first, second, at, after) -> None:
    stack = make_stack()
    run(lambda: stack.deploy(written(make, first)), make.died)
    Bomb(stack.world, make.died, at, after=after)
    crashed = run(lambda: stack.deploy(written(make, second)), make.died)
    defuse(stack.world)
    true_record(stack)
    if crashed:
        assert any(record.status in ("Saving", "Deleting", "Unclear") for record in stack.show().resources)
    results: list[Any] = []

    async def rerun() -> None:
        results.append(await stack.deploy(written(make, second)))

    run(rerun, make.died)
    assert results[0].status == "Succeeded"
    assert stack.world.names() == {name for name, _ in second}
    assert {record.status for record in stack.show().resources} == {"Saved"}
    assert len(stack.show().resources) == len(second)


@SETTINGS
@given(first=templates(), second=templates(), at=st.integers(1, 14), after=st.booleans(), again=st.integers(1, 8))
def test_after_a_crash_anywhere_a_destruction_leaves_nothing(make_stack, make, first, second, at, after, again) -> None:
    stack = make_stack()
    run(lambda: stack.deploy(written(make, first)), make.died)
    Bomb(stack.world, make.died, at, after=after)
    run(lambda: stack.deploy(written(make, second)), make.died)
    defuse(stack.world)
    Bomb(stack.world, make.died, again, after=after)
    run(stack.destroy, make.died)
    defuse(stack.world)
    true_record(stack)
    run(stack.destroy, make.died)
    assert stack.world.boxes == {}
    assert stack.show().resources == ()


@pytest.mark.parametrize("types", [True, False])
def test_an_intent_is_on_disk_before_the_provider_hears_of_it(make_stack, make, types) -> None:
    stack = make_stack()
    if not types:
        stack.world.types = None
    seen: list[str] = []
    stack.world.before = lambda verb, data: seen.extend(record.status for record in stack.show().resources)
    anyio.run(lambda: stack.deploy(written(make, [("a", [])])))
    anyio.run(stack.destroy)
    assert seen == ["Saving", "Deleting"]
