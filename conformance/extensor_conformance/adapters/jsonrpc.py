"""JSON-RPC over two descriptors: one reader thread, any number of callers, and the freedom to send anything."""

import itertools
import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from extensor.contract import (
    VERB_BY_METHOD,
    ContractViolation,
    InitializeParams,
    InitializeResult,
    Json,
    JsonObject,
    Verb,
)
from extensor.contract.handshake import CANCEL, GET_TYPE_FILES, INITIALIZE, LIST_TYPES, PING, SHUTDOWN
from extensor_conformance.adapters.correlator import Correlator, RpcPending
from extensor_conformance.adapters.framing import Framer, Framing, Garbage, frame
from extensor_conformance.adapters.link import Link
from extensor_conformance.adapters.messages import answer_of, params_of, read, written
from extensor_conformance.adapters.opening import Opening
from extensor_conformance.adapters.process import Process
from extensor_conformance.adapters.reader import Reader
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer, NotExpressible
from extensor_conformance.connection import Connection, Hello, Pending, VerbCall
from extensor_conformance.monitors.base import Exchange
from extensor_conformance.verdicts import Failed, Problem

CLIENT = ("provider-conformance", "1")
_SHOWN = 4096
"""Bytes of what is no JSON that are kept."""
_END_SECONDS = 1.5
_KEPT_NOTIFICATIONS = 1000


