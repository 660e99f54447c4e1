"""Requests that came in: run at once, answered exactly once, taken back on demand."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from extensor.contract.codes import ErrorCode, RpcCode
from extensor.contract.json import Json, JsonObject
from extensor.contract.limits import Limits
from extensor.rpc.codec import CodecError, encode
from extensor.rpc.engine import EngineChooser, envelope_fault, invalid_answer, is_id
from extensor.rpc.outbox import Outbox
from extensor.rpc.requests import (
    JsonText,
    MessageId,
    OnError,
    Request,
    Serve,
    canceled_answer,
    error_answer,
    failure_answer,
    internal_answer,
)
from extensor.rpc.runtime import Runtime, Slot, Tasks

if TYPE_CHECKING:
    from extensor.rpc.peer import Peer

MAX_BATCH_MEMBERS = 1024
"""A longer batch is refused as a whole, so that small members cannot ask for unbounded output."""

Key = MessageId | tuple[float]
"""An id as a key: 1 and 1.0 are different ids and equal keys."""

Reply = Callable[[MessageId, JsonObject | None], None]
"""Takes one request's answer; ``None`` for a notification."""


class Serving:
    """The requests of one connection that are running."""

    def __init__(
        self,
        peer: "Peer",
        runtime: Runtime,
        tasks: Tasks,
        serve: Serve | None,
        engine: EngineChooser,
        limits: Limits,
        on_error: OnError,
        send: Callable[[bytes, bool], None],
        outbox: Outbox,
    ) -> None:
        self._peer = peer
        self._runtime = runtime
        self._tasks = tasks
        self._serve = serve or _serve_nothing
        self._engine = engine
        self._limits = limits
        self._on_error = on_error
        self._send = send
        self._outbox = outbox
        self._active: set[Request] = set()
        self._by_id: dict[Key, Request] = {}
        self._idle: list[tuple[Slot, Request | None]] = []
        self.draining = False

    @property
    def running(self) -> int:
        """How many requests run."""
        return len(self._active)

    def take(self, message: JsonObject, text: bytes) -> None:
        """Serve a request or notification that came alone, as that text."""
        self._start(message, text, self._reply)

    def take_batch(self, members: list[Json], text: bytes, settle: Callable[[JsonObject], None]) -> None:
        """Serve a batch (JSON-RPC 2.0, section 6). Answers to calls of ours among its members go to `settle`."""
        if not members:
            self._post(invalid_answer("an empty batch"), None)
        elif len(members) > MAX_BATCH_MEMBERS:
            self._post(invalid_answer(f"a batch of more than {MAX_BATCH_MEMBERS} members"), None)
        else:
            batch = _Batch(len(members), self._limits.max_message_bytes, self._encode, self._send_batch)
            ids: set[Json] = set()
            for member in members:
                if isinstance(member, dict) and "method" not in member and ("result" in member or "error" in member):
                    settle(member)
                    batch.reply(None, None)
                elif isinstance(member, dict):
                    id = member.get("id")  # noqa: A001
                    key = _key(id) if is_id(id) else None
                    if key is not None and key in ids:
                        batch.reply(id, invalid_answer("another member of the batch has this id", id))
                    else:
                        ids.add(key)
                        self._start(member, text, batch.reply)
                else:
                    batch.reply(None, invalid_answer("a member of the batch is no object"))

    def refuse(self, answer: JsonObject) -> None:
        """Answer something that is no request."""
        self._post(answer, None)

    def cancel(self, params: Json) -> None:
        """Serve `$/cancelRequest`. An id that is not running is ignored: its answer has left."""
        id = params.get("id") if isinstance(params, dict) else None  # noqa: A001
        if id is not None and type(id) in (int, str, float):
            request = self._by_id.get(_key(id))
            if request is not None:
                request.cancel()

    def cancel_all(self, besides: Request | None = None) -> None:
        """Take everything back."""
        for request in list(self._active):
            if request is not besides:
                request.cancel()

    async def finished(self, timeout: float, besides: Request | None = None) -> bool:
        """Wait until nothing runs, at most `timeout` seconds; whether that is so."""
        if self._is_idle(besides):
            return True
        if timeout <= 0:
            return False
        slot = self._runtime.slot()
        self._idle.append((slot, besides))
        try:
            await self._runtime.wait(slot, timeout)
        except TimeoutError:
            return False
        return True

    def _is_idle(self, besides: Request | None) -> bool:
        return len(self._active) == (besides in self._active)

    def _start(self, message: JsonObject, text: bytes, reply: Reply) -> None:
        fault = envelope_fault(message)
        if fault is not None:
            reply(fault["id"], fault)
            return
        notification = "id" not in message
        method: str = message["method"]
        id: MessageId = message.get("id")  # noqa: A001
        params = message.get("params")
        if notification and self._peer.handle_notification(method, params):
            reply(None, None)
            return
        key = _key(id)
        if (refusal := self._refusal(id, key, notification)) is not None:
            reply(id, None if notification else refusal)
            return
        request = Request(id, method, params, self._peer, notification, text)
        self._active.add(request)
        if id is not None:
            self._by_id[key] = request
        request.bind(self._tasks.spawn(self._run, request, key, reply))

    def _refusal(self, id: MessageId, key: Key, notification: bool) -> JsonObject | None:  # noqa: A002
        if self.draining:
            return failure_answer(
                id, RpcCode.OPERATION_FAILED, ErrorCode.UNAVAILABLE, "the provider is shutting down", transient=True
            )
        most = self._limits.max_concurrent_requests
        if len(self._active) >= most:
            if notification:
                self._peer.violation(f"a notification was dropped: {most} requests are running")
            return failure_answer(
                id,
                RpcCode.OPERATION_FAILED,
                ErrorCode.THROTTLED,
                f"{most} requests are running, no more at once",
                transient=True,
            )
        if id is not None and key in self._by_id:
            return invalid_answer("a request with this id is running", id)
        return None

    async def _run(self, request: Request, key: Key, reply: Reply) -> None:
        answer: JsonObject | None = None
        try:
            if self._outbox.answers_wait:
                # What has been read already: its answers would pile up before anyone could take them.
                await self._outbox.room()
                request.canceled = request.canceled or self._outbox.lost
            if not request.canceled:
                request.interruptible = True
                work = self._engine.engine.dispatch(request, self._serve, self._on_error)
                answer = await self._runtime.guard(request, work)
                request.interruptible = False
            itself = answer is None and not request.canceled
            if itself:
                answer = self._gave_up(request)
            elif answer is None or request.canceled:
                answer = canceled_answer(request)
            if request.id is not None:
                del self._by_id[key]
            if self._outbox.size and not (request.canceled or itself):
                await self._outbox.room(holding=_size(answer))
        finally:
            self._active.discard(request)
            if self._idle:
                self._wake_idle()
        reply(request.id, None if request.is_notification else answer)

    def _gave_up(self, request: Request) -> JsonObject:
        """The answer of a callback that canceled the task it runs in, which nobody had asked for."""
        told = self._on_error(RuntimeError(f"what serves {request.method} canceled itself"))
        left = request.left_behind() if request.left_behind is not None else None
        return internal_answer(request.id, told if told is None or left is None else {**told, "resource": left})

    def _wake_idle(self) -> None:
        waiting, self._idle = self._idle, []
        for slot, besides in waiting:
            if not self._is_idle(besides):
                self._idle.append((slot, besides))
            elif not slot.done():
                slot.set_result(None)

    # answers

    def _reply(self, id: MessageId, answer: JsonObject | None) -> None:  # noqa: A002
        if answer is not None:
            self._post(answer, id)

    def _post(self, answer: JsonObject, id: MessageId) -> None:  # noqa: A002
        self._send(self._encode(answer, id), not self._active)

    def _send_batch(self, data: bytes) -> None:
        self._send(data, not self._active)

    def _encode(self, answer: JsonObject, id: MessageId) -> bytes:  # noqa: A002
        try:
            result = answer.get("result")
            if type(result) is JsonText:
                name = b"%d" % id if type(id) is int else encode(id)
                data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (name, result.data)
            else:
                data = encode(answer)
        except CodecError as error:
            return encode(internal_answer(id, self._on_error(error)))
        if len(data) > self._limits.max_message_bytes:
            return encode(too_large_answer(self._limits.max_message_bytes, id))
        return data


