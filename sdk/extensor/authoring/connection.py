"""One connection from a host: the protocol's methods over a provider's runtime."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from extensor.authoring import log
from extensor.authoring.boundary import failure_of
from extensor.authoring.call import NO_SECRETS
from extensor.authoring.loop import must_pass, spawn
from extensor.authoring.runtime import ProviderRuntime
from extensor.contract.codes import ErrorCode, RpcCode
from extensor.contract.data import ResourceData, json_kind
from extensor.contract.faults import ContractViolation, Failure, Fault, summary
from extensor.contract.handshake import (
    ACQUIRE_TOKEN,
    GET_CONFIG_TYPE,
    GET_TYPE,
    GET_TYPE_FILES,
    INITIALIZE,
    LIST_TYPES,
    LOG,
    PING,
    PROGRESS,
    SHUTDOWN,
    SUPPORTED_PROTOCOL_VERSIONS,
    HostCapabilities,
    InitializeParams,
    InitializeResult,
)
from extensor.contract.json import Json, JsonObject
from extensor.contract.limits import Limits
from extensor.contract.redaction import Redactor
from extensor.contract.result import ResourceResult
from extensor.contract.unknown import may_hold_markers
from extensor.contract.verbs import VERB_BY_METHOD, Verb
from extensor.errors import ConnectionFailed, OperationFailed, RpcError, Unauthorized, Unavailable
from extensor.rpc.codec import CodecError, encode
from extensor.rpc.framing import Framing
from extensor.rpc.peer import Peer
from extensor.rpc.requests import JsonText, Request, RpcFailure
from extensor.rpc.streams import ByteStream

DRAIN_SECONDS = 30.0
"""How long a shutdown waits for running operations that have no deadline of their own."""
MOST_NOTICES = 1000
"""Progress and log lines kept for a host that does not take them; the oldest are dropped."""
TOKEN_SECONDS = 60.0
"""How long a handler waits for a token from the host."""


class Connection:
    """Serves a provider on one stream.

    With `token` the host must present it in `provider/initialize` before anything else is answered.
    """

    def __init__(
        self,
        runtime: ProviderRuntime,
        stream: ByteStream,
        *,
        token: str | None = None,
        limits: Limits = Limits(),
        framing: Framing | None = None,
    ) -> None:
        self.runtime = runtime
        self._token = token
        self._limits = limits
        self._welcome = token is None
        self._notices: deque[tuple[str, JsonObject]] = deque(maxlen=MOST_NOTICES)
        self._sending = False
        self.capabilities = HostCapabilities()
        self.peer = Peer(stream, self._serve, framing=framing, limits=limits, on_error=_log_unexpected)
        self._methods: dict[str, Callable[[Json], Awaitable[Json]]] = {
            PING: self._ping,
            LIST_TYPES: self._list_types,
            GET_TYPE: self._get_type,
            GET_CONFIG_TYPE: self._get_config_type,
            GET_TYPE_FILES: self._get_type_files,
        }

    async def run(self) -> None:
        """Serve until the stream ends; what still runs then is canceled."""
        await self.peer.run()

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Take no more work and wait for what runs, at most so long; the rest is canceled."""
        await self.peer.drain(seconds)

    async def _serve(self, request: Request) -> Json:
        verb = VERB_BY_METHOD.get(request.method)
        try:
            if not self._welcome and request.method != INITIALIZE:
                raise Unauthorized("present the provider's token in provider/initialize first")
            if verb is not None:
                return await self._resource(verb, request)
            if request.method == INITIALIZE:
                return self._initialize(_params(request.params))
            if request.method == SHUTDOWN:
                await self._shutdown(request)
                return {}
            method = self._methods.get(request.method)
            if method is not None:
                return await method(_params(request.params))
        except ContractViolation as error:
            raise _refusal(error) from None
        except OperationFailed as error:
            raise _failed(error.failure) from None
        except RpcFailure:
            raise
        except BaseException as error:
            if must_pass(error):
                raise
            raise _failed(failure_of(error, title=request.method, redactor=NO_SECRETS)) from None
        raise RpcFailure(RpcCode.METHOD_NOT_FOUND, f"there is no method {request.method}")

    async def _resource(self, verb: Verb, request: Request) -> Json:
        line = _Line(self, request)
        request.left_behind = line.left_behind
        text, request.text = request.text, None
        data = ResourceData.from_wire(request.params, text)
        try:
            result = await self.runtime.call(verb, data, line, text)
        finally:
            if self._notices:
                await self._send_notices()
        return _written(result)

    def _initialize(self, params: JsonObject) -> Json:
        asked = InitializeParams.from_wire(params)
        version = next((item for item in asked.protocol_versions if item in SUPPORTED_PROTOCOL_VERSIONS), None)
        if version is None:
            supported = ", ".join(SUPPORTED_PROTOCOL_VERSIONS)
            message = f"none of these protocol versions is supported; this provider speaks {supported}"
            fault = Fault(ErrorCode.UNSUPPORTED_VERSION, message, "$.protocolVersions")
            told = {"supportedVersions": list(SUPPORTED_PROTOCOL_VERSIONS), **Failure((fault,)).to_wire()}
            raise RpcFailure(RpcCode.INVALID_PARAMS, message, told)
        if self._token is not None:
            from hmac import compare_digest

            if asked.token is None or not compare_digest(asked.token.encode(), self._token.encode()):
                raise Unauthorized("the token is missing or is not this provider's", path="$.token")
        self._welcome = True
        self.capabilities = asked.capabilities
        provider = self.runtime.provider
        return InitializeResult(version, provider.name, provider.version, limits=self._limits).to_wire()

    async def _shutdown(self, request: Request) -> None:
        self.runtime.closing = True
        await self.peer.drain(self.runtime.drain_seconds(DRAIN_SECONDS), besides=request)

    async def _ping(self, _: JsonObject) -> Json:
        return {}

    async def _list_types(self, _: JsonObject) -> Json:
        return {
            "types": [
                {"type": str(item.name), "operations": [verb.wire for verb in item.offered]}
                for item in self.runtime.provider.resources.values()
            ]
        }

    async def _get_type(self, params: JsonObject) -> Json:
        from extensor.types.writer import resolve_inline

        name = params.get("type")
        if not isinstance(name, str):
            raise ContractViolation(
                Fault(ErrorCode.INVALID_REQUEST, f"expected a text, got {json_kind(name)}", "$.type")
            )
        return resolve_inline(self.runtime.facts(name).type)

    async def _get_config_type(self, _: JsonObject) -> Json:
        from extensor.types.writer import resolve_inline

        config_type = self.runtime.provider.types.config_type
        return None if config_type is None else resolve_inline(config_type)

    async def _get_type_files(self, _: JsonObject) -> Json:
        index, files = self.runtime.provider.types.write()
        return {"indexFile": index, "typeFiles": files}

    def notice(self, method: str, params: JsonObject) -> None:
        """Queue a notification to the host; it leaves before the answer of the call it belongs to."""
        self._notices.append((method, params))
        if not self._sending:
            self._sending = True
            spawn(self._send_notices)

    async def _send_notices(self) -> None:
        try:
            while self._notices:
                method, params = self._notices.popleft()
                await self.peer.notify(method, params)
        except ConnectionFailed:
            self._notices.clear()
        finally:
            self._sending = False


