"""How host and provider greet (P-LIFE-*), and what a provider says of its types."""

from extensor.contract.codes import ErrorCode
from extensor.contract.data import json_kind
from extensor.contract.faults import ContractViolation, Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.limits import DEFAULT_MAX_CONCURRENT_REQUESTS, DEFAULT_MAX_MESSAGE_BYTES, Limits
from extensor.contract.value import value

PROTOCOL_VERSION = "1"
SUPPORTED_PROTOCOL_VERSIONS = (PROTOCOL_VERSION,)

INITIALIZE = "provider/initialize"
PING = "provider/ping"
LIST_TYPES = "provider/listTypes"
GET_TYPE = "provider/getType"
GET_CONFIG_TYPE = "provider/getConfigType"
GET_TYPE_FILES = "provider/getTypeFiles"
SHUTDOWN = "provider/shutdown"
CANCEL = "$/cancelRequest"
PROGRESS = "$/progress"
LOG = "$/log"
ACQUIRE_TOKEN = "host/acquireToken"  # noqa: S105 - a method's name

TOKEN_VARIABLE = "EXTENSOR_TOKEN"  # noqa: S105 - an environment variable's name
"""Where a provider on TCP finds the token that its host must present (P-CONN-08)."""


@value
class HostCapabilities:
    """What a host can take: progress and log notifications, requests for tokens."""

    progress: bool = False
    log: bool = False
    tokens: bool = False

    def to_wire(self) -> JsonObject:
        """The `capabilities` member of the params."""
        return {"progress": self.progress, "log": self.log, "tokens": self.tokens}


@value
class InitializeParams:
    """The params of `provider/initialize`."""

    protocol_versions: tuple[str, ...] = SUPPORTED_PROTOCOL_VERSIONS
    client_name: str = "unnamed"
    client_version: str = "0"
    capabilities: HostCapabilities = HostCapabilities()
    token: str | None = None

    def to_wire(self) -> JsonObject:
        """The `params` member."""
        wire: JsonObject = {
            "protocolVersions": list(self.protocol_versions),
            "client": {"name": self.client_name, "version": self.client_version},
            "capabilities": self.capabilities.to_wire(),
        }
        return wire if self.token is None else {**wire, "token": self.token}

    @classmethod
    def from_wire(cls, params: Json) -> "InitializeParams":
        """Read `params`. Raises `ContractViolation`; only `protocolVersions` is required."""
        if not isinstance(params, dict):
            raise ContractViolation(
                Fault(ErrorCode.INVALID_REQUEST, f"expected an object, got {json_kind(params)}", "$")
            )
        versions = params.get("protocolVersions")
        if not isinstance(versions, list) or not versions or not all(isinstance(item, str) for item in versions):
            raise ContractViolation(
                Fault(ErrorCode.INVALID_REQUEST, 'expected a list of versions, for example ["1"]', "$.protocolVersions")
            )
        client: JsonObject = params["client"] if isinstance(params.get("client"), dict) else {}
        able: JsonObject = params["capabilities"] if isinstance(params.get("capabilities"), dict) else {}
        token = params.get("token")
        return cls(
            tuple(versions),
            str(client.get("name", "unnamed")),
            str(client.get("version", "0")),
            HostCapabilities(able.get("progress") is True, able.get("log") is True, able.get("tokens") is True),
            token if isinstance(token, str) else None,
        )


@value
class InitializeResult:
    """The result of `provider/initialize`."""

    protocol_version: str
    provider_name: str
    provider_version: str
    cancel: bool = True
    progress: bool = True
    batch: bool = True
    limits: Limits = Limits()

    def to_wire(self) -> JsonObject:
        """The `result` member."""
        return {
            "protocolVersion": self.protocol_version,
            "provider": {"name": self.provider_name, "version": self.provider_version},
            "capabilities": {"cancel": self.cancel, "progress": self.progress, "batch": self.batch},
            "limits": self.limits.to_wire(),
        }

    @classmethod
    def from_wire(cls, wire: Json) -> "InitializeResult":
        """Read a provider's answer. Raises `ContractViolation` when version or name are missing."""
        data: JsonObject = wire if isinstance(wire, dict) else {}
        provider: JsonObject = data["provider"] if isinstance(data.get("provider"), dict) else {}
        faults = [
            Fault(ErrorCode.INVALID_REQUEST, "expected a text", path)
            for path, value in (
                ("$.protocolVersion", data.get("protocolVersion")),
                ("$.provider.name", provider.get("name")),
                ("$.provider.version", provider.get("version")),
            )
            if not isinstance(value, str)
        ]
        if faults:
            raise ContractViolation(*faults)
        able: JsonObject = data["capabilities"] if isinstance(data.get("capabilities"), dict) else {}
        limits: JsonObject = data["limits"] if isinstance(data.get("limits"), dict) else {}
        return cls(
            data["protocolVersion"],
            provider["name"],
            provider["version"],
            able.get("cancel") is True,
            able.get("progress") is True,
            able.get("batch") is True,
            Limits(
                _count(limits.get("maxMessageBytes"), DEFAULT_MAX_MESSAGE_BYTES),
                _count(limits.get("maxConcurrentRequests"), DEFAULT_MAX_CONCURRENT_REQUESTS),
            ),
        )


def _count(value: Json, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default
