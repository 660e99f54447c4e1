"""JSON-RPC over two descriptors: one reader thread, any number of callers, and the freedom to send anything."""

import itertools
import json
import os
import select
import signal
import socket
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
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
from extensor.contract.handshake import (
    CANCEL,
    GET_TYPE_FILES,
    INITIALIZE,
    LIST_TYPES,
    PING,
    SHUTDOWN,
)
from extensor_conformance.adapters.framing import Framer, Framing, Garbage, frame
from extensor_conformance.adapters.process import MAX_STDERR, Process
from extensor_conformance.answers import Answer, ConnectionEnded, ErrorAnswer, NoAnswer, NotExpressible
from extensor_conformance.connection import Connection, Hello, Pending
from extensor_conformance.monitors.base import Exchange
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Failed, Problem
from extensor_conformance.watch import Watch

CLIENT = ("provider-conformance", "1")
_CHUNK = 65536
_LOOK, _STOP = b"l", b"s"
"""What wakes the reader: there is another descriptor to read, or nothing is to be read any more."""
_REMEMBERED = 1000
_SEAM = 256
_AFTER_EXIT_SECONDS = 0.5
_KEPT_NOTIFICATIONS = 1000


class RpcPending(Pending):
    """A request that was sent, or is awaited after raw bytes."""

    def __init__(self, connection: "JsonRpcConnection", exchange: Exchange) -> None:
        self.id = exchange.id
        self.exchange = exchange
        self._connection = connection
        self._done = threading.Event()
        self._ended: str | None = None

    def deliver(self, answer: Answer) -> None:
        """The answer came."""
        self.exchange.answer = answer
        self._done.set()

    def end(self, reason: str) -> None:
        """It will never come."""
        self._ended = reason
        self._done.set()

    @property
    def answered(self) -> bool:
        """Whether the answer is there."""
        return self.exchange.answer is not None

    def answer(self, timeout: float | None = None) -> Answer:
        """See `Pending.answer`."""
        patience = self._connection.timeout if timeout is None else timeout
        if not self._done.wait(patience):
            raise NoAnswer(f"{self.exchange.method or 'the message'} was not answered within {patience:g} s")
        if self.exchange.answer is None:
            raise ConnectionEnded(self._ended or "the connection ended")
        return self.exchange.answer

    def cancel(self) -> None:
        """See `Pending.cancel`."""
        self._connection.notify(CANCEL, {"id": self.id})


