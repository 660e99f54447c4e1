"""The handle on one provider: its verbs, its types, its messages; over as many lives of its process as it takes."""

import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from extensor.contract import (
    ContractViolation,
    ErrorCode,
    Failure,
    Fault,
    Json,
    JsonObject,
    Limits,
    ResourceData,
    ResourceResult,
    RpcCode,
    Verb,
    has_unknown,
)
from extensor.contract.handshake import GET_TYPE_FILES, LIST_TYPES, PING
from extensor.contract.verbs import VERB_BY_WIRE
from extensor.errors import (
    CallTimedOut,
    ConnectionLost,
    OperationFailed,
    ProtocolViolation,
    ProviderExited,
    RpcError,
    StartFailed,
    TypesError,
)
from extensor.hosting.connection import Connection
from extensor.hosting.greeting import Greeting, Terms, greet
from extensor.hosting.listening import Listener
from extensor.hosting.notices import CallLabel, OnRetry
from extensor.hosting.retry import Clock, Operation, shows
from extensor.hosting.timeouts import ANSWER_GRACE, DESCRIBING, PINGING

if TYPE_CHECKING:
    from extensor.types import TypeIndex

_log = logging.getLogger("extensor.hosting")


@dataclass(frozen=True, slots=True)
class ListedType:
    """One type that a provider names in `provider/listTypes`."""

    type: str
    verbs: frozenset[Verb]
    extends: str | None = None


