"""Providers as processes on this machine: the default way from a wanted provider to a session."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from extensor.contract.redaction import Redactor
from extensor.engine.events import OnEvent, ProviderLogged
from extensor.engine.sessions import Connector, Session, Wanted
from extensor.hosting import Host, LogEntry, find


class HostConnector:
    """Launches what is wanted, in the template's folder."""

    def __init__(self, host: Host, on_event: OnEvent) -> None:
        self._host = host
        self._on_event = on_event

    async def connect(self, wanted: Wanted) -> Session:
        """See `Connector.connect`."""

        def logged(entry: LogEntry) -> None:
            self._on_event(ProviderLogged(wanted.alias, entry.level, entry.message))

        spec = find(wanted.provider, command=wanted.command, cwd=wanted.folder)
        return await self._host.start(spec, want_version=wanted.version, on_log=logged)


@asynccontextmanager
async def connected(connector: Connector | None, on_event: OnEvent, redactor: Redactor) -> AsyncGenerator[Connector]:
    """The connector given, or the default one; providers it started are stopped at the end."""
    if connector is not None:
        yield connector
        return
    async with Host(redactor=redactor) as host:
        yield HostConnector(host, on_event)
