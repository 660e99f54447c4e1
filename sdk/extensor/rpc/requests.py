"""What a peer hands to the code that serves its requests, and how that code refuses."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from extensor.contract.codes import ErrorCode, RpcCode
from extensor.contract.faults import Failure, Fault
from extensor.contract.json import Json, JsonObject

if TYPE_CHECKING:
    from extensor.rpc.peer import Peer

MessageId: TypeAlias = int | str | float | None
"""A request's id as it came, with its JSON type. An integer may have any size."""


class JsonText:
    """A result that a serving callback has written itself, as the JSON text of `extensor.rpc.codec.encode`."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class Request:
    """One request or notification on its way through the serving callback."""

    __slots__ = (
        "_task",
        "canceled",
        "id",
        "interruptible",
        "is_notification",
        "left_behind",
        "method",
        "on_cancel",
        "params",
        "peer",
        "text",
    )

    def __init__(
        self,
        id: MessageId,  # noqa: A002
        method: str,
        params: Json,
        peer: "Peer",
        is_notification: bool,
        text: bytes = b"",
    ) -> None:
        self.id = id
        self.method = method
        self.params = params
        """As it came: an object, an array, ``None`` when absent, and for a careless peer anything else."""
        self.peer = peer
        """The connection it came by; a callback may call and notify through it."""
        self.is_notification = is_notification
        self.text: bytes | None = text
        """The message or batch it came in. Who needs it no more should let it go: it may be large."""
        self.canceled = False
        """Whether the peer took it back or the connection is ending; its answer is then error -32800 whatever comes."""
        self.on_cancel: Callable[[], None] | None = None
        """Set by a callback that holds its own cancel scope: called instead of cancelling the serving task."""
        self.left_behind: Callable[[], JsonObject | None] | None = None
        """Set by a callback that may be canceled half-way: what exists by then, for the answer (P-ERROR-07)."""
        self.interruptible = False
        """Whether its callback is at work; before and after, a cancel only leaves its mark."""
        self._task: Callable[[], object] | None = None

    def bind(self, cancel_task: Callable[[], object]) -> None:
        """Say how to cancel the task that serves it; it has begun already, and may have been taken back since."""
        self._task = cancel_task
        if self.canceled and self.interruptible and self.on_cancel is None:
            cancel_task()

    def cancel(self) -> None:
        """Take it back. Later calls do nothing."""
        if self.canceled:
            return
        self.canceled = True
        if not self.interruptible:
            return
        if self.on_cancel is not None:
            self.on_cancel()
        elif self._task is not None:
            self._task()


OnError: TypeAlias = Callable[[Exception], JsonObject | None]
"""Hears of an unexpected exception of a callback; may return the `data` of the error answer, for a `Failure`'s id."""

Serve: TypeAlias = Callable[[Request], Awaitable[Json | JsonText]]
"""Serves one request: returns the result, or raises `RpcFailure`."""


class RpcFailure(Exception):
    """An error answer. The one exception a serving callback may let out; others are answered with -32603."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code = int(code)
        self.message = message
        self.data = data
        super().__init__(message)


def result_answer(id: MessageId, result: Json | JsonText) -> JsonObject:  # noqa: A002
    """The envelope of a result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_answer(id: MessageId, code: int, message: str, data: Json = None) -> JsonObject:  # noqa: A002
    """The envelope of an error; `data` is left out when it is ``None``."""
    error: JsonObject = {"code": int(code), "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": error}


def failure_answer(
    id: MessageId,  # noqa: A002
    code: RpcCode,
    word: ErrorCode,
    message: str,
    *,
    transient: bool = False,
) -> JsonObject:
    """The envelope of an error whose `data` is a `Failure` with one fault."""
    return error_answer(id, code, message, Failure((Fault(word, message),), transient).to_wire())


def canceled_answer(request: Request) -> JsonObject:
    """The one answer of a request that was taken back (P-CANCEL-*)."""
    resource = request.left_behind() if request.left_behind is not None else None
    failure = Failure((Fault(ErrorCode.CANCELED, "the request was canceled"),), resource=resource)
    return error_answer(request.id, RpcCode.CANCELED, failure.message, failure.to_wire())


def internal_answer(id: MessageId, told: JsonObject | None = None) -> JsonObject:  # noqa: A002
    """The answer for a fault of ours: nothing of the exception reaches the peer but what the owner `told` as data."""
    if told is not None:
        return error_answer(id, RpcCode.INTERNAL_ERROR, "internal error", told)
    return failure_answer(
        id, RpcCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR, "internal error; the provider's log has more"
    )
