"""A provider outside of a run: started, greeted, its types read."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Trouble
from extensor_conformance.cli.exits import Exit

if TYPE_CHECKING:
    from extensor_conformance.bench import Bench
    from extensor_conformance.provider import Provider
    from extensor_conformance.settings import Settings


@contextmanager
def provider_bench(settings: "Settings") -> Generator[tuple["Bench", "Provider"]]:
    """A bench with the provider of these settings. Raises `Trouble` when it does not start."""
    from extensor.errors import ConnectionFailed, StartFailed
    from extensor_conformance.answers import ConnectionEnded, NoAnswer
    from extensor_conformance.bench import Bench
    from extensor_conformance.canary import Canaries
    from extensor_conformance.fixture import FixtureError
    from extensor_conformance.ledger import Ledger
    from extensor_conformance.names import Names
    from extensor_conformance.provider import read_provider
    from extensor_conformance.verdicts import Failed

    names = Names(prefix=settings.name_prefix)
    try:
        bench = Bench(settings, names=names, canaries=Canaries(f"cnry{names.salt[:8]}"), ledger=Ledger(None))
    except FixtureError as error:
        raise Trouble(str(error)) from None
    try:
        try:
            provider = read_provider(bench.connection(), settings.fixture, 0.0)
        except (Failed, StartFailed, ConnectionFailed, NoAnswer, ConnectionEnded) as error:
            told = bench.watch.secrets.mask_text(str(error))
            raise Trouble(f"the provider did not start: {told}", Exit.NOT_STARTED) from None
        bench.provider = provider
        bench.watch.kinds = provider.kinds
        yield bench, provider
    finally:
        bench.close()
