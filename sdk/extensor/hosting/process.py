"""A provider's process: started in a group of its own, watched, drained, and ended with all that it started."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from extensor.errors import StartFailed
from extensor.hosting.tail import StderrTail
from extensor.hosting.timeouts import StopLadder

_CHUNK = 65536
_LAST_CHUNKS = 64
"""How much is read after the exit, in chunks: a grandchild that floods the pipe must not hold us."""


class ProviderProcess:
    """One process and its group, with the host's ends of its three pipes.

    Start it with `launch`; then `watch` has to run until it returns, which it does when the process has gone.
    """

    def __init__(self, popen: subprocess.Popen[bytes], stdin: int, stdout: int, stderr: int, tail: StderrTail) -> None:
        self.stdin = stdin
        """Write end of the child's standard input; whoever makes a stream of it closes it."""
        self.stdout = stdout
        """Read end of its standard output; likewise."""
        self.tail = tail
        self.exited = anyio.Event()
        """Set when the process has gone, its group is ended and its last stderr is in the tail."""
        self._popen = popen
        self._stderr = stderr

    @classmethod
    def launch(
        cls, name: str, argv: Sequence[str], cwd: Path | None, env: Mapping[str, str], tail: StderrTail
    ) -> "ProviderProcess":
        """Start it. Raises `StartFailed` when the system refuses."""
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for child_reads in (True, False, False):
                reading, writing = os.pipe()
                theirs.append(reading if child_reads else writing)
                ours.append(writing if child_reads else reading)
            popen = subprocess.Popen(
                argv,
                stdin=theirs[0],
                stdout=theirs[1],
                stderr=theirs[2],
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            for fd in ours:
                os.close(fd)
            raise StartFailed(f"provider {name} could not be started: {_reason(error, argv, cwd)}") from error
        finally:
            for fd in theirs:
                os.close(fd)
        stdin, stdout, stderr = ours
        os.set_blocking(stderr, False)
        return cls(popen, stdin, stdout, stderr, tail)

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its group and session."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """Exit code, negative for a signal; ``None`` while it runs."""
        return self._popen.returncode

    async def watch(self) -> None:
        """Drain stderr until the process has gone; then end what is left of its group and set `exited`."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._drain)
            await self._gone()
            group.cancel_scope.cancel()
        _kill_group(self._popen.pid, signal.SIGKILL)  # before it is reaped, while its id cannot mean anything else
        self._popen.wait()
        self._read_rest()
        os.close(self._stderr)
        self.tail.end()
        self.exited.set()

    async def stop(self, ladder: StopLadder) -> bool:
        """The ladder below the closed input, which is the caller's to close: wait, terminate, wait, kill, wait.

        Whether the process has gone. Takes `ladder.total` at most. `watch` must be running.
        """
        for sign, patience in (
            (None, ladder.after_close),
            (signal.SIGTERM, ladder.after_terminate),
            (signal.SIGKILL, ladder.after_kill),
        ):
            if sign is not None:
                self._signal_group(sign)
            with anyio.move_on_after(patience):
                await self.exited.wait()
            if self.exited.is_set():
                return True
        return False

    def kill(self) -> None:
        """SIGKILL to the whole group, at once."""
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, sign: signal.Signals) -> None:
        if self._popen.returncode is None:
            _kill_group(self._popen.pid, sign)

    async def _gone(self) -> None:
        try:
            pidfd = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):  # other systems, old kernels
            await anyio.to_thread.run_sync(self._wait, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))
            return
        try:
            await anyio.wait_readable(pidfd)
        finally:
            os.close(pidfd)

    def _wait(self) -> None:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._popen.wait()

    async def _drain(self) -> None:
        while True:
            await anyio.wait_readable(self._stderr)
            try:
                chunk = os.read(self._stderr, _CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not chunk:
                return
            self.tail.feed(chunk)

    def _read_rest(self) -> None:
        for _ in range(_LAST_CHUNKS):
            try:
                chunk = os.read(self._stderr, _CHUNK)
            except OSError:  # nothing there for now, from somebody who holds the pipe
                return
            if not chunk:
                return
            self.tail.feed(chunk)


def _kill_group(group: int, sign: signal.Signals) -> None:
    try:
        os.killpg(group, sign)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left, or only those who took other rights: there is nothing more that we may do


def _reason(error: OSError | ValueError, argv: Sequence[str], cwd: Path | None) -> str:
    if isinstance(error, ValueError):
        return f"{error} in its command or environment"
    if cwd is not None and not cwd.is_dir():
        return f"its working directory {cwd} is not there"
    return f"{argv[0]}: {error.strerror or error}"
