"""Providers as processes on this machine: the default way from a wanted provider to a session."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from extensor.contract import ResourceData, ResourceResult, Verb
from extensor.contract.redaction import Redactor
from extensor.engine.events import OnEvent, OperationProgressed, ProviderLogged, ResourceRef
from extensor.engine.sessions import Connector, Session, Wanted
from extensor.hosting import Host, LogEntry, ProgressNotice, find
from extensor.hosting.notices import OnRetry
from extensor.types import TypeIndex


class HostConnector:
    """Launches what is wanted, in the template's folder."""

    def __init__(self, host: Host, on_event: OnEvent) -> None:
        self._host = host
        self._on_event = on_event

    async def connect(self, wanted: Wanted) -> Session:
        """See `Connector.connect`."""
        under_way: dict[str, ResourceRef] = {}

        def logged(entry: LogEntry) -> None:
            self._on_event(ProviderLogged(wanted.alias, entry.level, entry.message))

        def progressed(notice: ProgressNotice) -> None:
            # A notice names the request of a connection; whose it is shows only while one is under way.
            if len(under_way) == 1:
                (resource,) = under_way.values()
                self._on_event(OperationProgressed(resource, notice.message, notice.percent))
            else:
                self._on_event(ProviderLogged(wanted.alias, "info", notice.message))

        spec = find(wanted.provider, command=wanted.command, cwd=wanted.folder)
        session = await self._host.start(spec, want_version=wanted.version, on_log=logged, on_progress=progressed)
        return _Watched(session, under_way)


class _Watched:
    """A session that knows which resources its calls are about."""

    def __init__(self, session: Session, under_way: dict[str, ResourceRef]) -> None:
        self._session = session
        self._under_way = under_way

    @property
    def name(self) -> str:
        return self._session.name

    @property
    def version(self) -> str | None:
        return self._session.version

    async def types(self) -> TypeIndex:
        return await self._session.types()

    async def perform(
        self, verb: Verb, data: ResourceData, *, budget: float | None, on_retry: OnRetry | None = None
    ) -> ResourceResult:
        key = data.context.request_id or ""
        self._under_way[key] = ResourceRef(data.context.symbolic_name or data.type, data.type)
        try:
            return await self._session.perform(verb, data, budget=budget, on_retry=on_retry)
        finally:
            del self._under_way[key]


@asynccontextmanager
async def connected(connector: Connector | None, on_event: OnEvent, redactor: Redactor) -> AsyncGenerator[Connector]:
    """The connector given, or the default one; providers it started are stopped at the end."""
    if connector is not None:
        yield connector
        return
    async with Host(redactor=redactor) as host:
        yield HostConnector(host, on_event)
