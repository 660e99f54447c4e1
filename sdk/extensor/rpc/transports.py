"""Makers of byte streams: pipes and stdio, Unix sockets, TCP on loopback, memory."""

import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from extensor.errors import ConnectionFailed
from extensor.rpc.memory import memory_pair
from extensor.rpc.runtime import under_trio
from extensor.rpc.streams import ByteStream

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

__all__ = ["connect_tcp", "connect_unix", "fd_stream", "listen", "memory_pair"]


def fd_stream(read_fd: int, write_fd: int, *, close_fds: bool = True) -> ByteStream:
    """A stream that reads one descriptor and writes another, for the running event loop.

    Pipes, sockets and terminals are waited for; regular files and null devices, which cannot be, are read directly. The
    descriptors become non-blocking while it lives. With `close_fds` the stream owns and closes them.
    """
    if under_trio():
        from extensor.rpc.trio_stream import TrioFdStream

        return TrioFdStream(read_fd, write_fd, close_fds=close_fds)
    from extensor.rpc.asyncio_stream import AsyncioFdStream

    return AsyncioFdStream(read_fd, write_fd, close_fds=close_fds)


def socket_stream(connection: socket.socket) -> ByteStream:
    """A stream over a connected stream socket, which it takes over."""
    connection.setblocking(False)
    if connection.family != socket.AF_UNIX:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    fd = connection.detach()
    return fd_stream(fd, fd)


async def connect_unix(path: str) -> ByteStream:
    """Connect to a Unix socket. Raises `ConnectionFailed`, for a path too long before anything is tried."""
    from extensor.rpc.addresses import check_unix_path

    check_unix_path(path)
    return await _connect(socket.socket(socket.AF_UNIX), path, f"unix:{path}")


async def connect_tcp(host: str, port: int) -> ByteStream:
    """Connect to a TCP port. `host` is a name or an address. Raises `ConnectionFailed`."""
    import anyio

    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectionFailed(f"cannot find {host}: {error.strerror or error}") from error
    family, _, _, _, target = found[0]
    return await _connect(socket.socket(family), target, f"tcp:{host}:{port}")


async def _connect(connection: socket.socket, target: str | tuple[object, ...], name: str) -> ByteStream:
    import anyio

    try:
        connection.setblocking(False)
        with suppress(BlockingIOError):
            connection.connect(target)
        await anyio.wait_writable(connection)
        error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, _strerror(error))
        connection.getpeername()
        return socket_stream(connection)
    except OSError as error:
        raise ConnectionFailed(f"cannot connect to {name}: {error.strerror or error}") from error
    finally:
        # After the stream took the descriptor over this closes nothing.
        connection.close()


def _strerror(number: int) -> str:
    import os

    return os.strerror(number)


async def listen(
    address: str,
    on_connection: Callable[[ByteStream], Awaitable[None]],
    *,
    task_status: "TaskStatus[str] | None" = None,
) -> None:
    """Listen on `unix:PATH` or `tcp:127.0.0.1:PORT` until cancelled; each connection is served in a task of its own.

    `task_status` gets the actual address. A Unix socket is removed at the end. Raises `ConnectionFailed` when it cannot
    listen; an exception out of `on_connection` ends everything, as in any task group.
    """
    import anyio

    from extensor.rpc.addresses import TcpAddress, bind_tcp, bind_unix, parse_address

    where = parse_address(address)
    if isinstance(where, TcpAddress):
        listener, where = bind_tcp(where)
        remove = None
    else:
        listener = bind_unix(where)
        remove = _remover(where.path)
    with listener:
        try:
            if task_status is not None:
                task_status.started(str(where))
            async with anyio.create_task_group() as group:
                while True:
                    await anyio.wait_readable(listener)
                    with suppress(BlockingIOError, ConnectionError):
                        connection, _ = listener.accept()
                        group.start_soon(_serve, on_connection, socket_stream(connection))
        finally:
            if remove is not None:
                remove()


async def _serve(on_connection: Callable[[ByteStream], Awaitable[None]], stream: ByteStream) -> None:
    try:
        await on_connection(stream)
    finally:
        await stream.aclose()


def _remover(path: str) -> Callable[[], None]:
    from pathlib import Path

    own = Path(path).lstat().st_ino

    def remove() -> None:
        with suppress(FileNotFoundError):
            if Path(path).lstat().st_ino == own:
                Path(path).unlink()

    return remove
