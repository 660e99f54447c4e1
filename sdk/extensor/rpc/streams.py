"""What a peer needs of a connection: bytes in, bytes out, an end."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

READ_SIZE = 64 * 1024
"""Bytes asked for in one read. A pipe holds 64 KiB; a larger buffer costs more than the read it saves."""


class ByteStream(Protocol):
    """A full-duplex binary connection. One task may receive while another sends."""

    async def receive(self) -> bytes:
        """The next bytes, at most `READ_SIZE`; ``b""`` at the end of input and after `aclose`."""
        ...

    async def send(self, data: bytes) -> None:
        """Send all of `data`; returns when it is taken. Raises `ConnectionLost` when the other end is gone."""
        ...

    async def aclose(self) -> None:
        """Close both directions at once. Never raises; a second call does nothing."""
        ...


@runtime_checkable
class DirectStream(ByteStream, Protocol):
    """A stream that delivers and writes from event loop callbacks, without a task switch for each message.

    Streams on asyncio offer it; a peer uses it when it is there and falls back to `receive` and `send` when it is not.
    """

    def start(
        self,
        on_data: Callable[[bytes], None],
        on_end: Callable[[Exception | None], None],
        on_drained: Callable[[], None],
    ) -> None:
        """Begin to deliver input. `on_end` comes once; `on_drained` each time that waiting output has left."""
        ...

    def write(self, data: bytes) -> None:
        """Write now what the transport takes; the rest waits in `queued` and leaves by itself, in order."""
        ...

    @property
    def queued(self) -> int:
        """Bytes accepted by `write` that have not left yet."""
        ...

    def pause(self) -> None:
        """Stop delivering input until `resume`."""
        ...

    def resume(self) -> None:
        """Deliver input again."""
        ...
