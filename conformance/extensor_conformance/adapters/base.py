"""What a wire can express, and how a connection over it is opened."""

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from extensor_conformance.subject import Subject

if TYPE_CHECKING:
    from extensor_conformance.connection import Connection
    from extensor_conformance.watch import Watch


class Feature(StrEnum):
    """Something that a rule needs a wire to have. The value completes "the wire has no …"."""

    RAW_FRAMES = "raw JSON-RPC frames"
    HEADERS = "framing with headers"
    BATCH = "batches"
    NOTIFICATIONS = "notifications"
    IDS = "request ids"
    HANDSHAKE = "handshake"
    TYPES = "types that can be asked for"
    CANCEL = "cancelling"
    DEADLINE = "deadlines"
    CONCURRENCY = "concurrent calls on one connection"
    UNKNOWN_MARKERS = "unknown values"
    PREVIEW_METADATA = "preview metadata"
    CONFIG_ID = "configId"
    ERROR_PATHS = "paths in errors"
    SHUTDOWN = "shutdown call"
    EOF = "end of input"
    STDOUT = "standard output that carries frames"
    STDERR = "standard error that the kit can read"
    SOCKET = "address that several clients can reach"
    TOKEN = "token"  # noqa: S105 - a word for people


class Adapter(Protocol):
    """A wire."""

    @property
    def name(self) -> str:
        """For people: ``stdio``, ``unix``, ``tcp``."""
        ...

    @property
    def features(self) -> frozenset[Feature]:
        """What it can express."""
        ...

    def open(self, subject: Subject, watch: "Watch", *, name: str = "1", start_timeout: float) -> "Connection":
        """Start or reach the provider; nothing is sent. Raises `StartFailed` with the reason."""
        ...
