"""The owner of all provider connections: one task group, in one place, that ends them all."""

from functools import partial
from types import TracebackType
from typing import Self

import anyio

from extensor.contract import Limits
from extensor.contract.redaction import Redactor
from extensor.errors import ConnectionFailed, StartFailed
from extensor.hosting.connection import Connection
from extensor.hosting.environment import environment
from extensor.hosting.greeting import Terms
from extensor.hosting.launch import LaunchSpec
from extensor.hosting.listening import Listener
from extensor.hosting.notices import OnLog, OnProgress, TokenSource
from extensor.hosting.process import ProviderProcess
from extensor.hosting.retry import Clock, SystemClock
from extensor.hosting.session import ProviderSession
from extensor.hosting.tail import StderrTail
from extensor.hosting.timeouts import CONNECTING, GREETING, StopLadder
from extensor.rpc import ByteStream, connect_tcp, connect_unix, fd_stream


class Host:
    """An async context manager that starts providers and leaves none behind.

    Its one task group carries every connection, so sessions may be started from any task and closed in any order, and
    their errors come as themselves and never as an `ExceptionGroup`. Leaving the context stops whatever still runs, all
    at the same time, within the ladder's total, also when the body was canceled.
    """

    def __init__(
        self,
        *,
        redactor: Redactor | None = None,
        limits: Limits | None = None,
        ladder: StopLadder | None = None,
        clock: Clock | None = None,
        client: tuple[str, str] = ("extensor", "0"),
        start_timeout: float = GREETING,
    ) -> None:
        """`redactor` masks in logs and tails what it knows or learns; `limits` bound what providers may send.

        `clock` times retries; `client` is the name and version that providers see; `start_timeout` is how many seconds
        a provider has to answer the handshake.
        """
        self.redactor = redactor or Redactor()
        self._limits = limits or Limits()
        self._ladder = ladder or StopLadder()
        self._clock: Clock = clock or SystemClock()
        self._client = client
        self._start_timeout = start_timeout
        self._connections: set[Connection] = set()
        self._group: anyio.abc.TaskGroup | None = None
        self._open = False

    async def __aenter__(self) -> Self:
        group = anyio.create_task_group()
        await group.__aenter__()
        self._group = group
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        group = self._group
        if group is None:
            return
        await self.aclose()
        # The group sees a clean end, whatever the body raised: it would wrap the error. No task is left in it.
        await group.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Stop every provider, start no more. Bounded by the ladder; not cut short when the caller is canceled."""
        self._open = False
        with anyio.CancelScope(shield=True):
            for connection in self._connections:
                connection.close()
            for connection in tuple(self._connections):
                await connection.ended.wait()

    async def start(
        self,
        spec: LaunchSpec,
        *,
        want_version: str | None = None,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        token_source: TokenSource | None = None,
    ) -> ProviderSession:
        """Launch a provider and greet it.

        `want_version` is the version asked for; the provider's own must be equal or greater within the same major
        version.

        Raises `StartFailed` with the exit code and the end of stderr; nothing of the process is left then.
        """
        return await self._started(
            self.lazy(
                spec, want_version=want_version, on_log=on_log, on_progress=on_progress, token_source=token_source
            )
        )

    def lazy(
        self,
        spec: LaunchSpec,
        *,
        want_version: str | None = None,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        token_source: TokenSource | None = None,
    ) -> ProviderSession:
        """A session whose provider is launched by its first call or `start`, which then raise `StartFailed`."""
        terms = Terms(want_version, None, self._client, self._start_timeout)
        listener = Listener(spec.name, self.redactor, on_log, on_progress, token_source)
        return ProviderSession(spec.name, partial(self._launch, spec), terms, listener, self._clock)

    async def connect(
        self,
        address: str,
        token: str | None = None,
        *,
        name: str | None = None,
        want_version: str | None = None,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        token_source: TokenSource | None = None,
    ) -> ProviderSession:
        """Greet a provider that already runs at ``unix:PATH`` or ``tcp:HOST:PORT``. TCP providers ask for a token.

        Its process is not ours: closing the session closes the connection only. Raises `StartFailed`.
        """
        if token is not None:
            self.redactor.add(token)
        label = name or address
        terms = Terms(want_version, token, self._client, self._start_timeout)
        listener = Listener(label, self.redactor, on_log, on_progress, token_source)
        return await self._started(
            ProviderSession(label, partial(self._dial, address, label), terms, listener, self._clock)
        )

    async def _started(self, session: ProviderSession) -> ProviderSession:
        try:
            await session.start()
        except BaseException:
            await session.aclose()
            raise
        return session

    async def _launch(self, spec: LaunchSpec, listener: Listener) -> Connection:
        self._require_open(spec.name)
        tail = StderrTail(self.redactor, listener.on_line)
        process = ProviderProcess.launch(spec.name, spec.argv, spec.cwd, environment(spec.env), tail)
        return self._carry(spec.name, fd_stream(process.stdout, process.stdin), process, listener)

    async def _dial(self, address: str, label: str, listener: Listener) -> Connection:
        self._require_open(label)
        scheme, _, place = address.partition(":")
        host, _, port = place.rpartition(":")
        try:
            with anyio.fail_after(CONNECTING):
                if scheme == "unix" and place:
                    stream = await connect_unix(place)
                elif scheme == "tcp" and host and port.isdecimal():
                    stream = await connect_tcp(host.strip("[]"), int(port))
                else:
                    raise StartFailed(f"{address!r} is no address of a provider; it is unix:PATH or tcp:HOST:PORT")
        except TimeoutError as error:
            raise StartFailed(f"provider {label} at {address} did not accept within {CONNECTING:g} s") from error
        except (OSError, ConnectionFailed) as error:
            raise StartFailed(f"provider {label} at {address} cannot be reached: {error}") from error
        return self._carry(label, stream, None, listener)

    def _require_open(self, name: str) -> None:
        if not self._open:
            raise StartFailed(
                f"provider {name} cannot be started: its host is not open; use `async with Host() as host`"
            )

    def _carry(self, name: str, stream: ByteStream, process: ProviderProcess | None, listener: Listener) -> Connection:
        connection = Connection(name, stream, process, listener=listener, limits=self._limits, ladder=self._ladder)
        self._connections.add(connection)
        assert self._group is not None  # the host is open
        self._group.start_soon(self._run, connection)
        return connection

    async def _run(self, connection: Connection) -> None:
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
