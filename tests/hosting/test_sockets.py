"""Providers that run already, behind a socket."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from extensor.contract import ResourceData, Verb
from extensor.errors import ConnectionLost, StartFailed
from extensor.hosting import Host

pytestmark = pytest.mark.anyio
Note = Callable[..., ResourceData]
PROGRAM = Path(__file__).parent / "programs" / "on_socket.py"


def listening(place: str) -> Iterator[str]:
    with subprocess.Popen([sys.executable, PROGRAM, place], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip()
        process.kill()


@pytest.fixture
def tcp_address() -> Iterator[str]:
    """Where a provider listens on TCP."""
    yield from listening("tcp")


@pytest.fixture(params=["unix", "tcp"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a provider listens."""
    yield from listening(f"unix:{tmp_path / 's'}" if request.param == "unix" else "tcp")


async def test_a_running_provider_is_greeted_and_called(address: str, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.connect(address, "sesame", name="remote", want_version="1.0.0")
            assert (session.label, session.name, session.version, session.pid) == ("remote", "stranger", "1.2.0", None)
            assert (await session.call(Verb.SAVE, note("n"))).properties == {"name": "n"}


async def test_closing_the_session_leaves_the_provider_for_others(address: str, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            await (await host.connect(address, "sesame")).aclose()
            session = await host.connect(address, "sesame")
            assert (await session.call(Verb.SAVE, note("n"))).properties == {"name": "n"}


async def test_a_lost_connection_fails_the_call_and_the_next_call_connects_again(address: str, note: Note):
    with anyio.fail_after(10):
        async with Host() as host:
            session = await host.connect(address, "sesame", name="remote")
            with pytest.raises(ConnectionLost, match="the connection to provider remote ended"):
                await session.call(Verb.SAVE, note("bye"))
            assert (await session.call(Verb.SAVE, note("n"))).properties == {"name": "n"}
            assert session.starts == 2


async def test_a_provider_on_tcp_refuses_a_wrong_token(tcp_address: str):
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match=r"no \(Unauthorized\)"):
                await host.connect(tcp_address, "open up")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("unix:/no/such/socket", "/no/such/socket"),
        ("tcp:127.0.0.1:1", "127.0.0.1"),
        ("tcp:127.0.0.1", "is no address"),
        ("tcp::80", "is no address"),
        ("http://x", "is no address"),
        ("unix:", "is no address"),
        ("unix:/" + "x" * 150, "x{150}"),
    ],
)
async def test_an_address_where_nobody_answers_is_a_failed_start_that_names_it(address: str, words: str):
    with anyio.fail_after(10):
        async with Host() as host:
            with pytest.raises(StartFailed, match=words):
                await host.connect(address)
