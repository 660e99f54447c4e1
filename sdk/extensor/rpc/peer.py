"""One end of a JSON-RPC 2.0 connection: it calls and serves, whoever began (P-CONN-*, P-CANCEL-*, P-LIMIT-*)."""

from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable
from time import monotonic
from typing import Any, Literal

from extensor.contract.codes import RpcCode
from extensor.contract.handshake import CANCEL
from extensor.contract.json import Json, JsonObject
from extensor.contract.limits import Limits
from extensor.errors import CallTimedOut, ConnectionLost, ProtocolViolation, RpcError
from extensor.rpc.codec import CodecError, decode, encode
from extensor.rpc.engine import EngineChooser, invalid_answer
from extensor.rpc.framing import Broken, Frame, FrameReader, Framing, Oversized, write_frame
from extensor.rpc.outbox import Outbox
from extensor.rpc.pending import PendingCalls, answered_id, find_id
from extensor.rpc.requests import OnError, Request, Serve, error_answer
from extensor.rpc.runtime import Runtime, Slot, Tasks, current_runtime
from extensor.rpc.serving import Serving, too_large_answer
from extensor.rpc.streams import ByteStream, DirectStream

OnNotification = Callable[[str, Json], Awaitable[None] | None]
"""Hears of a notification: its method and params."""

END_GRACE_SECONDS = 1.0
"""How long requests may still run, in a server, after the end of input: what was piped in gets its answer."""

FLUSH_SECONDS = 2.0
"""How long the last output may take to leave at the end of a connection."""

_EXCERPT = 200
_MASKED = 4096
"""How much is looked at for secrets, so that half of one is not shown."""


