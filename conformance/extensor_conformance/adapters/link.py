"""Where the bytes of a connection go and come from: two pipes, or one socket."""

import os
import select
import socket
import threading
import time
from collections.abc import Callable

from extensor_conformance.answers import NoAnswer

_CHUNK = 65536
_POLL_SECONDS = 0.2


class Link:
    """Two descriptors, neither of which ever blocks. Owns them."""

    def __init__(self, read_fd: int, write_fd: int, sock: socket.socket | None = None) -> None:
        self.read_fd = read_fd
        self._write_fd = write_fd
        self._sock = sock
        self._writing = threading.Lock()
        self.input_open = True
        """Whether the provider's input has not been ended from here."""
        for fd in {read_fd, write_fd}:
            os.set_blocking(fd, False)

    @classmethod
    def of_socket(cls, sock: socket.socket) -> "Link":
        """Both ways over one socket."""
        return cls(sock.fileno(), sock.fileno(), sock)

    @property
    def is_socket(self) -> bool:
        """Whether it is a socket, at which others may be served too."""
        return self._sock is not None

    def write(self, data: bytes, seconds: float) -> None:
        """Write all of it. Raises `NoAnswer` when it is not taken within that time, `OSError` at a closed end."""
        deadline = time.monotonic() + seconds
        view = memoryview(data)
        with self._writing:
            while view:
                try:
                    sent = os.write(self._write_fd, view[:_CHUNK])
                    view = view[sent:]
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise NoAnswer(
                            f"the provider does not read its input: {len(view)} bytes were not taken within "
                            f"{seconds:g} s"
                        ) from None
                    poll = select.poll()
                    poll.register(self._write_fd, select.POLLOUT)
                    poll.poll(min(left, _POLL_SECONDS) * 1000)

    def end_input(self, announce: Callable[[], object]) -> None:
        """End the provider's input; what it still sends can be read. `announce` is called before, the first time."""
        with self._writing:
            if not self.input_open:
                return
            self.input_open = False
            announce()
            if self._sock is not None:
                try:
                    self._sock.shutdown(socket.SHUT_WR)
                except OSError:
                    return
            else:
                os.close(self._write_fd)

    def close(self) -> None:
        """Give up what is read as well; the input has ended before, and nobody reads any more."""
        if self._sock is not None:
            self._sock.close()
        elif self.read_fd >= 0:
            os.close(self.read_fd)
            self.read_fd = -1