class JsonRpcConnection(Connection):
    """Over pipes or a socket. `open_another` connects again to the same process, where the wire can."""

    def __init__(
        self,
        wanted: Opening,
        link: Link,
        *,
        process: Process | None = None,
        stderr_fd: int | None = None,
        open_another: "Callable[[str], JsonRpcConnection] | None" = None,
        owns_process: bool = True,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self.name = wanted.name
        self.subject = wanted.subject
        self._watch = wanted.watch
        self._framing: Framing = wanted.framing
        self._link = link
        self._process, self._owns_process = process, owns_process
        self._open_another = open_another
        self._on_close = on_close
        self._outgoing = Framer(wanted.framing)
        self._requests = Correlator()
        self._notes: deque[JsonObject] = deque(maxlen=_KEPT_NOTIFICATIONS)
        self._ids = itertools.count(1)
        self._ended: str | None = None
        self._closed = False
        self._reader = Reader(
            self,
            link.read_fd,
            wanted.framing,
            name=wanted.name,
            process=process,
            stderr_fd=stderr_fd,
            on_fault=wanted.watch.kit_faults.append,
        )
        self._reader.start()

    # -- verbs and greetings ------------------------------------------------------------------------------------------

    def greet(self, versions: Sequence[str] = ("1",), *, timeout: float | None = None, token: str | None = "") -> Hello:
        """See `Connection.greet`."""
        own = self.subject.token if token == "" else token
        params = InitializeParams(tuple(versions), *CLIENT, token=own).to_wire()
        answer = self.request(INITIALIZE, params).answer(timeout)
        if answer.error is not None:
            raise Failed(Problem(f"{INITIALIZE} is refused: {answer.error}"))
        try:
            read = InitializeResult.from_wire(answer.result)
        except ContractViolation as violation:
            raise Failed(
                *(Problem(f"the answer of {INITIALIZE}: {fault.message}", fault.path) for fault in violation.faults)
            ) from None
        told = answer.result.get("capabilities")
        capabilities: JsonObject = told if isinstance(told, dict) else {}
        self.hello = Hello(
            read.protocol_version, read.provider_name, read.provider_version, capabilities, read.limits, answer.result
        )
        return self.hello

    def send_verb(self, call: VerbCall) -> RpcPending:
        """See `Connection.send_verb`."""
        return self.request(call.verb.method, params_of(call, self.hello))

    def ping(self, *, timeout: float | None = None) -> Answer:
        """See `Connection.ping`."""
        return self.request(PING, {}).answer(timeout)

    def list_types(self) -> Answer:
        """See `Connection.list_types`."""
        return self.request(LIST_TYPES, {}).answer()

    def type_files(self) -> Answer:
        """See `Connection.type_files`."""
        return self.request(GET_TYPE_FILES, {}).answer()

    def shutdown(self, *, timeout: float | None = None) -> Answer:
        """See `Connection.shutdown`."""
        return self.request(SHUTDOWN, {}).answer(timeout)

    # -- sending ------------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json = None, *, id: Json = ..., omit_params: bool = False) -> RpcPending:  # noqa: A002
        """See `Connection.request`."""
        number = next(self._ids) if id is ... else id
        message: JsonObject = {"jsonrpc": "2.0", "id": number, "method": method}
        if not omit_params:
            message["params"] = {} if params is None else params
        pending = self._register(message, wild=False)
        self._write_message(message)
        return pending

    def notify(self, method: str, params: Json = None) -> None:
        """See `Connection.notify`."""
        self._write_message({"jsonrpc": "2.0", "method": method, "params": {} if params is None else params})

    def batch(self, messages: Sequence[JsonObject]) -> list[Pending]:
        """See `Connection.batch`."""
        whole = [{"jsonrpc": "2.0", **message} for message in messages]
        pendings: list[Pending] = [self._register(message, wild=False) for message in whole if "id" in message]
        self._write_message(whole)
        return pendings

    def send_raw(self, data: bytes) -> None:
        """See `Connection.send_raw`."""
        self._requests.wild = True
        for piece in self._outgoing.feed(data):
            if isinstance(piece, bytes):
                self._register_wild(piece)
        self._watch.sent(data, self.name, "raw")
        self._write(data)

    def expect(self, id: Json) -> RpcPending:  # noqa: A002
        """See `Connection.expect`."""
        return self._requests.claim(self._pending(Exchange("", None, id, connection=self.name, wild=True)))

    def _pending(self, exchange: Exchange) -> RpcPending:
        return RpcPending(exchange, lambda: self.timeout, lambda id_: self.notify(CANCEL, {"id": id_}))

    def _register(self, message: JsonObject, *, wild: bool) -> RpcPending:
        method = message.get("method")
        verb = VERB_BY_METHOD.get(method) if isinstance(method, str) else None
        params = message.get("params")
        type_ = params.get("type") if verb is not None and isinstance(params, dict) else None
        if verb is not None and verb.mutates and isinstance(params, dict):
            self._watch.mutating(verb, params)
        exchange = Exchange(
            str(method),
            params,
            message.get("id"),
            verb,
            type_ if isinstance(type_, str) else None,
            connection=self.name,
            wild=wild,
        )
        pending = self._pending(exchange)
        self._requests.register(pending)
        return pending

    def _register_wild(self, data: bytes) -> None:
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            return
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, dict) and isinstance(item.get("id"), int | float | str):
                self._register(item, wild=True)
            elif isinstance(item, dict) and item.get("method") in (Verb.SAVE.method, Verb.DELETE.method):
                params = item.get("params")
                if isinstance(params, dict):
                    self._watch.mutating(VERB_BY_METHOD[item["method"]], params)

    def _write_message(self, message: Json) -> None:
        data = written(message)
        self._watch.sent(data, self.name)
        self._write(frame(data, self._framing))

    def _write(self, data: bytes) -> None:
        if self._ended is not None or not self._link.input_open:
            raise ConnectionEnded(self._ended or "the kit has closed the provider's input")
        try:
            self._link.write(data, self.timeout)
        except OSError as error:
            self._reader.join(_END_SECONDS)
            raise ConnectionEnded(self._ended or f"the provider closed its input: {error}") from None

    # -- receiving, on the reader's thread ----------------------------------------------------------------------------

    def take_frame(self, data: bytes) -> None:
        """See `Receiver`."""
        try:
            message = read(data)
        except (ValueError, RecursionError):
            self._watch.garbage(data[:_SHOWN], "no JSON", self.name)
            return
        self._watch.received(data, self.name)
        for item in message if isinstance(message, list) and message else [message]:
            self._take_message(item, data)

    def take_garbage(self, piece: Garbage) -> None:
        """See `Receiver`."""
        self._watch.garbage(piece.data, piece.reason, self.name)

    def take_log(self, before: bytes, data: bytes) -> None:
        """See `Receiver`."""
        self._watch.logged(before, data, self.name)

    def take_end(self, reason: str) -> None:
        """See `Receiver`."""
        self._ended = reason
        self._watch.event(reason, self.name)
        self._requests.end(reason)
        self._watch.ended(self.name)

    def _take_message(self, message: Any, raw: bytes) -> None:
        if not isinstance(message, dict):
            self._watch.stray(message, raw, "it is no object", self.name)
        elif "method" in message:
            self._take_notification(message, raw)
        elif "result" not in message and "error" not in message:
            self._watch.stray(message, raw, "it has neither method, result nor error", self.name)
        else:
            self._take_answer(message, raw)

    def _take_notification(self, message: JsonObject, raw: bytes) -> None:
        self._watch.notified(message, raw, self.name)
        self._notes.append(message)
        if "id" in message:
            error = {"code": -32601, "message": "the kit offers nothing to a provider"}
            try:
                self._write_message({"jsonrpc": "2.0", "id": message["id"], "error": error})
            except (NoAnswer, ConnectionEnded):
                return

    def _take_answer(self, message: JsonObject, raw: bytes) -> None:
        answer = answer_of(message, raw)
        pending, reason = self._requests.match(answer)
        if reason is not None:
            self._watch.stray(message, raw, reason, self.name)
        if pending is not None:
            answer = replace(answer, seconds=time.monotonic() - pending.exchange.sent_at)
            pending.exchange.answer = answer
            self._watch.answered(pending.exchange)
            pending.deliver(answer)

    def notifications(self) -> list[JsonObject]:
        """See `Connection.notifications`."""
        return [self._notes.popleft() for _ in range(len(self._notes))]

    def settle(self, seconds: float) -> None:
        """See `Connection.settle`."""
        self._reader.settle(seconds)

    # -- the process --------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """See `Connection.alive`."""
        return self._ended is None and self._link.input_open

    @property
    def pid(self) -> int | None:
        """See `Connection.pid`."""
        return self._process.pid if self._process else None

    def another(self, name: str) -> "JsonRpcConnection":
        """See `Connection.another`."""
        if self._open_another is None:
            raise NotExpressible("a second client at the same process")
        return self._open_another(name)

    def take_over(self, other: Connection) -> None:
        """See `Connection.take_over`."""
        if not isinstance(other, JsonRpcConnection) or other._process is not self._process:
            raise NotExpressible("a second client at the same process")
        self._owns_process, other._owns_process = other._owns_process, False
        stderr_fd, other._reader.stderr_fd = other._reader.stderr_fd, None
        if stderr_fd is not None:
            self._reader.read_also(stderr_fd)
        self._on_close, other._on_close = other._on_close, None
        other.close(patient=False)

    def close_input(self) -> None:
        """See `Connection.close_input`."""
        self._link.end_input(lambda: self._watch.event("the kit closes the provider's input", self.name))

    def drop(self) -> None:
        """See `Connection.drop`."""
        self._watch.event("the kit drops the link", self.name)
        self._reader.stop()
        self.close_input()
        self._link.close()

    def signal(self, which: Literal["TERM", "KILL", "STOP", "CONT", "INT"]) -> None:
        """See `Connection.signal`."""
        if self._process is None:
            super().signal(which)
            return
        self._watch.event(f"the kit sends SIG{which}", self.name)
        self._process.signal(signal.Signals[f"SIG{which}"])

    def wait_exit(self, timeout: float) -> int | None:
        """See `Connection.wait_exit`."""
        return self._process.wait(timeout) if self._process else super().wait_exit(timeout)

    def children(self) -> list[int]:
        """See `Connection.children`."""
        return self._process.children() if self._process else []

    def stderr(self) -> str:
        """See `Connection.stderr`."""
        return self._reader.log()

    def close(self, *, patient: bool = True) -> None:
        """See `Connection.close`."""
        if self._closed:
            return
        self._closed = True
        self.close_input()
        if self._process is not None and self._owns_process:
            self._process.close(patient=patient, listens=self._link.is_socket)
        self._reader.close()
        self._link.close()
        if self._reader.stderr_fd is not None:
            os.close(self._reader.stderr_fd)
        if self._on_close is not None:
            self._on_close()
