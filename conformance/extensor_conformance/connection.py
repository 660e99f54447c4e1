"""A connection to a provider as checks use it. Every wait is bounded; nothing here knows a wire."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from extensor.contract import Json, JsonObject, Limits, Verb
from extensor_conformance.answers import Answer, NotExpressible


@dataclass(frozen=True, slots=True)
class Hello:
    """What the handshake said."""

    protocol: str
    name: str
    version: str
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    limits: Limits = Limits()
    wire: JsonObject = field(default_factory=dict[str, Json])
    """The answer as it came."""


@dataclass(frozen=True, slots=True)
class VerbCall:
    """A call of one of the four verbs, as `Connection.call_verb` takes it."""

    verb: Verb
    type: str
    properties: Json
    config: JsonObject
    config_id: str | None = None
    context: Mapping[str, Json] | None = None
    provider: str | None = None
    version: str | None = None


class Pending(ABC):
    """A request under way."""

    id: Json
    """The id it was sent with."""

    @abstractmethod
    def answer(self, timeout: float | None = None) -> Answer:
        """Wait for the answer; the connection's own bound when `timeout` is ``None``.

        Raises `NoAnswer` after that time and `ConnectionEnded` when the connection ends first.
        """

    @property
    @abstractmethod
    def answered(self) -> bool:
        """Whether the answer is there."""

    @abstractmethod
    def cancel(self) -> None:
        """Ask the provider to cancel it."""


class Connection(ABC):
    """One connection. Methods that a wire has no form for raise `NotExpressible`."""

    name: str = "1"
    """What transcripts call it."""
    timeout: float = 10.0
    """Seconds that a call waits for its answer."""
    hello: Hello | None = None
    """The handshake's answer, once `greet` was called."""

    # -- what every wire has ------------------------------------------------------------------------------------------

    @abstractmethod
    def greet(self, versions: Sequence[str] = ("1",), *, timeout: float | None = None, token: str | None = "") -> Hello:
        """The handshake. Raises `Failed` when it is refused or its answer is none."""

    @abstractmethod
    def send_verb(self, call: VerbCall) -> Pending:
        """Send a call of a verb."""

    def call_verb(
        self,
        verb: Verb,
        type_: str,
        properties: Json,
        *,
        config: JsonObject | None = None,
        config_id: str | None = None,
        context: Mapping[str, Json] | None = None,
        provider: str | None = None,
        version: str | None = None,
    ) -> Pending:
        """Send one of the four verbs. `properties` and `config` are wire JSON, markers included.

        `provider` and `version` are those of the handshake unless given; `context` is sent only when given.
        """
        return self.send_verb(VerbCall(verb, type_, properties, config or {}, config_id, context, provider, version))

    @abstractmethod
    def ping(self, *, timeout: float | None = None) -> Answer:
        """A call that does nothing."""

    @abstractmethod
    def list_types(self) -> Answer:
        """The types and operations that the provider names."""

    @abstractmethod
    def type_files(self) -> Answer:
        """The schema: ``{"indexFile": text, "typeFiles": {path: text}}``."""

    @abstractmethod
    def close(self, *, patient: bool = True) -> None:
        """End the connection and whatever the kit started for it, by force where needed, within a few seconds.

        `patient` gives the process time to end by itself first.
        """

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether calls can still be made."""

    def call(self, verb: Verb, type_: str, properties: Json, *, timeout: float | None = None, **more: Json) -> Answer:
        """`call_verb` and its answer."""
        return self.call_verb(verb, type_, properties, **more).answer(timeout)

    # -- JSON-RPC -----------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json = None, *, id: Json = ..., omit_params: bool = False) -> Pending:  # noqa: A002
        """Send any request; without `id` the kit counts."""
        raise NotExpressible("free requests")

    def rpc(self, method: str, params: Json = None, *, timeout: float | None = None) -> Answer:
        """`request` and its answer."""
        return self.request(method, params).answer(timeout)

    def notify(self, method: str, params: Json = None) -> None:
        """Send a notification."""
        raise NotExpressible("notifications")

    def batch(self, messages: Sequence[JsonObject]) -> list[Pending]:
        """Send one array; a pending for each member that has an id."""
        raise NotExpressible("batches")

    def send_raw(self, data: bytes) -> None:
        """Put bytes on the wire as they are. Requests among them that can be read get a pending, see `expect`."""
        raise NotExpressible("raw frames")

    def expect(self, id: Json) -> Pending:  # noqa: A002
        """The pending of a request that was sent by `send_raw`; ``None`` for the next answer without an id."""
        raise NotExpressible("raw frames")

    def notifications(self) -> list[JsonObject]:
        """The notifications that came since the last call."""
        return []

    def settle(self, seconds: float) -> None:
        """Let late messages come in: returns when nothing has come for `seconds`, or the connection ended."""
        raise NotExpressible("raw frames")

    # -- the process --------------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int | None:
        """The provider's process, when the kit started it."""
        return None

    def another(self, name: str) -> "Connection":
        """A second connection to the same process, not greeted."""
        raise NotExpressible("a second client at the same process")

    def take_over(self, other: "Connection") -> None:
        """Become the one that ends the process of `other`, which was dropped and is closed."""
        raise NotExpressible("a second client at the same process")

    def shutdown(self, *, timeout: float | None = None) -> Answer:
        """The protocol's call to end."""
        raise NotExpressible("a shutdown call")

    def close_input(self) -> None:
        """End of input for the provider; what it still sends is read."""
        raise NotExpressible("an end of input")

    def drop(self) -> None:
        """Break the link from the kit's side, both ways, without a word; the process is left alone."""
        raise NotExpressible("a link that can break")

    def signal(self, which: Literal["TERM", "KILL", "STOP", "CONT", "INT"]) -> None:
        """Send a signal to the provider's process alone."""
        raise NotExpressible("a process that the kit started")

    def wait_exit(self, timeout: float) -> int | None:
        """The exit code, negative for a signal; ``None`` when it still runs after that time."""
        raise NotExpressible("a process that the kit started")

    def children(self) -> list[int]:
        """Processes of the provider's group or session that are left, its own excluded."""
        return []

    def stderr(self) -> str:
        """The end of what it wrote to stderr, up to 64 KiB."""
        return ""
