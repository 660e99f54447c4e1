"""A host that lives in the test's process and speaks the real protocol with the provider under test."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from extensor.authoring.connection import Connection
from extensor.authoring.provider import Provider
from extensor.authoring.runtime import ProviderRuntime
from extensor.contract.codes import RpcCode
from extensor.contract.data import CallContext, Import, ResourceData
from extensor.contract.faults import Failure
from extensor.contract.handshake import (
    ACQUIRE_TOKEN,
    GET_TYPE_FILES,
    INITIALIZE,
    LOG,
    PROGRESS,
    HostCapabilities,
    InitializeParams,
)
from extensor.contract.json import Json, JsonObject
from extensor.contract.result import ResourceResult
from extensor.contract.verbs import Verb
from extensor.errors import OperationFailed, RpcError
from extensor.rpc import Peer, Request, RpcFailure, memory_pair
from extensor.types.index import TypeIndex

TokenSource = Callable[[JsonObject], Awaitable[str]]
"""Gives a token for the params of `host/acquireToken`."""

DEFAULT_TIMEOUT_SECONDS = 10.0


class Host:
    """Calls a provider's verbs as an engine would. Got from `connect`."""

    def __init__(self, peer: Peer, provider: Provider, config: JsonObject) -> None:
        self.peer = peer
        """The connection itself, for tests that send what no decent host would."""
        self.provider = provider
        self.config = config
        self.config_id: str | None = None
        """Sent with each call; the last one that an answer brought, unless a test sets it."""
        self.progress: list[JsonObject] = []
        """The progress notifications so far."""
        self.logs: list[JsonObject] = []
        """The log notifications so far."""

    async def save(self, type_name: str, properties: JsonObject, **context: Any) -> ResourceResult:
        """Save a resource. Raises `OperationFailed` for a failure; `context` holds fields of `CallContext`."""
        return await self.call(Verb.SAVE, type_name, properties, **context)

    async def preview_save(self, type_name: str, properties: JsonObject, **context: Any) -> ResourceResult:
        """Preview a save; `properties` may hold `Unknown` values. Raises `OperationFailed`."""
        return await self.call(Verb.PREVIEW_SAVE, type_name, properties, **context)

    async def get(self, type_name: str, properties: JsonObject, **context: Any) -> ResourceResult:
        """Get a resource by its identifier properties. Raises `NotFound`, `OperationFailed`."""
        return await self.call(Verb.GET, type_name, properties, **context)

    async def delete(self, type_name: str, properties: JsonObject, **context: Any) -> ResourceResult:
        """Delete a resource by its identifier properties. Raises `OperationFailed`."""
        return await self.call(Verb.DELETE, type_name, properties, **context)

    async def call(
        self,
        verb: Verb,
        type_name: str,
        properties: JsonObject,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        **context: Any,
    ) -> ResourceResult:
        """Call a verb. Raises `OperationFailed` for a failure, `CallTimedOut` after `timeout` seconds."""
        imported = Import(self.provider.name, self.provider.version, self.config, self.config_id)
        data = ResourceData(imported, type_name, properties, CallContext(**context))
        try:
            answer = await self.peer.call(verb.method, data.to_wire(), timeout=timeout)
        except RpcError as error:
            if error.code in (RpcCode.OPERATION_FAILED, RpcCode.CANCELED, RpcCode.INVALID_PARAMS):
                raise OperationFailed.of(Failure.from_wire(error.data, error.message)) from None
            raise
        result = ResourceResult.from_wire(answer)
        self.config_id = result.config_id or self.config_id
        return result

    async def types(self) -> TypeIndex:
        """The provider's types, by way of their files."""
        files = await self.peer.call(GET_TYPE_FILES, {}, timeout=DEFAULT_TIMEOUT_SECONDS)
        return TypeIndex.from_files(files["indexFile"], files["typeFiles"])


@asynccontextmanager
async def connect(
    provider: Provider,
    *,
    config: JsonObject | None = None,
    tokens: TokenSource | Mapping[str, str] | None = None,
    handshake: bool = True,
) -> AsyncGenerator[Host]:
    """A host connected to `provider` inside this process; both ends are the real ones, only the pipe is memory.

    `tokens` answers a handler's request for a token: a function, or a mapping from scope to token. Without
    `handshake` the provider sees a host that never greets. On leaving, what still runs is canceled.
    """
    host_end, provider_end = memory_pair()
    host: Host

    async def serve(request: Request) -> Json:
        if request.method == ACQUIRE_TOKEN and tokens is not None and isinstance(request.params, dict):
            if callable(tokens):
                return {"token": await tokens(request.params), "expiresOn": "2100-01-01T00:00:00Z"}
            for scope in request.params.get("scopes", []):
                if scope in tokens:
                    return {"token": tokens[scope], "expiresOn": "2100-01-01T00:00:00Z"}
            raise RpcFailure(RpcCode.OPERATION_FAILED, "no token for these scopes")
        raise RpcFailure(RpcCode.METHOD_NOT_FOUND, f"this host has no {request.method}")

    def on_notification(method: str, params: Json) -> None:
        if method == PROGRESS:
            host.progress.append(params)
        elif method == LOG:
            host.logs.append(params)

    peer = Peer(host_end, serve, framing="lines", on_notification=on_notification)
    host = Host(peer, provider, config or {})
    connection = Connection(ProviderRuntime(provider), provider_end)
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(connection.run)
        group.start_soon(peer.run)
        try:
            if handshake:
                able = HostCapabilities(progress=True, log=True, tokens=tokens is not None)
                await peer.call(INITIALIZE, InitializeParams(client_name="test", capabilities=able).to_wire())
            yield host
        except Exception as error:  # raised below, so that it does not come out wrapped in a group
            failure = error
        finally:
            with anyio.CancelScope(shield=True):
                await peer.aclose()
                await connection.peer.aclose()
    if failure is not None:
        raise failure