class JsonRpcConnection(Connection):
    """Over pipes or a socket. `open_another` connects again to the same process, where the wire can."""

    def __init__(
        self,
        subject: Subject,
        watch: Watch,
        *,
        name: str,
        read_fd: int,
        write_fd: int,
        process: Process | None = None,
        stderr_fd: int | None = None,
        sock: socket.socket | None = None,
        open_another: "Callable[[str], JsonRpcConnection] | None" = None,
        framing: Framing = "lines",
        owns_process: bool = True,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.subject = subject
        self._watch = watch
        self._framing: Framing = framing
        self._read_fd, self._write_fd, self._stderr_fd = read_fd, write_fd, stderr_fd
        self._process, self._owns_process = process, owns_process
        self._sock = sock
        self._open_another = open_another
        self._on_close = on_close
        self._reader = Framer(framing)
        self._outgoing = Framer(framing)
        self._pending: dict[tuple[str, Json], RpcPending] = {}
        self._unclaimed: OrderedDict[tuple[str, Json], RpcPending] = OrderedDict()
        self._sent_raw: OrderedDict[tuple[str, Json], RpcPending] = OrderedDict()
        self._nameless: deque[RpcPending] = deque()
        self._nameless_early: deque[Answer] = deque(maxlen=_REMEMBERED)
        self._answered: OrderedDict[tuple[str, Json], None] = OrderedDict()
        self._notes: deque[JsonObject] = deque(maxlen=_KEPT_NOTIFICATIONS)
        self._ids = itertools.count(1)
        self._wild = False
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ended: str | None = None
        self._input_open = True
        self._stderr = bytearray()
        self._last_came = time.monotonic()
        self._came = threading.Condition()
        self._wake_read, self._wake_write = os.pipe()
        for fd in {read_fd, write_fd}:
            os.set_blocking(fd, False)
        self._thread = threading.Thread(target=self._read_all, name=f"connection {name}", daemon=True)
        self._thread.start()

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
    ) -> RpcPending:
        """See `Connection.call_verb`."""
        hello = self.hello
        imported: JsonObject = {
            "provider": provider if provider is not None else hello.name if hello else "",
            "version": version if version is not None else hello.version if hello else "",
            "config": config if config is not None else {},
        }
        if config_id is not None:
            imported["configId"] = config_id
        params: JsonObject = {"import": imported, "type": type_, "properties": properties}
        if context is not None:
            params["context"] = dict(context)
        return self.request(verb.method, params)

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
        self._wild = True
        for piece in self._outgoing.feed(data):
            if isinstance(piece, bytes):
                self._register_wild(piece)
        self._watch.sent(data, self.name, "raw")
        self._write(data)

    def expect(self, id: Json) -> RpcPending:  # noqa: A002
        """See `Connection.expect`."""
        with self._lock:
            if id is not None:
                key = _key(id)
                found = self._unclaimed.pop(key, None) or self._pending.get(key)
                if found is None:
                    found = self._pending[key] = RpcPending(
                        self, Exchange("", None, id, connection=self.name, wild=True)
                    )
                    self._end_if_over(found)
                return found
            pending = RpcPending(self, Exchange("", None, None, connection=self.name, wild=True))
            if self._nameless_early:
                pending.deliver(self._nameless_early.popleft())
            else:
                self._nameless.append(pending)
                self._end_if_over(pending)
            return pending

    def _end_if_over(self, pending: RpcPending) -> None:
        if self._ended is not None:
            pending.end(self._ended)

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
        pending = RpcPending(self, exchange)
        with self._lock:
            if exchange.id is None:
                self._nameless.append(pending)
            else:
                self._pending[_key(exchange.id)] = pending
            if wild and exchange.id is not None:
                self._unclaimed[_key(exchange.id)] = pending
                if len(self._unclaimed) > _REMEMBERED:
                    self._unclaimed.popitem(last=False)
            self._end_if_over(pending)
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
        try:
            data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # lone surrogates travel as escapes
            data = json.dumps(message, separators=(",", ":")).encode()
        self._watch.sent(data, self.name)
        self._write(frame(data, self._framing))

    def _write(self, data: bytes) -> None:
        if self._ended is not None or not self._input_open:
            raise ConnectionEnded(self._ended or "the kit has closed the provider's input")
        deadline = time.monotonic() + self.timeout
        view = memoryview(data)
        with self._writing:
            while view:
                try:
                    sent = os.write(self._write_fd, view[:_CHUNK])
                    view = view[sent:]
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise NoAnswer(
                            f"the provider does not read its input: {len(view)} bytes were not taken within "
                            f"{self.timeout:g} s"
                        ) from None
                    poll = select.poll()
                    poll.register(self._write_fd, select.POLLOUT)
                    poll.poll(min(left, 0.2) * 1000)
                except OSError as error:
                    self._thread.join(_AFTER_EXIT_SECONDS + 1)
                    raise ConnectionEnded(self._ended or f"the provider closed its input: {error}") from None

    # -- receiving ----------------------------------------------------------------------------------------------------

    def notifications(self) -> list[JsonObject]:
        """See `Connection.notifications`."""
        with self._lock:
            taken = list(self._notes)
            self._notes.clear()
        return taken

    def settle(self, seconds: float) -> None:
        """See `Connection.settle`."""
        with self._came:
            start = time.monotonic()
            while self._ended is None:
                quiet = time.monotonic() - max(self._last_came, start)
                if quiet >= seconds:
                    return
                self._came.wait(seconds - quiet)

    def _read_all(self) -> None:
        try:
            reason = self._read_until_end()
        except Exception as error:  # noqa: BLE001, RUF100 - callers must not wait for a reader that has died
            reason = f"the kit's reader failed: {error!r}"
            self._watch.kit_faults.append(reason)
        self._finish(reason)

    def _read_until_end(self) -> str:
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        poll.register(self._read_fd, select.POLLIN)
        if self._stderr_fd is not None:
            poll.register(self._stderr_fd, select.POLLIN)
        exit_fd = self._exit_fd()
        if exit_fd is not None:
            poll.register(exit_fd, select.POLLIN)
        try:
            ending: float | None = None
            while True:
                ready = {fd for fd, _ in poll.poll(None if ending is None else 50)}
                if self._wake_read in ready:
                    if os.read(self._wake_read, 1) != _LOOK:
                        return "the kit closed the connection"
                    if self._stderr_fd is not None:
                        poll.register(self._stderr_fd, select.POLLIN)
                if self._stderr_fd is not None and self._stderr_fd in ready and not self._read_stderr():
                    poll.unregister(self._stderr_fd)
                if self._read_fd in ready and not self._read_some():
                    return "closed"
                if exit_fd is not None and exit_fd in ready:
                    poll.unregister(exit_fd)
                    ending = time.monotonic() + _AFTER_EXIT_SECONDS
                if ending is not None and self._read_fd not in ready and time.monotonic() >= ending:
                    return "closed"  # the process has gone; somebody else holds its end of the pipe
        finally:
            if exit_fd is not None:
                os.close(exit_fd)

    def _exit_fd(self) -> int | None:
        if self._process is None:
            return None
        try:
            return os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            return None

    def _read_some(self) -> bool:
        try:
            data = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        for piece in self._reader.feed(data) if data else self._reader.end():
            if isinstance(piece, Garbage):
                self._watch.garbage(piece.data, piece.reason, self.name)
            else:
                self._take(piece)
        with self._came:
            self._last_came = time.monotonic()
            self._came.notify_all()
        return bool(data)

    def _read_stderr(self) -> bool:
        assert self._stderr_fd is not None
        try:
            data = os.read(self._stderr_fd, _CHUNK)
        except OSError:
            return False
        if not data:
            return False
        seam = bytes(self._stderr[-_SEAM:])
        self._stderr += data
        if len(self._stderr) > 2 * MAX_STDERR:
            del self._stderr[:-MAX_STDERR]
        self._watch.logged(seam, data, self.name)
        return True

    def _take(self, raw: bytes) -> None:
        try:
            message = json.loads(raw, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            self._watch.garbage(raw[:4096], "no JSON", self.name)
            return
        self._watch.received(raw, self.name)
        for item in message if isinstance(message, list) and message else [message]:
            self._take_message(item, raw)

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
        with self._lock:
            self._notes.append(message)
        if "id" in message:
            error = {"code": -32601, "message": "the kit offers nothing to a provider"}
            try:
                self._write_message({"jsonrpc": "2.0", "id": message["id"], "error": error})
            except (NoAnswer, ConnectionEnded):
                return

    def _take_answer(self, message: JsonObject, raw: bytes) -> None:
        came = time.monotonic()
        id_ = message.get("id")
        answer = _answer(message, raw, id_)
        pending, reason = self._match(id_, answer)
        if reason is not None:
            self._watch.stray(message, raw, reason, self.name)
        if pending is not None:
            answer = _answer(message, raw, id_, came - pending.exchange.sent_at)
            pending.exchange.answer = answer
            self._watch.answered(pending.exchange)
            pending.deliver(answer)

    def _match(self, id_: Json, answer: Answer) -> tuple[RpcPending | None, str | None]:
        """The request that is answered, and what is wrong with that."""
        with self._lock:
            if id_ is None:
                if self._nameless:
                    return self._nameless.popleft(), None
                if self._wild:
                    self._nameless_early.append(answer)
                    return None, None
                return None, "it has no id, and no request was sent without one"
            if not isinstance(id_, int | float | str):
                return None, "its id is neither a number nor a text"
            key = _key(id_)
            pending = self._pending.pop(key, None)
            if pending is not None:
                self._answered[key] = None
                if len(self._answered) > _REMEMBERED:
                    self._answered.popitem(last=False)
                return pending, None
            if key in self._answered:
                return None, "the request was answered already"
            for other, candidate in self._pending.items():
                if str(other[1]) == str(id_) or (isinstance(id_, int | float) and other[1] == id_):
                    del self._pending[other]
                    return candidate, f"its id went out as {_kind(other[1])} and came back as {_kind(id_)}"
            return None, "no request with this id was sent"

    def _finish(self, reason: str) -> None:
        if reason == "closed":
            code = self._process.wait(_AFTER_EXIT_SECONDS) if self._process else None
            while self._stderr_fd is not None and _readable(self._stderr_fd) and self._read_stderr():
                pass
            reason = self._how_it_ended(code)
            self._watch.event(reason, self.name)
        with self._lock:
            self._ended = reason
            left = [*self._pending.values(), *self._nameless]
            self._pending.clear()
            self._nameless.clear()
        for pending in left:
            pending.end(reason)
        with self._came:
            self._came.notify_all()
        self._watch.ended(self.name)

    def _how_it_ended(self, code: int | None) -> str:
        if self._process is None:
            return "the provider closed the connection"
        if code is None:
            ended = "the provider closed its output and still runs"
        elif code < 0:
            ended = f"the provider was ended by {_signal_name(-code)}"
        else:
            ended = f"the provider ended with exit code {code}"
        tail = self.stderr().strip()[-2000:]
        return f"{ended}; its stderr ends with: {tail}" if tail else ended

    # -- the process --------------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """See `Connection.alive`."""
        return self._ended is None and self._input_open

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
        self._stderr_fd, other._stderr_fd = other._stderr_fd, None
        os.write(self._wake_write, _LOOK)
        self._on_close, other._on_close = other._on_close, None
        other.close(patient=False)

    def close_input(self) -> None:
        """See `Connection.close_input`."""
        with self._writing:
            if not self._input_open:
                return
            self._input_open = False
            self._watch.event("the kit closes the provider's input", self.name)
            if self._sock is not None:
                try:
                    self._sock.shutdown(socket.SHUT_WR)
                except OSError:
                    return
            else:
                os.close(self._write_fd)

    def drop(self) -> None:
        """See `Connection.drop`."""
        self._watch.event("the kit drops the link", self.name)
        self._stop_reading()
        self.close_input()
        if self._sock is not None:
            self._sock.close()
        else:
            os.close(self._read_fd)
            self._read_fd = -1

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
        return bytes(self._stderr[-MAX_STDERR:]).decode("utf-8", "backslashreplace")

    def close(self, *, patient: bool = True) -> None:
        """See `Connection.close`."""
        if self._wake_write < 0:
            return
        self.close_input()
        if self._process is not None and self._owns_process:
            self._process.close(patient=patient, listens=self._sock is not None)
        self._stop_reading()
        os.close(self._wake_write)
        os.close(self._wake_read)
        self._wake_write = -1
        if self._sock is not None:
            self._sock.close()
        elif self._read_fd >= 0:
            os.close(self._read_fd)
        if self._stderr_fd is not None:
            os.close(self._stderr_fd)
            self._stderr_fd = None
        if self._on_close is not None:
            self._on_close()

    def _stop_reading(self) -> None:
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            os.write(self._wake_write, _STOP)
            self._thread.join(5)


def _kind(id_: Json) -> str:
    return {"str": "a text", "int": "a whole number", "float": "a number with a fraction"}.get(
        type(id_).__name__, "null"
    )


def _key(id_: Json) -> tuple[str, Json]:
    return type(id_).__name__, id_


def _answer(message: JsonObject, raw: bytes, id_: Json, seconds: float = 0.0) -> Answer:
    error = message.get("error")
    if error is None and "error" not in message:
        return Answer(message.get("result"), None, id_, raw, seconds)
    data: JsonObject = error if isinstance(error, dict) else {}
    code = data.get("code")
    return Answer(
        None,
        ErrorAnswer(
            code if isinstance(code, int) and not isinstance(code, bool) else 0,
            str(data.get("message", "")),
            data.get("data"),
        ),
        id_,
        raw,
        seconds,
    )


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is not JSON")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
