"""File descriptors under trio."""

import os
import stat

import trio

from extensor.errors import ConnectionLost
from extensor.rpc.streams import READ_SIZE


class TrioFdStream:
    """A `ByteStream` over one descriptor to read from and one to write to; both may be the same socket."""

    def __init__(self, read_fd: int, write_fd: int, *, close_fds: bool = True) -> None:
        self._read_file = None if _can_wait(read_fd) else _own(read_fd, close_fds)
        self._write_file = None if _can_wait(write_fd) else _own(write_fd, close_fds)
        shared = read_fd == write_fd
        self._reader = trio.lowlevel.FdStream(_own(read_fd, close_fds)) if self._read_file is None else None
        self._writer = (
            trio.lowlevel.FdStream(_own(write_fd, close_fds and not shared)) if self._write_file is None else None
        )
        self._closed = False

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` at the end."""
        if self._reader is None:
            await trio.lowlevel.checkpoint()
            return b"" if self._closed or self._read_file is None else os.read(self._read_file, READ_SIZE)
        try:
            return bytes(await self._reader.receive_some(READ_SIZE))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def send(self, data: bytes) -> None:
        """Send all of `data`."""
        if self._closed:
            raise ConnectionLost("the connection is closed")
        if self._writer is None:
            await trio.lowlevel.checkpoint()
            _write_file(self._write_file, data)
            return
        try:
            await self._writer.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ConnectionLost("the other end does not read any more") from error

    async def aclose(self) -> None:
        """Close both directions at once."""
        if self._closed:
            return
        self._closed = True
        for file in (self._read_file, self._write_file):
            if file is not None:
                os.close(file)
        for stream in (self._reader, self._writer):
            if stream is not None:
                stream.close()
        await trio.lowlevel.checkpoint()


def _own(fd: int, take: bool) -> int:
    return fd if take else os.dup(fd)


def _write_file(fd: int | None, data: bytes) -> None:
    assert fd is not None
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _can_wait(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(fd))
