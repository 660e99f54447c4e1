"""Provider programs without our SDK, and a clock that a test owns."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from extensor.contract import CallContext, Import, Json, ResourceData
from extensor.hosting import LaunchSpec

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def program() -> Callable[..., LaunchSpec]:
    """How to launch one of the programs beside this file."""

    def spec(name: str, *arguments: object, **options: object) -> LaunchSpec:
        argv = (sys.executable, str(PROGRAMS / f"{name}.py"), *map(str, arguments))
        return LaunchSpec(name, argv, **options)

    return spec


@pytest.fixture
def note() -> Callable[..., ResourceData]:
    """The params of a verb on a note."""

    def data(name: str = "n", *, context: CallContext | None = None, **properties: Json) -> ResourceData:
        return ResourceData(
            Import("stranger", "1.0.0"), "note@1.0", {"name": name, **properties}, context or CallContext()
        )

    return data


class HandClock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def random(self) -> float:
        return 0.5


@pytest.fixture
def clock() -> HandClock:
    """A clock for retries."""
    return HandClock()
