"""File descriptors on asyncio's loop: 64 KiB reads and direct writes from its callbacks (decision 0003)."""

import asyncio
import os
import stat
from collections import deque
from collections.abc import Callable

from extensor.errors import ConnectionLost
from extensor.rpc.streams import READ_SIZE

_WRITE_SIZE = 256 * 1024


class AsyncioFdStream:
    """A `DirectStream` over one descriptor to read from and one to write to; both may be the same socket."""

    def __init__(self, read_fd: int, write_fd: int, *, close_fds: bool = True) -> None:
        self._loop = asyncio.get_running_loop()
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._close_fds = close_fds
        # What was blocking belongs to someone else, too, when the descriptor is inherited; it gets its mode back.
        self._blocking = {fd for fd in {read_fd, write_fd} if os.get_blocking(fd)}
        for fd in self._blocking:
            os.set_blocking(fd, False)
        self._can_wait = _can_wait(read_fd)
        self._can_wait_out = _can_wait(write_fd)
        self._out: deque[memoryview] = deque()
        self.queued = 0
        """Bytes that have not left yet."""
        self._closed = False
        self._broken: OSError | None = None
        self._reading = False
        self._waiters: set[asyncio.Future[None]] = set()
        self._on_data: Callable[[bytes], None] | None = None
        self._on_end: Callable[[Exception | None], None] | None = None
        self._on_drained: Callable[[], None] | None = None

    # DirectStream

    def start(
        self,
        on_data: Callable[[bytes], None],
        on_end: Callable[[Exception | None], None],
        on_drained: Callable[[], None],
    ) -> None:
        """Begin to deliver input."""
        self._on_data, self._on_end, self._on_drained = on_data, on_end, on_drained
        self.resume()

    def pause(self) -> None:
        """Stop delivering input."""
        if self._reading:
            self._reading = False
            if self._can_wait:
                self._loop.remove_reader(self._read_fd)

    def resume(self) -> None:
        """Deliver input again."""
        if self._reading or self._closed or self._on_data is None:
            return
        self._reading = True
        if self._can_wait:
            self._loop.add_reader(self._read_fd, self._readable)
        else:
            self._loop.call_soon(self._read_file)

    def _readable(self) -> None:
        try:
            data = os.read(self._read_fd, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._end(None)
            return
        assert self._on_data is not None
        try:
            self._on_data(data)
        except Exception as error:
            self._end(error)

    def _read_file(self) -> None:
        # A file or null device is always ready, and epoll refuses it.
        if self._reading and not self._closed:
            self._readable()
            if self._reading:
                self._loop.call_soon(self._read_file)

    def _end(self, error: Exception | None) -> None:
        self.pause()
        on_end, self._on_end, self._on_data = self._on_end, None, None
        if on_end is not None:
            on_end(error)

    def write(self, data: bytes) -> None:
        """Write now what the descriptor takes; the rest leaves by itself."""
        if self._closed or self._broken is not None:
            return
        if not self._out:
            try:
                sent = os.write(self._write_fd, data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as error:
                self._break(error)
                return
            if sent == len(data):
                return
            if not self._can_wait_out:
                self.write(data[sent:])
                return
            self._out.append(memoryview(data)[sent:])
            self.queued = len(data) - sent
            self._loop.add_writer(self._write_fd, self._writable)
        else:
            self._out.append(memoryview(data))
            self.queued += len(data)

    def _writable(self) -> None:
        try:
            while self._out:
                chunk = self._out[0]
                sent = os.write(self._write_fd, chunk[:_WRITE_SIZE])
                self.queued -= sent
                if sent == len(chunk):
                    self._out.popleft()
                else:
                    self._out[0] = chunk[sent:]
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._break(error)
            return
        self._loop.remove_writer(self._write_fd)
        self._wake()
        if self._on_drained is not None:
            self._on_drained()

    def _break(self, error: OSError) -> None:
        self._broken = error
        if self._out:
            self._loop.remove_writer(self._write_fd)
            self._out.clear()
        self.queued = 0
        self._wake()
        if self._on_end is not None:
            self._end(ConnectionLost(f"the other end does not read any more ({error.strerror or error})"))
        elif self._on_drained is not None:
            # The input had ended before; whoever waits for the output waits for nothing now.
            self._on_drained()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    # ByteStream

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` at the end."""
        while not self._closed:
            try:
                return os.read(self._read_fd, READ_SIZE)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                return b""
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.add(waiter)
            self._loop.add_reader(self._read_fd, _ready, waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
                if not self._closed:
                    self._loop.remove_reader(self._read_fd)
        return b""

    async def send(self, data: bytes) -> None:
        """Send all of `data`."""
        self.write(data)
        while self.queued and self._broken is None and not self._closed:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
        if self._broken is not None or self._closed:
            raise ConnectionLost("the connection is closed") from self._broken

    async def aclose(self) -> None:
        """Close both directions at once."""
        if self._closed:
            return
        self.pause()
        self._closed = True
        if self._out:
            self._loop.remove_writer(self._write_fd)
            self._out.clear()
        if self._waiters and self._can_wait:
            self._loop.remove_reader(self._read_fd)
        self.queued = 0
        for fd in self._blocking:
            os.set_blocking(fd, True)
        if self._close_fds:
            for fd in {self._read_fd, self._write_fd}:
                os.close(fd)
        self._wake()
        self._end(None)


def _ready(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


def _can_wait(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return True
    return stat.S_ISCHR(mode) and os.isatty(fd)
