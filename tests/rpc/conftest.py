"""Connected streams of every kind, and a raw end that sends what no decent peer would."""

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import settings

from extensor.rpc import ByteStream, Framing, Peer, connect_tcp, connect_unix, fd_stream, listen, memory_pair
from extensor.rpc.framing import FrameReader, write_frame

# How long one example takes is the machine's affair.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

TRANSPORTS = ["memory", "pipes", "unix", "tcp"]
Link = Callable[[], AbstractAsyncContextManager[tuple[ByteStream, ByteStream]]]
Peers = Callable[..., AbstractAsyncContextManager[tuple[Peer, Peer]]]
Wires = Callable[..., AbstractAsyncContextManager[tuple["Wire", Peer]]]


@asynccontextmanager
async def connected(transport: str, folder: Path) -> AsyncIterator[tuple[ByteStream, ByteStream]]:
    """The server's and the client's end of one connection."""
    if transport == "memory":
        yield memory_pair()
    elif transport == "pipes":
        (there, write), (read, back) = os.pipe(), os.pipe()
        yield fd_stream(there, back), fd_stream(read, write)
    else:
        accepted, arrived = [], anyio.Event()

        async def on_connection(stream: ByteStream) -> None:
            accepted.append(stream)
            arrived.set()
            await anyio.sleep_forever()

        async with anyio.create_task_group() as group:
            address = f"unix:{folder / 's'}" if transport == "unix" else "tcp:127.0.0.1:0"
            actual: str = await group.start(listen, address, on_connection)
            port = int(actual.rpartition(":")[2]) if transport == "tcp" else 0
            client = await (connect_tcp("127.0.0.1", port) if port else connect_unix(str(folder / "s")))
            await arrived.wait()
            yield accepted[0], client
            group.cancel_scope.cancel()


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["lines", "headers"])
def framing(request: pytest.FixtureRequest) -> Framing:
    return request.param


@pytest.fixture
def link(transport: str, tmp_path: Path) -> Link:
    return lambda: connected(transport, tmp_path)


@pytest.fixture
def peers(link: Link, framing: Framing) -> Peers:
    """A running client and server: `async with peers(serve, server={...}, client={...}) as (client, server)`."""

    @asynccontextmanager
    async def connect(
        serve: Any = None, *, server: dict[str, Any] | None = None, client: dict[str, Any] | None = None
    ) -> AsyncIterator[tuple[Peer, Peer]]:
        with anyio.fail_after(10):
            async with link() as (near, far), anyio.create_task_group() as group:
                serving = Peer(near, serve, **{"end_grace": 0.0, **(server or {})})
                calling = Peer(far, framing=framing, **(client or {}))
                group.start_soon(serving.run)
                group.start_soon(calling.run)
                yield calling, serving
                await calling.aclose()
                await serving.aclose()

    return connect


class Wire:
    """A raw end of a connection."""

    def __init__(self, stream: ByteStream, framing: Framing) -> None:
        self.stream = stream
        self.framing: Framing = framing
        self.reader = FrameReader(1 << 26, framing)
        self.frames: list[bytes] = []

    async def send(self, *messages: Any) -> None:
        """Send values as frames, bytes as they are."""
        for message in messages:
            data = message if isinstance(message, bytes) else write_frame(json.dumps(message).encode(), self.framing)
            await self.stream.send(data)

    async def receive(self) -> Any:
        """The next message; ``None`` at the end."""
        while not self.frames:
            data = await self.stream.receive()
            if not data:
                return None
            self.frames += [frame for frame in self.reader.feed(data) if isinstance(frame, bytes)]
        return json.loads(self.frames.pop(0))

    async def ask(self, *messages: Any) -> Any:
        """Send, and receive one message."""
        await self.send(*messages)
        return await self.receive()


@pytest.fixture
def wire(tmp_path: Path) -> Wires:
    """A raw end facing a running server: `async with wire(serve, framing="lines", …) as (wire, server)`."""

    @asynccontextmanager
    async def connect(
        serve: Any = None, *, framing: Framing = "lines", transport: str = "pipes", **options: Any
    ) -> AsyncIterator[tuple[Wire, Peer]]:
        with anyio.fail_after(10):
            async with connected(transport, tmp_path) as (near, far), anyio.create_task_group() as group:
                server = Peer(near, serve, **{"end_grace": 0.0, **options})
                group.start_soon(server.run)
                yield Wire(far, framing), server
                await far.aclose()

    return connect
