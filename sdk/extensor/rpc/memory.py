"""Two ends of a connection inside one process."""

from extensor.errors import ConnectionLost
from extensor.rpc.runtime import Slot, current_runtime
from extensor.rpc.streams import READ_SIZE

_CAPACITY = READ_SIZE


class MemoryStream:
    """A `ByteStream` whose bytes arrive at its `partner`, with the capacity of a pipe."""

    def __init__(self) -> None:
        self.partner: MemoryStream = self
        self._arrived = bytearray()
        self._ended = False
        self._closed = False
        self._changed: list[Slot] = []

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` at the end."""
        while not self._arrived and not self._ended and not self._closed:
            await self._change()
        if self._closed:
            return b""
        data = bytes(self._arrived[:READ_SIZE])
        del self._arrived[:READ_SIZE]
        self._notice()
        return data

    async def send(self, data: bytes) -> None:
        """Send all of `data`."""
        partner = self.partner
        view = memoryview(data)
        while True:
            if self._closed or partner._closed:
                raise ConnectionLost("the other end is closed")
            room = _CAPACITY - len(partner._arrived)
            if room > 0:
                partner._arrived += view[:room]
                view = view[room:]
                partner._notice()
            if not view:
                return
            await partner._change()

    async def aclose(self) -> None:
        """Close both directions at once."""
        self._closed = True
        self.partner._ended = True
        self._notice()
        self.partner._notice()

    async def _change(self) -> None:
        runtime = current_runtime()
        slot = runtime.slot()
        self._changed.append(slot)
        await runtime.wait(slot)

    def _notice(self) -> None:
        changed, self._changed = self._changed, []
        for slot in changed:
            if not slot.done():
                slot.set_result(None)


def memory_pair() -> tuple[MemoryStream, MemoryStream]:
    """Two connected streams."""
    one, other = MemoryStream(), MemoryStream()
    one.partner, other.partner = other, one
    return one, other
