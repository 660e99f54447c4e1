"""Exceptions out of task groups as themselves."""

from collections.abc import Generator
from contextlib import contextmanager

from extensor.errors import ExtensorError


@contextmanager
def ungrouped() -> Generator[None]:
    """An error of ours that task groups wrapped comes out as itself; with others beside it, the first of ours does."""
    try:
        yield
    except BaseExceptionGroup as group:
        ours, others = group.split(ExtensorError)
        if ours is None or (others is not None and not isinstance(others, ExceptionGroup)):
            raise
        raise _first(ours) from group


def _first(group: BaseExceptionGroup[ExtensorError]) -> ExtensorError:
    for error in group.exceptions:
        return _first(error) if isinstance(error, BaseExceptionGroup) else error
    raise AssertionError("a group is never empty")