class _Line:
    """The way back to the host for one call."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self._connection = connection
        self._id = request.id
        self._runtime = connection.runtime
        self._recorded: JsonObject | None = None
        self.redactor = NO_SECRETS

    def record(self, resource: JsonObject) -> None:
        self._recorded = resource

    def left_behind(self) -> JsonObject | None:
        return self.redactor.data(self._recorded)

    def post(self, callback: Callable[[], object], /) -> object:
        return self._runtime.caller.post(callback)

    def progress(self, message: str, percent: float | None) -> None:
        if self._id is None or not self._connection.capabilities.progress:
            return
        params: JsonObject = {"id": self._id, "message": self.redactor.text(message)}
        if percent is not None:
            params["percent"] = percent
        self._notice(PROGRESS, params)

    def log(self, level: str, message: str) -> None:
        text = self.redactor.text(message)
        if not self._connection.capabilities.log:
            log.write(level, text)
            return
        params: JsonObject = {"level": level, "message": text}
        if self._id is not None:
            params["id"] = self._id
        self._notice(LOG, params)

    def _notice(self, method: str, params: JsonObject) -> None:
        if self._runtime.on_loop_thread():
            self._connection.notice(method, params)
        else:
            self.post(lambda: self._connection.notice(method, params))

    async def token(self, scopes: Sequence[str], claims: str | None, force_refresh: bool) -> str:
        if not self._connection.capabilities.tokens:
            raise Unauthorized("the host gives no access tokens")
        params: JsonObject = {"scopes": list(scopes)}
        if claims is not None:
            params["claims"] = claims
        if force_refresh:
            params["forceRefresh"] = True
        try:
            answer = await self._connection.peer.call(ACQUIRE_TOKEN, params, timeout=TOKEN_SECONDS)
        except RpcError as error:
            raise Unauthorized(f"the host gave no access token: {error.message}") from None
        except ConnectionFailed:
            raise Unavailable("the host did not answer the request for an access token") from None
        token = answer.get("token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token:
            raise Unauthorized("the host's answer holds no access token")
        if self.redactor is NO_SECRETS:
            self.redactor = Redactor()
        self.redactor.add(token)
        return token


def _written(result: ResourceResult) -> Json:
    """The result as JSON text where that shows that no marker is in it, else what the wire has for it."""
    if result.metadata is None:
        try:
            text = encode(result.to_wire(plain=True))
        except CodecError:
            return result.to_wire()  # the peer tells of it
        if not may_hold_markers(text):
            return JsonText(text)
    return result.to_wire()


def _params(params: Json) -> JsonObject:
    if params is None:
        return {}
    if isinstance(params, dict):
        return params
    raise ContractViolation(Fault(ErrorCode.INVALID_REQUEST, f"expected an object, got {json_kind(params)}", "$"))


def _refusal(error: ContractViolation) -> RpcFailure:
    return RpcFailure(
        RpcCode.INVALID_PARAMS, f"invalid params: {summary(error.faults)}", Failure(error.faults).to_wire()
    )


def _failed(failure: Failure) -> RpcFailure:
    return RpcFailure(RpcCode.OPERATION_FAILED, failure.message, failure.to_wire())


def _log_unexpected(error: Exception) -> JsonObject:
    return failure_of(error, title="the connection", redactor=NO_SECRETS).to_wire()