class Peer:
    """Calls and serves over one stream.

    `run` must be running, in a task of its own, while anything else is used.
    """

    def __init__(
        self,
        stream: ByteStream,
        serve: Serve | None = None,
        *,
        framing: Framing | None = None,
        limits: Limits = Limits(),
        engine: str | None = None,
        role: Literal["client", "server"] | None = None,
        on_notification: OnNotification | None = None,
        on_violation: Callable[[str], None] | None = None,
        on_error: OnError | None = None,
        on_sent: Callable[[], None] | None = None,
        end_grace: float = END_GRACE_SECONDS,
        keep_pending: bool = False,
        mask: Callable[[str], str] | None = None,
    ) -> None:
        """`serve` answers requests, and takes notifications when there is no `on_notification`.

        `framing` is found out from the first byte when it is ``None``, which makes this end the server unless `role`
        says otherwise. A server answers what it cannot read; a client reports it and goes on. `on_violation` gets a
        line about each thing the peer should not have sent; `on_error` each unexpected exception of a callback
        (default: the log); `on_sent` is called whenever all answers so far have left. With `keep_pending` the end of
        the connection leaves pending calls to the owner's `fail_pending`. `mask` takes secrets out of what is quoted of
        messages. Raises `ValueError` for an unknown `engine`.
        """
        self._stream = stream
        self._serve = serve
        self._framing: Framing | None = framing
        self._limits = limits
        self._is_server = (role or ("client" if framing else "server")) == "server"
        self._engine = EngineChooser(engine)
        self._on_notification = on_notification
        self._on_violation = on_violation
        self._on_error = on_error or _log
        self._on_sent = on_sent
        self._end_grace = end_grace if self._is_server else 0.0
        self._keep_pending = keep_pending
        self._reader = FrameReader(limits.max_message_bytes, framing, early=self._is_server)
        self._mask = mask
        self._pending = PendingCalls(self.violation, self._quote)
        self._held: list[tuple[bytes, bool]] = []
        self._answered = False
        self._paused = False
        self._notifying: dict[object, Callable[[], object]] = {}
        self._lost: str | None = None
        self._closed = False
        self._runtime: Runtime | None = None
        self._outbox: Outbox | None = None
        self._ended: Slot | None = None
        self._tasks: Tasks | None = None
        self._serving: Serving | None = None
        self._head = b""
        self.max_send_bytes = limits.max_message_bytes
        """A larger call or notification is refused here; a host lowers it to what the provider declared."""

    @property
    def pending(self) -> int:
        """How many calls wait for their answers."""
        return len(self._pending)

    @property
    def running(self) -> int:
        """How many requests of the other side are being served."""
        return self._serving.running if self._serving else 0

    @property
    def queued(self) -> int:
        """Bytes of output that the stream has not taken yet."""
        return self._outbox.size if self._outbox else 0

    # life

    async def run(self) -> None:
        """Read and serve until the input ends, the stream breaks or `aclose` is called; then end what runs and close.

        Requests still running get `end_grace` seconds at the end of input, none otherwise, and are cancelled then.
        Calls pending fail with `ConnectionLost`. Raises nothing for an ordinary end.
        """
        runtime, outbox = self._open()
        self._ended = ended = runtime.slot()
        try:
            async with runtime.tasks(self._on_end, self._on_left, FLUSH_SECONDS) as tasks:
                self._tasks = tasks
                self._serving = serving = Serving(
                    self,
                    runtime,
                    tasks,
                    self._serve,
                    self._engine,
                    self._limits,
                    self._on_error,
                    self._send_answer,
                    outbox,
                )
                helpers = [tasks.spawn(outbox.write_loop)] if outbox.needs_loop else []
                try:
                    if self._closed:
                        self._on_end(None)
                    elif isinstance(self._stream, DirectStream) and not outbox.needs_loop:
                        self._stream.start(self._on_data, self._on_end, outbox.drained)
                    else:
                        helpers.append(tasks.spawn(self._read_loop, outbox))
                    await runtime.wait(ended)
                    self._lose("the connection ended before the answer came")
                    if not self._closed and not outbox.lost:
                        await serving.finished(self._end_grace)
                    serving.cancel_all()
                    await serving.finished(FLUSH_SECONDS)
                    await outbox.emptied(FLUSH_SECONDS)
                finally:
                    self._lose("the connection was closed before the answer came")
                    serving.cancel_all()
                    outbox.lose(None)
                    for stop in (*helpers, *self._notifying.values()):
                        stop()
        finally:
            await self._stream.aclose()

    async def drain(self, deadline: float, *, besides: Request | None = None) -> None:
        """Take no more requests and wait for those that run; what still runs after `deadline` seconds is cancelled.

        New requests are answered with a transient `Unavailable`. A request that asks for this names itself as
        `besides`.
        """
        if self._serving is None:
            return
        self._serving.draining = True
        if not await self._serving.finished(deadline, besides):
            self._serving.cancel_all(besides)
            await self._serving.finished(FLUSH_SECONDS, besides)

    async def aclose(self) -> None:
        """Let queued output leave, then close the stream. `run` ends; pending calls fail with `ConnectionLost`."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._outbox is not None:
                await self._outbox.emptied(FLUSH_SECONDS)
        finally:
            self._lose("the connection was closed before the answer came")
            self._on_end(None)
            await self._stream.aclose()

    def fail_pending(self, error: Exception) -> None:
        """Fail every pending call with `error`."""
        self._pending.fail_all(lambda: error)

    # going out

    async def call(
        self, method: str, params: Json = None, *, timeout: float | None = None, label: object = None
    ) -> Json:
        """Call a method of the other side and return its result. `timeout` is in seconds and counts from now.

        `label` is what `label_of` answers while the call waits, for notifications that name its id.

        Raises `RpcError` for an error answer, `CallTimedOut`, `ConnectionLost`, and `ValueError` for params without
        JSON. A call that times out or whose task is cancelled is cancelled at the other side; its late answer is
        dropped.
        """
        runtime, outbox = self._open()
        left = timeout
        if outbox.size:
            left = await self._room(outbox, method, timeout)
        if self._lost is not None:
            raise ConnectionLost(self._lost)
        slot = runtime.slot()
        id = self._pending.add(slot, label)  # noqa: A001
        try:
            self._send_call(_message(method, params, id))
            return await runtime.wait(slot, left)
        except TimeoutError:
            self._abandon(id)
            raise CallTimedOut(f"no answer to {method} within {timeout:g} s") from None
        except BaseException:
            self._abandon(id)
            raise

    async def _room(self, outbox: Outbox, method: str, timeout: float | None) -> float | None:
        """Wait until there is room for a call; what is left of its time then."""
        if timeout is None:
            await outbox.room()
            return None
        end = monotonic() + timeout
        try:
            await outbox.room(timeout)
        except TimeoutError:
            raise CallTimedOut(f"{method} could not be sent within {timeout:g} s: the peer does not read") from None
        return max(0.0, end - monotonic())

    def label_of(self, id: Json) -> object:  # noqa: A002
        """What the call with this id was labelled with, ``None`` when none that waits has it."""
        return self._pending.label(id)

    async def notify(self, method: str, params: Json = None) -> None:
        """Send a notification. Raises `ConnectionLost` and, for params without JSON, `ValueError`."""
        _, outbox = self._open()
        if outbox.size:
            await outbox.room()
        if self._lost is not None:
            raise ConnectionLost(self._lost)
        self._send_call(_message(method, params))

    def _send_call(self, message: JsonObject) -> None:
        data = encode(message)
        if len(data) > self.max_send_bytes:
            raise RpcError(
                RpcCode.MESSAGE_TOO_LARGE, f"the call is larger than the {self.max_send_bytes} bytes the peer takes"
            )
        self._send(data, now=len(self._pending) == 1)

    def _abandon(self, id: int) -> None:  # noqa: A002
        if self._pending.forget(id) and self._lost is None:
            self._send(encode(_message(CANCEL, {"id": id})), now=True)

    def _send_answer(self, data: bytes, now: bool) -> None:
        self._answered = True
        self._send(data, now=now, answer=True)

    def _send(self, data: bytes, *, now: bool, answer: bool = False) -> None:
        if self._framing is None:
            # Nothing has come yet that would say which framing the other side speaks.
            self._held.append((data, answer))
        elif self._outbox is not None:
            self._outbox.post(write_frame(data, self._framing), now=now, answer=answer)

    # coming in

    def beginning(self) -> str | None:
        """How the other side's output begins, quoted; ``None`` before anything came."""
        return self._excerpt(self._head) if self._head else None

    def _on_data(self, data: bytes) -> None:
        if not self._head:
            self._head = data[:_MASKED]
        frames = self._reader.feed(data)
        if len(frames) == 1:
            self._on_frame(frames[0])
        elif self._outbox is not None:
            self._outbox.gathering = True
            try:
                for frame in frames:
                    self._on_frame(frame)
            finally:
                self._outbox.gathering = False
                self._outbox.flush()
        if self._outbox is not None and self._outbox.answers_wait and isinstance(self._stream, DirectStream):
            self._paused = True
            self._stream.pause()

    async def _read_loop(self, outbox: Outbox) -> None:
        while data := await self._stream.receive():
            self._on_data(data)
            if outbox.answers_wait:
                await outbox.emptied(None)
        self._on_end(None)

    def _on_frame(self, frame: Frame) -> None:
        if self._framing is None:
            self._settle_framing()
        if isinstance(frame, Oversized):
            self._oversized(frame)
        elif isinstance(frame, Broken):
            self._broken(frame)
        else:
            try:
                message = decode(frame)
            except CodecError as error:
                self._unreadable(str(error), frame)
            else:
                self._on_message(message, frame)

    def _settle_framing(self) -> None:
        self._framing = self._reader.framing
        if self._framing is not None:
            held, self._held = self._held, []
            for data, answer in held:
                self._send(data, now=False, answer=answer)

    def _broken(self, frame: Broken) -> None:
        undecided = self._framing is None
        if undecided:
            # Its sender speaks neither framing; a line is what a person or a line-reading program can still see.
            self._framing = "lines"
        self._unreadable(f"no message: {frame.reason}", frame.excerpt)
        if undecided:
            self._framing = None

    def _on_message(self, message: Json, frame: bytes) -> None:
        serving = self._serving
        assert serving is not None
        if isinstance(message, dict):
            if "method" in message:
                serving.take(message, frame)
                return
            if "result" in message or "error" in message:
                self._on_answer(message)
                return
            reason = "neither a call nor an answer"
        elif isinstance(message, list):
            if self._is_server or (message and all(isinstance(member, dict) for member in message)):
                serving.take_batch(message, frame, self._on_answer)
                return
            reason = "a list of no messages"
        else:
            reason = "no object"
        if self._is_server:
            serving.refuse(invalid_answer(reason, _id_of(message)))
        else:
            self.violation(f"the peer sent {reason}: {self._excerpt(frame)}")

    def _on_answer(self, message: JsonObject) -> None:
        if message.get("id") is None:
            self.violation(f"the peer reports an error about no call: {self._quote(message.get('error'))}")
        else:
            self._pending.settle(message)

    def _unreadable(self, reason: str, excerpt: bytes) -> None:
        if self._is_server and self._serving is not None:
            self._serving.refuse(error_answer(None, RpcCode.PARSE_ERROR, f"parse error: {reason}"))
        said = f"the peer sent what cannot be read ({reason}): {self._excerpt(excerpt)}"
        if self._is_server or not self._pending.refuse(answered_id(excerpt), ProtocolViolation(said)):
            self.violation(said)

    def _oversized(self, frame: Oversized) -> None:
        limit = self._limits.max_message_bytes
        id = find_id(frame.head, frame.tail)  # noqa: A001
        if self._is_server and self._serving is not None:
            self._serving.refuse(too_large_answer(limit, id))
        elif self._pending.refuse(id, RpcError(RpcCode.MESSAGE_TOO_LARGE, f"the answer is larger than {limit} bytes")):
            return
        self.violation(f"the peer sent a message of more than {limit} bytes: {self._excerpt(frame.head)}")

    def _quote(self, value: Json) -> str:
        try:
            return self._excerpt(encode(value))
        except CodecError:
            return "something that has no JSON"

    def _excerpt(self, data: bytes) -> str:
        """The first bytes as a person may see them; secrets are looked for before anything is cut or escaped."""
        text = data[:_MASKED].decode("utf-8", "backslashreplace")
        if self._mask is not None:
            text = self._mask(text)
        return repr(text[:_EXCERPT]) + ("…" if len(text) > _EXCERPT or len(data) > _MASKED else "")

    def handle_notification(self, method: str, params: Json) -> bool:
        """Take a notification that is not for the serving callback; for the rooms of this package."""
        if method == CANCEL:
            if self._serving is not None:
                self._serving.cancel(params)
            return True
        if self._on_notification is None:
            return self._serve is None
        try:
            outcome = self._on_notification(method, params)
        except Exception as error:
            self._on_error(error)
            return True
        if isawaitable(outcome) and self._tasks is not None:
            if len(self._notifying) >= self._limits.max_concurrent_requests:
                self.violation(f"a notification {method!r} was dropped: {len(self._notifying)} are being handled")
                if isinstance(outcome, Coroutine):
                    outcome.close()
                return True
            token = object()
            self._notifying[token] = self._tasks.spawn(self._notified, token, outcome)
        return True

    async def _notified(self, token: object, outcome: Awaitable[Any]) -> None:
        try:
            await outcome
        except Exception as error:
            self._on_error(error)
        finally:
            self._notifying.pop(token, None)

    def violation(self, text: str) -> None:
        """Report something that the other side should not have sent."""
        if self._on_violation is not None:
            self._on_violation(text)

    # ends

    def _open(self) -> tuple[Runtime, Outbox]:
        if self._runtime is None or self._outbox is None:
            self._runtime = current_runtime()
            self._outbox = Outbox(self._runtime, self._stream, self._on_end, self._on_room)
        return self._runtime, self._outbox

    def _on_room(self) -> None:
        if self._paused and isinstance(self._stream, DirectStream):
            self._paused = False
            self._stream.resume()
        if self._answered:
            self._answered = False
            self._engine.first_answer_left()
            if self._on_sent is not None:
                self._on_sent()

    def _on_end(self, error: Exception | None) -> None:
        """The input ended, the output broke, a task of ours failed, or the owner closed."""
        if isinstance(error, ConnectionLost) and self._outbox is not None and not self._outbox.lost:
            self._outbox.lose(error)
            return
        ended = self._ended
        if ended is None or ended.done():
            return
        if error is None or isinstance(error, ConnectionLost):
            if error is None and not self._closed:
                try:
                    for frame in self._reader.finish():
                        self._on_frame(frame)
                except Exception as fault:
                    ended.set_exception(fault)
                    return
            ended.set_result(None)
        else:
            ended.set_exception(error)

    def _on_left(self, count: int) -> None:
        self._on_error(RuntimeError(f"{count} requests did not end when they were canceled, and were left behind"))

    def _lose(self, reason: str) -> None:
        if self._lost is None:
            self._lost = reason
        if not self._keep_pending:
            self._pending.fail_all(lambda: ConnectionLost(reason))


def _message(method: str, params: Json, id: int | None = None) -> JsonObject:  # noqa: A002
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if id is not None:
        message["id"] = id
    return message


def _id_of(message: Json) -> Any:
    id = message.get("id") if isinstance(message, dict) else None  # noqa: A001
    return id if type(id) in (int, str, float) else None


def _log(error: Exception) -> None:
    import logging

    logging.getLogger("extensor.rpc").error("a callback failed", exc_info=error)
