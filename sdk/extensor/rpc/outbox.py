"""The way out of a peer: frames in order, several in one write, and word when the other side does not keep up."""

from collections.abc import Callable
from time import monotonic

from extensor.errors import ConnectionLost
from extensor.rpc.runtime import Runtime, Slot
from extensor.rpc.streams import ByteStream, DirectStream

HIGH_WATER_BYTES = 1024 * 1024
"""Output waiting above this stops new calls and answers, and, where answers are what waits, the reading of requests."""

FLUSH_BYTES = 16 * 1024
"""Output of one turn of the loop leaves at the latest when this much waits, so that the other side starts meanwhile."""


class Outbox:
    """Queues frames for one stream.

    `on_lost` is called once when the stream does not take output any more; later frames are dropped. `on_room` is
    called whenever waiting output has left.
    """

    def __init__(
        self,
        runtime: Runtime,
        stream: ByteStream,
        on_lost: Callable[[Exception | None], None],
        on_room: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._stream = stream
        self._direct = stream if isinstance(stream, DirectStream) and runtime.soon(_nothing) else None
        self._on_lost = on_lost
        self._on_room = on_room
        self._frames: list[bytes] = []
        self._waiting = 0
        self._sending = 0
        self._scheduled = False
        self._answers_bytes = 0
        self.answers_wait = False
        """Whether so many answers wait that no request should be read."""
        self._wake: Slot | None = None
        self._room: list[Slot] = []
        self.lost = False
        self.gathering = False
        """Whether more frames are about to come, and a `flush` after them: until then they wait for one write."""

    @property
    def size(self) -> int:
        """Bytes that have not left yet."""
        return self._waiting + (self._sending if self._direct is None else self._direct.queued)

    def _count(self, answer: int) -> None:
        self._answers_bytes += answer
        self.answers_wait = self._answers_bytes > HIGH_WATER_BYTES

    def post(self, frame: bytes, *, now: bool, answer: bool = False) -> None:
        """Queue a frame. `now` writes at once; otherwise all frames of this turn of the loop leave in one write."""
        if self.lost:
            return
        direct = self._direct
        now = now and not self.gathering
        if now and direct is not None and not self._frames:
            self._write(direct, frame)
            if answer and direct.queued:
                self._count(len(frame))
            return
        if answer:
            self._count(len(frame))
        self._frames.append(frame)
        self._waiting += len(frame)
        if direct is not None:
            if now or self._waiting >= FLUSH_BYTES:
                self.flush()
            elif not self._scheduled and not self.gathering:
                self._scheduled = self._runtime.soon(self.flush)
        elif self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def flush(self) -> None:
        """Hand everything queued to a direct stream."""
        self._scheduled = False
        frames = self._frames
        if not frames or self._direct is None:
            return
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        frames.clear()
        self._waiting = 0
        self._write(self._direct, data)

    def _write(self, direct: DirectStream, data: bytes) -> None:
        direct.write(data)
        if not direct.queued:
            self.drained()

    def drained(self) -> None:
        """All output has left."""
        self._answers_bytes = 0
        self.answers_wait = False
        if self._room:
            room, self._room = self._room, []
            for slot in room:
                if not slot.done():
                    slot.set_result(None)
        self._on_room()

    async def room(self, timeout: float | None = None, *, holding: int = 0) -> None:
        """Wait until less than `HIGH_WATER_BYTES` wait. Returns at once when the stream is lost.

        `holding` is the size of an answer that waits here, and counts as if it were queued. Raises `TimeoutError`
        after `timeout` seconds.
        """
        end = None if timeout is None else monotonic() + timeout
        while self.size > HIGH_WATER_BYTES and not self.lost:
            self._count(holding)
            await self._next_drain(None if end is None else max(0.0, end - monotonic()))

    async def _next_drain(self, timeout: float | None) -> None:
        slot = self._runtime.slot()
        self._room.append(slot)
        try:
            await self._runtime.wait(slot, timeout)
        except BaseException:
            if slot in self._room:
                self._room.remove(slot)
            raise

    async def emptied(self, timeout: float | None) -> None:
        """Wait until everything left, at most `timeout` seconds if given. Returns also when the stream is lost."""
        self.flush()
        end = None if timeout is None else monotonic() + timeout
        while self.size and not self.lost:
            try:
                await self._next_drain(None if end is None else max(0.0, end - monotonic()))
            except TimeoutError:
                return

    async def write_loop(self) -> None:
        """Send what is queued until the stream is lost; only for streams that are not direct."""
        while not self.lost:
            if not self._frames:
                self._wake = self._runtime.slot()
                await self._runtime.wait(self._wake)
                continue
            data = b"".join(self._frames)
            self._frames.clear()
            self._sending, self._waiting = len(data), 0
            try:
                await self._stream.send(data)
            except ConnectionLost as error:
                self.lose(error)
                return
            self._sending = 0
            if not self._waiting:
                self.drained()

    @property
    def needs_loop(self) -> bool:
        """Whether `write_loop` must run."""
        return self._direct is None

    def lose(self, error: Exception | None) -> None:
        """Drop everything queued and all that comes."""
        if self.lost:
            return
        self.lost = True
        self._frames.clear()
        self._waiting = self._sending = 0
        self.drained()
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
        self._on_lost(error)


def _nothing() -> None: ...
