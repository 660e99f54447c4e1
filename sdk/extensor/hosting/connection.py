"""One life of a provider as its host sees it: a peer and, unless it was running before, a process; and how it ends.

A connection's `run` is a task of the `Host`. It is the only one that closes anything; everybody else asks it to.
"""

import logging

import anyio

from extensor.contract import Json, Limits
from extensor.errors import ConnectionLost, ProviderExited
from extensor.hosting.listening import Listener
from extensor.hosting.process import ProviderProcess
from extensor.hosting.timeouts import FAILED_START, FAREWELL, StopLadder
from extensor.rpc import ByteStream, Peer

_log = logging.getLogger("extensor.hosting")


class Connection:
    """A peer with whatever has to go when it goes."""

    def __init__(
        self,
        name: str,
        stream: ByteStream,
        process: ProviderProcess | None,
        *,
        listener: Listener,
        limits: Limits,
        ladder: StopLadder,
    ) -> None:
        self.name = name
        self.process = process
        self.stray: str | None = None
        """The last thing on the stream that was no message, in words, with its first bytes."""
        self.peer = Peer(
            stream,
            listener.serve,
            framing="lines",
            limits=limits,
            on_notification=self._noticed,
            on_violation=self._strayed,
            mask=listener.redactor.text,
        )
        self._listener = listener
        self.ended = anyio.Event()
        """Set when nothing of it is left: no task, no descriptor, no process."""
        self._ladder = ladder
        self._over = anyio.Event()
        self._read_all = anyio.Event()
        self._closing = False

    @property
    def over(self) -> bool:
        """Whether no further call can succeed."""
        return self._over.is_set()

    def close(self, ladder: StopLadder | None = None) -> None:
        """Ask for the end; `ended` tells when it is there. May be called any number of times, from any task."""
        if not self._over.is_set():
            self._closing = True
            self._ladder = ladder or self._ladder
            self._over.set()

    async def run(self) -> None:
        """Carry the connection until it ends or is closed, then leave nothing behind. Raises nothing.

        Shielded: a cancelled host ends its connections by `close`, in order, and not by tearing their tasks.
        """
        try:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._read)
                    if self.process is not None:
                        group.start_soon(self._watch, self.process)
                    await self._over.wait()
                    await self._end()
                    group.cancel_scope.cancel()
        finally:
            self._over.set()
            self.ended.set()

    async def why(self, lost: ConnectionLost) -> ConnectionLost:
        """What to tell a caller whose call was lost: the exit, its code and the tail of stderr, if it has ended."""
        self._over.set()  # the peer says so before its task has had the time to
        if self._closing:
            return ConnectionLost(f"the session with provider {self.name} was closed before the answer came")
        if self.process is None:
            return ConnectionLost(f"the connection to provider {self.name} ended before the answer came ({lost})")
        with anyio.move_on_after(FAREWELL):
            await self.process.exited.wait()
        if self.process.exited.is_set():
            return ProviderExited(self.name, self.process.returncode, self.process.tail.text())
        return ConnectionLost(
            f"provider {self.name} closed its output before the answer came, and ran on{self.evidence()}"
        )

    def evidence(self) -> str:
        """What else may explain a failure, to follow its message: stray output, the end of stderr. May be empty."""
        parts = [f"; its stdout held something that is no message: {self.stray}"] if self.stray else []
        tail = self.process.tail.text() if self.process is not None else ""
        if tail.strip():
            parts.append(f"; the end of its stderr:\n{tail}")
        return "".join(parts)

    @property
    def echoes(self) -> bool:
        """Whether the other end sends our own requests back."""
        return self._listener.echoed

    def beginning(self) -> str:
        """How the other end's output begins, to follow a message, secrets masked; says so when there is none."""
        begins = self.peer.beginning()
        return "; it has written nothing to its stdout" if begins is None else f"; its stdout begins with {begins}"

    def _noticed(self, method: str, params: Json) -> None:
        self._listener.on_notification(method, params, self.peer.label_of)

    def _strayed(self, text: str) -> None:
        self.stray = text
        self._listener.on_stray(text)

    async def _read(self) -> None:
        try:
            await self.peer.run()
        except Exception:
            _log.exception("reading from provider %s failed", self.name)
        finally:
            self._read_all.set()
            self._over.set()

    async def _watch(self, process: ProviderProcess) -> None:
        try:
            await process.watch()
        except Exception:
            _log.exception("watching the process of provider %s failed", self.name)
            process.kill()
        finally:
            self._over.set()

    async def _end(self) -> None:
        process = self.process
        if process is not None and not self._closing:
            with anyio.move_on_after(FAREWELL):  # its end has two halves, exit and end of output; the other one is near
                await process.exited.wait()
                await self._read_all.wait()
            if process.exited.is_set():
                self.peer.fail_pending(ProviderExited(self.name, process.returncode, process.tail.text()))
            else:
                self._ladder = FAILED_START
        with anyio.move_on_after(FAREWELL):
            await self.peer.aclose()
        if process is not None and not await process.stop(self._ladder):
            _log.warning("provider %s, process %d, did not end when killed", self.name, process.pid)
