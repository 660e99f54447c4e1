"""What a host tells and asks while providers run: log lines, progress, retries, tokens. Plain data."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeAlias

from extensor.contract import Json, JsonObject, Verb


class CallLabel(NamedTuple):
    """Which call a notice belongs to."""

    method: str
    type: str
    symbolic_name: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line that a provider wrote to stderr or sent as `$/log`, or that the host says about it."""

    provider: str
    source: Literal["stderr", "log", "host"]
    level: str
    """As the provider sent it; for stderr as its line begins, ``error: ``, and ``info`` where it says nothing;
    ``warning`` for the host's own remarks."""
    message: str
    """Without a line end, and without the level where it began the line; known secrets are masked."""
    call: CallLabel | None = None
    """The call it belongs to, when it named one that waits."""


@dataclass(frozen=True, slots=True)
class ProgressNotice:
    """How far a call has come, as its provider says."""

    provider: str
    request_id: Json
    """The id of the request on this connection."""
    message: str
    percent: float | None = None
    call: CallLabel | None = None
    """The call that it is about; ``None`` when no call that waits has that id."""


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """A try failed and another follows. Holds no property values."""

    provider: str
    verb: Verb
    type: str
    symbolic_name: str | None
    attempt: int
    """The number of the try that failed, from 1; looks count."""
    delay: float
    """Seconds until the next step."""
    code: str
    """The failure's word: ``Throttled``, ``ProviderExited``…"""
    message: str
    next: Literal["retry", "look"]
    """``look`` when the outcome is unclear and `get` is asked before another save."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """What a provider asks its host for with `host/acquireToken`."""

    scopes: tuple[str, ...]
    claims: str | None = None
    force_refresh: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """An access token."""

    token: str
    expires_on: datetime
    """With its time zone."""

    def to_wire(self) -> JsonObject:
        """The result of `host/acquireToken`."""
        return {"token": self.token, "expiresOn": self.expires_on.astimezone(UTC).isoformat().replace("+00:00", "Z")}


OnLog: TypeAlias = Callable[[LogEntry], None]
OnProgress: TypeAlias = Callable[[ProgressNotice], None]
OnRetry: TypeAlias = Callable[[RetryNotice], None]
TokenSource: TypeAlias = Callable[[TokenRequest], Awaitable[Token]]
"""Answers a provider's request for a token; an `OperationFailed` it raises reaches the provider as such."""
