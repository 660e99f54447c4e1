"""The thread that reads a connection: frames, the provider's log, its exit, and the kit's own wish to stop."""

import os
import select
import threading
import time
from collections.abc import Callable
from typing import Protocol

from extensor_conformance.adapters.framing import Framer, Framing, Garbage
from extensor_conformance.adapters.process import MAX_STDERR, Process
from extensor_conformance.answers import LOG_FOLLOWS

_CHUNK = 65536
_LOOK, _STOP = b"l", b"s"
"""What wakes the reader: there is another descriptor to read, or nothing is to be read any more."""
_SEAM = 256
"""Bytes of the log that are shown again with the next ones, so that nothing hides in the seam."""
_AFTER_EXIT_SECONDS = 0.5
"""A process that has gone may have left a pipe full; somebody else may hold it open for ever."""


class Receiver(Protocol):
    """Who is told, on the reader's thread."""

    def take_frame(self, data: bytes) -> None:
        """A whole frame."""

    def take_garbage(self, piece: Garbage) -> None:
        """Bytes that are no frame."""

    def take_log(self, before: bytes, data: bytes) -> None:
        """What came on stderr, and the end of what came before."""

    def take_end(self, reason: str) -> None:
        """Nothing more will come."""


class Reader:
    """Reads until the end, or until `stop`."""

    def __init__(
        self,
        receiver: Receiver,
        read_fd: int,
        framing: Framing,
        *,
        name: str,
        process: Process | None,
        stderr_fd: int | None,
        on_fault: Callable[[str], None],
    ) -> None:
        self.stderr_fd = stderr_fd
        """Read too; whoever made it closes it."""
        self._receiver = receiver
        self._read_fd = read_fd
        self._framer = Framer(framing)
        self._process = process
        self._on_fault = on_fault
        self._log = bytearray()
        self._wake_read, self._wake_write = os.pipe()
        self._last_came = time.monotonic()
        self._came = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._run, name=f"connection {name}", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def read_also(self, stderr_fd: int) -> None:
        """From now on read this stderr too."""
        self.stderr_fd = stderr_fd
        os.write(self._wake_write, _LOOK)

    def stop(self) -> None:
        """Read no more; returns when the thread has ended."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            os.write(self._wake_write, _STOP)
            self._thread.join(5)

    def close(self) -> None:
        """Stop, and give the reader's own descriptors back. Once."""
        self.stop()
        os.close(self._wake_write)
        os.close(self._wake_read)

    def join(self, timeout: float) -> None:
        """Wait for the end of what is read."""
        self._thread.join(timeout)

    def settle(self, seconds: float) -> None:
        """Returns when nothing has come for so long, or nothing more will."""
        with self._came:
            start = time.monotonic()
            while not self._over:
                quiet = time.monotonic() - max(self._last_came, start)
                if quiet >= seconds:
                    return
                self._came.wait(seconds - quiet)

    def log(self) -> str:
        """The end of what came on stderr."""
        return bytes(self._log[-MAX_STDERR:]).decode("utf-8", "backslashreplace")

    def _run(self) -> None:
        try:
            reason = self._read_until_end()
        except Exception as error:  # noqa: BLE001, RUF100 - callers must not wait for a reader that has died
            reason = f"the kit's reader failed: {error!r}"
            self._on_fault(reason)
        self._receiver.take_end(reason)
        with self._came:
            self._over = True
            self._came.notify_all()

    def _read_until_end(self) -> str:
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        poll.register(self._read_fd, select.POLLIN)
        if self.stderr_fd is not None:
            poll.register(self.stderr_fd, select.POLLIN)
        exit_fd = self._exit_fd()
        if exit_fd is not None:
            poll.register(exit_fd, select.POLLIN)
        try:
            return self._loop(poll, exit_fd)
        finally:
            if exit_fd is not None:
                os.close(exit_fd)

    def _loop(self, poll: select.poll, exit_fd: int | None) -> str:
        ending: float | None = None
        while True:
            ready = {fd for fd, _ in poll.poll(None if ending is None else 50)}
            if self._wake_read in ready:
                if os.read(self._wake_read, 1) == _STOP:
                    return "the kit closed the connection"
                if self.stderr_fd is not None:
                    poll.register(self.stderr_fd, select.POLLIN)
            if self.stderr_fd is not None and self.stderr_fd in ready and not self._read_log(self.stderr_fd):
                poll.unregister(self.stderr_fd)
            if self._read_fd in ready and not self._read_some():
                return self._how_it_ended()
            if exit_fd is not None and exit_fd in ready:
                poll.unregister(exit_fd)
                ending = time.monotonic() + _AFTER_EXIT_SECONDS
            if ending is not None and self._read_fd not in ready and time.monotonic() >= ending:
                return self._how_it_ended()

    def _exit_fd(self) -> int | None:
        if self._process is None:
            return None
        try:
            return os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):  # other systems, old kernels: the end of the pipe has to do
            return None

    def _read_some(self) -> bool:
        try:
            data = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        for piece in self._framer.feed(data) if data else self._framer.end():
            if isinstance(piece, Garbage):
                self._receiver.take_garbage(piece)
            else:
                self._receiver.take_frame(piece)
        with self._came:
            self._last_came = time.monotonic()
            self._came.notify_all()
        return bool(data)

    def _read_log(self, fd: int) -> bool:
        try:
            data = os.read(fd, _CHUNK)
        except OSError:
            return False
        if not data:
            return False
        before = bytes(self._log[-_SEAM:])
        self._log += data
        if len(self._log) > 2 * MAX_STDERR:
            del self._log[:-MAX_STDERR]
        self._receiver.take_log(before, data)
        return True

    def _how_it_ended(self) -> str:
        if self._process is None:
            return "the provider closed the connection"
        code = self._process.wait(_AFTER_EXIT_SECONDS)
        while self.stderr_fd is not None and _readable(self.stderr_fd) and self._read_log(self.stderr_fd):
            pass
        if code is None:
            ended = "the provider closed its output and still runs"
        elif code < 0:
            ended = f"the provider was ended by {_signal_name(-code)}"
        else:
            ended = f"the provider ended with exit code {code}"
        tail = self.log().strip()[-2000:]
        return f"{ended}{LOG_FOLLOWS}{tail}" if tail else ended


def _signal_name(number: int) -> str:
    from signal import Signals

    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
