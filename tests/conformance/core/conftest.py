"""What the tests of the kit's core share: a provider without the SDK, and runs of it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from extensor_conformance.adapters import adapter_for
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.connection import Connection
from extensor_conformance.ledger import Ledger
from extensor_conformance.monitors import every_monitor
from extensor_conformance.names import Names
from extensor_conformance.provider import read_provider
from extensor_conformance.report.model import Report
from extensor_conformance.runner import Run
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome
from extensor_conformance.watch import Watch

PROVIDER = Path(__file__).with_name("plain_provider.py")


def command(fault: str = "none", *more: str) -> tuple[str, ...]:
    """The command that starts the plain provider with a fault."""
    return (sys.executable, str(PROVIDER), fault, *more)


def subject(fault: str = "none") -> Subject:
    """The plain provider on stdio."""
    return Subject(command(fault))


@pytest.fixture
def canaries() -> Canaries:
    """Of this test."""
    return Canaries("cnrytest00")


@pytest.fixture
def watch(canaries: Canaries) -> Watch:
    """With every monitor."""
    return Watch(every_monitor(canaries))


@pytest.fixture
def connect(watch: Watch) -> Iterator[Callable[..., Connection]]:
    """Opens connections and closes them at the end."""
    made: list[Connection] = []

    def open_(who: Subject | str = "none", **options: object) -> Connection:
        one = subject(who) if isinstance(who, str) else who
        connection = adapter_for(one).open(one, watch, start_timeout=10, **options)
        connection.timeout = 5
        made.append(connection)
        return connection

    yield open_
    for connection in made:
        connection.close(patient=False)


@pytest.fixture
def make_bench(tmp_path: Path, canaries: Canaries) -> Iterator[Callable[..., Bench]]:
    """Benches that know the provider's types, closed at the end."""
    made: list[Bench] = []

    def make(fault: str = "none", **settings: object) -> Bench:
        chosen = Settings(subject(fault), folder=None, timeout=5, start_timeout=10, seed=7).with_(**settings)
        bench = Bench(chosen, names=Names(), canaries=canaries, ledger=Ledger(tmp_path / "ledger-test.jsonl"))
        made.append(bench)
        bench.provider = read_provider(bench.connection(), bench.fixture, 0.0)
        bench.watch.kinds = bench.provider.kinds
        bench.kind = bench.provider.kinds["box@1.0"]
        return bench

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Report]:
    """Runs of chosen checks against the plain provider, small and quick."""

    def go(who: str | Subject, *checks: str, **settings: object) -> Report:
        chosen = Settings(
            subject(who) if isinstance(who, str) else who,
            folder=tmp_path / ".conformance",
            seed=7,
            checks=checks,
            timeout=2,
            start_timeout=10,
            max_examples=2,
            shrink=False,
        )
        return Run(chosen.with_(**settings)).execute()

    return go


@pytest.fixture
def plain() -> Callable[..., Subject]:
    """The plain provider with a fault, on stdio or at an address that the kit chooses."""

    def make(fault: str = "none", address: str | None = None) -> Subject:
        return Subject(command(fault, *(["{address}"] if address else [])), address)

    return make


@pytest.fixture
def outcome() -> Callable[..., Outcome]:
    """Finds the one outcome of a check, of a type when several have one."""
    return _outcome


def _outcome(report: Report, check: str, type_: str | None = None) -> Outcome:
    found = [item for item in report.outcomes if item.check == check and (type_ is None or item.type == type_)]
    assert len(found) == 1, found
    return found[0]
