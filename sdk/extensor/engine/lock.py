"""One run at a time on one stack: an advisory lock that the operating system releases when its process dies."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from extensor.errors import StateError

_TRIES = 5
_PAUSE_SECONDS = 0.01


class StackLock:
    """Held from `acquire` to `release`, or to the end of the process.

    The file stays behind with the holder's pid in it; it means nothing without the lock on it.
    """

    def __init__(self, state_dir: Path, stack: str) -> None:
        self.path = state_dir / f"{quote(stack, safe='')}.lock"
        self._stack = stack
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock. Raises `StateError` that names the holder's pid when another run has it."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # A reader that looks whether the lock is held takes it for a moment; that is no reason to give up.
        for left in reversed(range(_TRIES)):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if left:
                    time.sleep(_PAUSE_SECONDS)
                    continue
                holder = _pid(fd)
                os.close(fd)
                raise StateError(
                    f"stack {self._stack!r} is in use by process {holder or 'unknown'} (lock {self.path}); "
                    "wait until it has ended, or end it, and try again"
                ) from None
            break
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Give the lock back. Harmless when it is not held."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def holder(self) -> int | None:
        """The pid of the process that holds the lock now, ``None`` when nobody does. Never waits."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            pid = _pid(fd)
            if pid is None or not _alive(pid):
                return None
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return pid
            return None
        finally:
            os.close(fd)

    def __enter__(self) -> "StackLock":
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _pid(fd: int) -> int | None:
    with suppress(ValueError):
        return int(os.pread(fd, 32, 0))
    return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