class _Batch:
    """Collects the answers of one batch; they leave as one array when the last has come."""

    def __init__(
        self,
        members: int,
        limit: int,
        encode_answer: Callable[[JsonObject, MessageId], bytes],
        send: Callable[[bytes], None],
    ) -> None:
        self._missing = members
        self._limit = limit
        self._encode = encode_answer
        self._send = send
        self._size = 0
        self._answers: list[bytes] = []

    def reply(self, id: MessageId, answer: JsonObject | None) -> None:  # noqa: A002
        self._missing -= 1
        if answer is not None:
            data = self._encode(answer, id)
            if self._size + len(data) + len(self._answers) + 2 > self._limit:
                data = encode(too_large_answer(self._limit, id))
            self._size += len(data)
            self._answers.append(data)
        if not self._missing and self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")


def _size(answer: JsonObject) -> int:
    # Others are not written yet. They are small where a host answers its provider, and must not keep it from reading:
    # both would wait for each other then.
    result = answer.get("result")
    return len(result.data) if type(result) is JsonText else 0


def too_large_answer(limit: int, id: MessageId) -> JsonObject:  # noqa: A002
    """The answer for a message, in or out, above the limit."""
    return error_answer(
        id, RpcCode.MESSAGE_TOO_LARGE, f"the message is larger than {limit} bytes", {"maxMessageBytes": limit}
    )


async def _serve_nothing(request: Request) -> Json:
    from extensor.rpc.requests import RpcFailure

    raise RpcFailure(RpcCode.METHOD_NOT_FOUND, f"there is no method {request.method!r} here")


def _key(id: MessageId) -> Key:  # noqa: A002
    return (id,) if type(id) is float else id
