"""jsonrpcserver 5 as the engine: the second opinion of the differential tests, and selectable by name.

It gets one request at a time, already parsed and with a sound envelope, through its own dispatch functions: its
`async_dispatch` gathers with asyncio, which trio has not, and would parse and validate a second time.
"""

from typing import Any

from jsonrpcserver import JsonRpcError, Success  # pyright: ignore[reportUnknownVariableType]
from jsonrpcserver.async_dispatcher import dispatch_request
from jsonrpcserver.dispatcher import create_request, to_response
from jsonrpcserver.response import to_serializable_one

from extensor.contract.codes import RpcCode
from extensor.contract.json import Json, JsonObject
from extensor.rpc.requests import OnError, Request, RpcFailure, Serve, internal_answer


class JsonRpcServerEngine:
    """See `extensor.rpc.engine.Engine`."""

    async def dispatch(self, request: Request, serve: Serve, on_error: OnError) -> JsonObject:
        """See `extensor.rpc.engine.Engine`."""

        async def method(request: Request, /, *_args: Json, **_params: Json) -> Any:
            # What leaves here otherwise would be logged and its text sent to the peer.
            try:
                return Success(await serve(request))
            except RpcFailure as failure:
                raise JsonRpcError(failure.code, failure.message, **_data(failure.data)) from None
            except Exception as error:
                internal = internal_answer(request.id, on_error(error))["error"]
                raise JsonRpcError(RpcCode.INTERNAL_ERROR.value, internal["message"], internal["data"]) from None

        message: JsonObject = {"method": request.method, "params": request.params, "id": request.id}
        methods: Any = {request.method: method}
        outcome = await dispatch_request(methods, request, create_request(message))
        response: Any = to_response(*outcome)
        answer: Any = to_serializable_one(response)
        return answer


def _data(data: Json) -> JsonObject:
    return {} if data is None else {"data": data}