class ProviderSession:
    """A provider one can call. Comes from `Host.start`, `Host.lazy` or `Host.connect`.

    Calls run concurrently, up to the number that the provider declares. When its process has ended, the next call
    starts another one. The session may be closed at any time, in any order with others.
    """

    def __init__(
        self,
        label: str,
        open_connection: Callable[[Listener], Awaitable[Connection]],
        terms: Terms,
        listener: Listener,
        clock: Clock,
    ) -> None:
        self.label = label
        """What the host calls the provider; used in messages."""
        self.recovering = anyio.Lock()
        self._open = open_connection
        self._terms = terms
        self._listener = listener
        self._clock = clock
        self._live: Connection | None = None
        self._greeting: Greeting | None = None
        self._opening = anyio.Lock()
        self._closed = False
        self._slots = anyio.Semaphore(Limits().max_concurrent_requests, fast_acquire=True)
        self._types: TypeIndex | None = None
        self.starts = 0
        """How many processes, or connections, this session has had."""

    @property
    def name(self) -> str:
        """The provider's own name; the host's label for it before the first start and without a handshake."""
        return self._greeting.name if self._greeting is not None else self.label

    @property
    def version(self) -> str | None:
        """The provider's own version; ``None`` before the first start and without a handshake."""
        return self._greeting.version if self._greeting is not None else None

    @property
    def limits(self) -> Limits:
        """What the provider accepts; the protocol's defaults until it has said so."""
        return self._greeting.limits if self._greeting is not None else Limits()

    @property
    def pid(self) -> int | None:
        """The process that runs now, if one does."""
        live = self._live
        return live.process.pid if live is not None and live.process is not None and not live.over else None

    @property
    def returncode(self) -> int | None:
        """How the last process ended: its exit code, negative for a signal; ``None`` while it runs."""
        live = self._live
        return live.process.returncode if live is not None and live.process is not None else None

    @property
    def stderr_tail(self) -> str:
        """The last lines of the present or last process's stderr, secrets masked."""
        live = self._live
        return live.process.tail.text() if live is not None and live.process is not None else ""

    async def start(self) -> None:
        """Start and greet the provider unless it runs. Every call does so by itself. Raises `StartFailed`."""
        await self._connected()

    async def call(self, verb: Verb, data: ResourceData, *, timeout: float | None = None) -> ResourceResult:
        """One try of a verb. `timeout` is in seconds; ``None`` means no limit.

        It travels as the call's deadline unless `data` has one, and the answer is waited for a little longer.

        Raises `OperationFailed` for an error answer, `ProviderExited`, `ConnectionLost` or `CallTimedOut` when there is
        none, `ProtocolViolation` for an answer that is no result, `StartFailed` when the provider had to be started and
        could not be.
        """
        params = data.to_wire()
        patience = None
        if timeout is not None:
            if timeout <= 0:
                raise CallTimedOut(f"no time was left for {verb.method} of {data.type} by provider {self.label}")
            context: JsonObject = params.setdefault("context", {})
            context.setdefault("deadlineSeconds", timeout)
            patience = timeout + ANSWER_GRACE
        method, told = verb.method, data.context
        label = CallLabel(method, data.type, told.symbolic_name, told.request_id)
        wire = await self._request(method, params, patience, label)
        try:
            result = ResourceResult.from_wire(wire)
        except ContractViolation as violation:
            raise ProtocolViolation(
                f"provider {self.label} answered {method} with what is no result: {violation}"
            ) from violation
        if result.properties is None and verb is not Verb.DELETE:
            raise ProtocolViolation(
                f"provider {self.label} answered {method} with null properties, which only a delete may"
            )
        if verb is not Verb.PREVIEW_SAVE and has_unknown(result.properties):
            raise ProtocolViolation(
                f"provider {self.label} answered {method} with an unknown value, which only a preview may"
            )
        return result

    async def perform(
        self, verb: Verb, data: ResourceData, *, budget: float | None, on_retry: OnRetry | None = None
    ) -> ResourceResult:
        """A verb with retry by contract, inside `budget` seconds, waiting included.

        Transient failures are tried again after the time the provider asks for; a provider whose process ended is
        started again; a save whose outcome is unclear is looked at with `get` before it is repeated. Raises what `call`
        raises.
        """
        return await Operation(self, verb, data, budget=budget, on_retry=on_retry, clock=self._clock).perform()

    async def ping(self, *, timeout: float = PINGING) -> None:
        """Return when the provider answers. Raises what `call` raises."""
        await self._ask(PING, timeout)

    async def list_types(self) -> tuple[ListedType, ...]:
        """The types the provider serves, with their verbs."""
        wire = await self._ask(LIST_TYPES, DESCRIBING)
        entries = wire.get("types") if isinstance(wire, dict) else None
        if not isinstance(entries, list) or not all(
            isinstance(entry, dict) and isinstance(entry.get("type"), str) for entry in entries
        ):
            raise ProtocolViolation(f"provider {self.label} answered {LIST_TYPES} with what is no list of types")
        return tuple(
            ListedType(
                entry["type"],
                frozenset(VERB_BY_WIRE[word] for word in entry.get("operations") or () if word in VERB_BY_WIRE),
                entry["extends"] if isinstance(entry.get("extends"), str) else None,
            )
            for entry in entries
        )

    async def types(self) -> "TypeIndex":
        """The provider's types, asked for once. Raises `TypesError` when they cannot be read."""
        if self._types is None:
            from extensor.types import TypeIndex

            wire = await self._ask(GET_TYPE_FILES, DESCRIBING)
            index, files = (wire.get("indexFile"), wire.get("typeFiles")) if isinstance(wire, dict) else (None, None)
            if (
                not isinstance(index, str)
                or not isinstance(files, dict)
                or not all(isinstance(text, str) for text in files.values())
            ):
                raise ProtocolViolation(f"provider {self.label} answered {GET_TYPE_FILES} with what are no type files")
            self._types = TypeIndex.from_files(index, files)
        return self._types

    async def is_shown(self, data: ResourceData, properties: JsonObject) -> bool:
        """Whether a `get` that answers `properties` shows the given ones saved.

        As far as the provider describes the type: write-only properties are shown by no result, and a key more in a map
        is one that the save would have taken out.
        """
        from extensor.types import shape_of

        given = data.properties
        try:
            shape = shape_of((await self.types()).resource(data.type))
        except (OperationFailed, ProtocolViolation, TypesError) as error:
            _log.debug("provider %s does not describe %s: %s", self.label, data.type, error)
            return shows(given, properties)
        given = shape.without_write_only(given)
        return shows(given, properties) and not shape.lost_keys(properties, given)

    async def aclose(self) -> None:
        """Stop the provider and return when nothing of it is left. A second call waits for the same end."""
        self._closed = True
        if self._live is not None:
            self._live.close()
        with anyio.CancelScope(shield=True):  # bounded by the ladder, and by a start that is under way
            async with self._opening:
                live = self._live
            if live is not None:
                live.close()
                await live.ended.wait()

    async def _ask(self, method: str, timeout: float) -> Json:
        return await self._request(method, {}, timeout)

    async def _request(
        self, method: str, params: JsonObject, timeout: float | None, label: CallLabel | None = None
    ) -> Json:
        live = self._live
        if live is None or live.over:
            live = await self._connected()
        if timeout is None:
            return await self._exchange(live, method, params, label)
        with anyio.move_on_after(timeout):  # counts the wait for a turn and for room to send in, too
            return await self._exchange(live, method, params, label)
        raise CallTimedOut(
            f"provider {self.label} did not answer {method} within {timeout:g} s; "
            f"the call was canceled{live.evidence()}"
        )

    async def _exchange(self, live: Connection, method: str, params: JsonObject, label: CallLabel | None) -> Json:
        limited = label is not None  # the verbs; what is asked about a provider is no work for it
        slots = self._slots
        owed = self._listener.owed
        if limited:
            try:
                slots.acquire_nowait()
            except anyio.WouldBlock:
                await slots.acquire()
        owed[method] += 1
        try:
            return await live.peer.call(method, params, label=label)
        except RpcError as error:
            raise self._failed(method, error) from error
        except ValueError as error:  # a value that has no JSON; nothing was sent
            fault = Fault(ErrorCode.INVALID_REQUEST, f"{method} cannot be sent to provider {self.label}: {error}")
            raise OperationFailed.of(Failure((fault,))) from error
        except ConnectionLost as error:
            raise await live.why(error) from error
        except ProtocolViolation as error:
            raise ProtocolViolation(
                f"provider {self.label} broke the protocol while it owed an answer to {method}: {error}"
            ) from error
        finally:
            owed[method] -= 1
            if limited:
                slots.release()

    def _failed(self, method: str, error: RpcError) -> OperationFailed:
        if error.code in (RpcCode.OPERATION_FAILED, RpcCode.CANCELED) or (
            isinstance(error.data, dict) and isinstance(error.data.get("errors"), list)
        ):
            return OperationFailed.of(Failure.from_wire(error.data, error.message))
        code = _CODES.get(error.code, ErrorCode.INTERNAL_ERROR)
        return OperationFailed.of(Failure((Fault(code, f"provider {self.label} refused {method}: {error}"),)))

    async def _connected(self) -> Connection:
        async with self._opening:
            self._require_open()
            live = self._live
            if live is not None:
                if not live.over:
                    return live
                await live.ended.wait()  # so that no two processes of a provider work at the same time
            try:
                connection, greeting = await self._greeted()
            except StartFailed as error:
                if not _was_killed(error):
                    raise
                connection, greeting = await self._greeted()  # whoever killed it, it says nothing about the provider
            if self._greeting is None or greeting.limits != self._greeting.limits:
                self._slots = anyio.Semaphore(greeting.limits.max_concurrent_requests, fast_acquire=True)
            self._greeting = greeting
            connection.peer.max_send_bytes = greeting.limits.max_message_bytes
            return connection

    async def _greeted(self) -> tuple[Connection, Greeting]:
        connection = await self._open(self._listener)
        self._live = connection
        self.starts += 1
        self._require_open()
        try:
            return connection, await greet(connection, self._terms, self._listener.capabilities)
        except StartFailed as error:
            if _was_killed(error):
                await connection.ended.wait()
            raise

    def _require_open(self) -> None:
        if self._closed:
            raise ConnectionLost(f"the session with provider {self.label} is closed")


def _was_killed(error: StartFailed) -> bool:
    """Whether a signal from outside ended the process before it could greet."""
    reason = error.__cause__
    return isinstance(reason, ProviderExited) and reason.returncode in (-signal.SIGKILL, -signal.SIGTERM)


_CODES: dict[int, str] = {
    RpcCode.METHOD_NOT_FOUND: ErrorCode.OPERATION_NOT_SUPPORTED,
    RpcCode.INVALID_PARAMS: ErrorCode.INVALID_REQUEST,
    RpcCode.INVALID_REQUEST: ErrorCode.INVALID_REQUEST,
    RpcCode.PARSE_ERROR: ErrorCode.INVALID_REQUEST,
    RpcCode.MESSAGE_TOO_LARGE: "MessageTooLarge",  # the call or its answer, in which case it was carried out
}
"""The contract's word for a JSON-RPC error that brings none; `InternalError` for all others."""
