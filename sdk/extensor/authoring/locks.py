"""One writer at a time for each identity."""

from collections import deque
from collections.abc import Hashable

from extensor.rpc.runtime import Runtime, Slot


class IdentityLocks:
    """A lock for each name that someone holds, and none for any other. First come, first served."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._held: dict[Hashable, deque[_Waiter]] = {}

    async def acquire(self, identity: Hashable) -> None:
        """Wait until nobody else holds `identity`, and hold it."""
        waiters = self._held.get(identity)
        if waiters is None:
            self._held[identity] = deque()
            return
        waiter = _Waiter(self._runtime.slot())
        waiters.append(waiter)
        try:
            await self._runtime.wait(waiter.slot)
        except BaseException:
            waiter.gone = True
            if waiter.granted:
                self.release(identity)
            raise

    def release(self, identity: Hashable) -> None:
        """Hand the lock to who waits longest. Call it on the event loop's thread."""
        waiters = self._held[identity]
        while waiters:
            if waiters.popleft().grant():
                return
        del self._held[identity]

    def __len__(self) -> int:
        return len(self._held)


class _Waiter:
    __slots__ = ("gone", "granted", "slot")

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.granted = False
        self.gone = False

    def grant(self) -> bool:
        if self.gone or self.slot.done():  # its task is being canceled
            return False
        self.granted = True
        self.slot.set_result(None)
        return True
