"""Providers as a run sees them: started when first needed, once each, all at the same time if need be."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import anyio

from extensor.contract import ResourceData, ResourceResult, Verb
from extensor.engine.events import OnEvent, ProviderFailed, ProviderStarted
from extensor.errors import ExtensorError

if TYPE_CHECKING:
    from extensor.hosting.notices import OnRetry
    from extensor.types import TypeIndex


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which provider is meant: name, least version, command (``None``: the installed one), working directory."""

    alias: str
    provider: str
    version: str
    command: str | None
    folder: Path


class Session(Protocol):
    """A provider that answers. `extensor.hosting.ProviderSession` is one."""

    @property
    def name(self) -> str:
        """The provider's own name."""
        ...

    @property
    def version(self) -> str | None:
        """The provider's own version; ``None`` when it did not say."""
        ...

    async def perform(
        self, verb: Verb, data: ResourceData, *, budget: float | None, on_retry: "OnRetry | None" = None
    ) -> ResourceResult:
        """One verb, with retries by contract; raises the last try's error."""
        ...

    async def types(self) -> "TypeIndex":
        """The provider's types."""
        ...


class Connector(Protocol):
    """Turns a wanted provider into a session. The seam for tests and for providers on other machines."""

    async def connect(self, wanted: Wanted) -> Session:
        """Start or reach it. Raises `ExtensorError`."""
        ...


@dataclass(slots=True)
class _Entry:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    session: Session | None = None
    error: ExtensorError | None = None


class SessionPool:
    """Sessions by wanted provider. A failed start is remembered: it is tried once and told to everyone who asks."""

    def __init__(self, connector: Connector, on_event: OnEvent, *, redact: Callable[[str], str]) -> None:
        self._connector = connector
        self._on_event = on_event
        self._redact = redact
        self._entries: dict[Wanted, _Entry] = {}

    async def session(self, wanted: Wanted) -> Session:
        """The session for a provider. Raises `ExtensorError` when it cannot be started."""
        entry = self._entries.setdefault(wanted, _Entry())
        if entry.session is not None:
            return entry.session
        async with entry.lock:
            if entry.session is None and entry.error is None:
                await self._connect(wanted, entry)
        if entry.session is None:
            raise entry.error or ExtensorError(f"provider {wanted.provider} could not be started")
        return entry.session

    def like(self, wanted: Wanted) -> Wanted:
        """A provider already asked for that is the same but for its alias, else `wanted` itself."""
        key = _key(wanted)
        return next((known for known in self._entries if _key(known) == key), wanted)

    async def _connect(self, wanted: Wanted, entry: _Entry) -> None:
        started = time.monotonic()
        try:
            session = await self._connector.connect(wanted)
        except ExtensorError as error:
            entry.error = error
            self._on_event(ProviderFailed(wanted.alias, wanted.provider, self._redact(str(error))))
            return
        entry.session = session
        self._on_event(
            ProviderStarted(wanted.alias, session.name, session.version or "unknown", time.monotonic() - started)
        )


def _key(wanted: Wanted) -> tuple[str, str, str | None, Path]:
    return wanted.provider.lower(), wanted.version, wanted.command, wanted.folder
