"""A provider's process: serves until its host is done, then ends cleanly."""

import asyncio
import os
import select
from collections.abc import Callable
from typing import Any

from extensor.authoring import garbage, log
from extensor.authoring.connection import Connection
from extensor.authoring.ending import DRAIN_ON_SIGNAL_SECONDS, EXIT_SECONDS, Ending, end_children
from extensor.authoring.loop import run_to_end, spawn
from extensor.authoring.provider import Provider
from extensor.authoring.runtime import ProviderRuntime
from extensor.authoring.stdio import Wire, silence_stderr
from extensor.authoring.watchdog import Watchdog
from extensor.rpc.asyncio_stream import AsyncioFdStream

FAULTS_VARIABLE = "EXTENSOR_TEST_FAULTS"
"""Turns the test hook on; see `extensor.authoring.fault_hook`."""


def serve_stdio(provider: Provider, wire: Wire) -> None:
    """Serve one host on the process's own pipe. Returns when the host is done; never raises for how it ended."""
    garbage.tune()
    ending = Ending()
    run_to_end(lambda: _on_stdio(provider, wire, ending))
    ending.served()
    end_children()
    silence_stderr()


def serve_address(provider: Provider, address: str, token: str | None, on_ready: Callable[[str], object]) -> None:
    """Serve hosts on a socket, ``unix:PATH`` or ``tcp:127.0.0.1:PORT``, until a signal comes.

    `on_ready` is told the address once connections are taken. With a token each host must present it.
    """
    garbage.tune()
    ending = Ending()
    run_to_end(lambda: _on_address(provider, address, token, on_ready, ending))
    ending.served()
    end_children()
    silence_stderr()


async def _on_stdio(provider: Provider, wire: Wire, ending: Ending) -> None:
    _install_faults(provider)
    stream = _Pipe(wire, lambda: ending.within(EXIT_SECONDS))
    watchdog = Watchdog(_EndOfInput(wire.read_fd, ending))
    connection = Connection(ProviderRuntime(provider, watchdog), stream)

    async def leave() -> None:
        await connection.drain(DRAIN_ON_SIGNAL_SECONDS)
        await connection.peer.aclose()

    ending.on_signals(lambda: spawn(leave))
    await connection.run()
    ending.within(EXIT_SECONDS)


async def _on_address(
    provider: Provider, address: str, token: str | None, on_ready: Callable[[str], object], ending: Ending
) -> None:
    from extensor.rpc.streams import ByteStream
    from extensor.rpc.transports import listen

    _install_faults(provider)
    runtime = ProviderRuntime(provider, Watchdog())
    connections: set[Connection] = set()
    stopped = asyncio.Event()

    async def serve(stream: ByteStream) -> None:
        connection = Connection(runtime, stream, token=token)
        connections.add(connection)
        try:
            await connection.run()
        finally:
            connections.discard(connection)

    async def leave() -> None:
        runtime.closing = True
        await asyncio.gather(*(item.drain(DRAIN_ON_SIGNAL_SECONDS) for item in connections))
        stopped.set()

    ending.on_signals(lambda: spawn(leave))
    listening = asyncio.ensure_future(listen(address, serve, task_status=_Started(on_ready)))
    waiting = asyncio.ensure_future(stopped.wait())
    await asyncio.wait((listening, waiting), return_when=asyncio.FIRST_COMPLETED)
    if listening.done():
        waiting.cancel()
        listening.result()
    ending.within(EXIT_SECONDS)
    listening.cancel()
    await asyncio.wait((listening,))


def _install_faults(provider: Provider) -> None:
    path = os.environ.get(FAULTS_VARIABLE)
    if path:
        from extensor.authoring.fault_hook import install

        install(provider, path)


class _Pipe(AsyncioFdStream):
    """The host's pipe, which tells when its input has ended."""

    def __init__(self, wire: Wire, on_end: Callable[[], object]) -> None:
        super().__init__(wire.read_fd, wire.write_fd)
        self._on_input_end = on_end

    def start(
        self,
        on_data: Callable[[bytes], None],
        on_end: Callable[[Exception | None], None],
        on_drained: Callable[[], None],
    ) -> None:
        def ended(error: Exception | None) -> None:
            self._on_input_end()
            on_end(error)

        super().start(on_data, ended, on_drained)


class _EndOfInput:
    """While a handler blocks the loop nobody reads: this looks whether the host is still there."""

    def __init__(self, fd: int, ending: Ending) -> None:
        self._ending = ending
        self._poll = select.poll()
        self._poll.register(fd, 0)  # hang-up and errors are always reported

    def __call__(self) -> None:
        if self._poll.poll(0):
            log.write("warning", "the host is gone while a handler blocks the event loop")
            self._ending.within(EXIT_SECONDS)


class _Started:
    """What `listen` tells its address."""

    def __init__(self, on_ready: Callable[[str], object]) -> None:
        self._on_ready = on_ready

    def started(self, value: Any = None) -> None:
        self._on_ready(str(value))
