"""Dispatch of a single request: envelope in, envelope out. Framing, batches and cancel are the peer's."""

import os
from typing import Protocol

from extensor.contract.codes import RpcCode
from extensor.contract.json import Json, JsonObject
from extensor.rpc.requests import (
    MessageId,
    OnError,
    Request,
    RpcFailure,
    Serve,
    error_answer,
    internal_answer,
    result_answer,
)

ENGINE_VARIABLE = "EXTENSOR_RPC_ENGINE"
"""Names the engine when the peer's maker does not: ``own`` (the default) or ``jsonrpcserver``."""


class Engine(Protocol):
    """Runs the callback for one request whose envelope is sound and makes the answer's envelope."""

    async def dispatch(self, request: Request, serve: Serve, on_error: OnError) -> JsonObject:
        """The answer. Lets cancellation out and nothing else; an unexpected exception goes to `on_error`."""
        ...


class OwnEngine:
    """The default engine."""

    __slots__ = ()

    async def dispatch(self, request: Request, serve: Serve, on_error: OnError) -> JsonObject:
        """See `Engine`."""
        try:
            return result_answer(request.id, await serve(request))
        except RpcFailure as failure:
            return error_answer(request.id, failure.code, failure.message, failure.data)
        except Exception as error:
            return internal_answer(request.id, on_error(error))


def envelope_fault(message: JsonObject) -> JsonObject | None:
    """The -32600 answer of an unsound request or notification (JSON-RPC 2.0, section 4), or ``None``.

    The id is given back where it is a legal one. `params` of any kind pass: whether they fit is the callback's to say.
    """
    id = message.get("id")  # noqa: A001
    legal = is_id(id)
    if message.get("jsonrpc") != "2.0":
        reason = 'the member "jsonrpc" must be "2.0"'
    elif type(message.get("method")) is not str:
        reason = 'the member "method" must be a text'
    elif not legal:
        reason = "an id must be a text or a number"
    else:
        return None
    return invalid_answer(reason, id if legal else None)


def invalid_answer(reason: str, id: MessageId = None) -> JsonObject:  # noqa: A002
    """The -32600 answer."""
    return error_answer(id, RpcCode.INVALID_REQUEST, f"invalid request: {reason}")


def is_id(value: Json) -> bool:
    """Whether a value may be a request's id: text, number or null (a boolean is no number)."""
    return value is None or type(value) in (int, str, float)


class EngineChooser:
    """The engine to use now. Another than our own is imported only once an answer has left."""

    def __init__(self, name: str | None) -> None:
        """Raises `ValueError` for a name that is no engine's."""
        self._name = name or os.environ.get(ENGINE_VARIABLE) or "own"
        if self._name not in ("own", "jsonrpcserver"):
            raise ValueError(f"there is no engine {self._name!r}; choose 'own' or 'jsonrpcserver'")
        self.engine: Engine = OwnEngine()

    def first_answer_left(self) -> None:
        """Change to the chosen engine."""
        if self._name == "jsonrpcserver":
            from extensor.rpc.engine_jsonrpcserver import JsonRpcServerEngine

            self.engine = JsonRpcServerEngine()
            self._name = "own"
