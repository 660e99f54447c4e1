"""The handshake from the host's side: `provider/initialize`, and what is said when there is none (P-LIFE-*)."""

from dataclasses import dataclass

from extensor.contract import (
    ContractViolation,
    ErrorCode,
    HostCapabilities,
    InitializeParams,
    InitializeResult,
    Limits,
    RpcCode,
    serves,
)
from extensor.contract.handshake import INITIALIZE, PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS
from extensor.errors import CallTimedOut, ConnectionFailed, ConnectionLost, ProviderExited, RpcError, StartFailed
from extensor.hosting.connection import Connection
from extensor.hosting.timeouts import FAILED_START, GREETING

_SPOKEN = ", ".join(SUPPORTED_PROTOCOL_VERSIONS)


@dataclass(frozen=True, slots=True)
class Greeting:
    """Who answered. Without a handshake the provider is taken at its given name, and its version is not known."""

    name: str
    version: str | None
    protocol: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class Terms:
    """What a host asks of a provider, and says of itself."""

    want_version: str | None = None
    token: str | None = None
    """Presented to a provider on TCP."""
    client: tuple[str, str] = ("extensor", "0")
    """Name and version of this host."""
    patience: float = GREETING
    """Seconds for the answer."""


async def greet(connection: Connection, terms: Terms, capabilities: HostCapabilities) -> Greeting:
    """Greet the provider at the other end, check protocol and version.

    Raises `StartFailed` with what happened, its exit code and the end of its stderr included; the connection is closed
    then.
    """
    params = InitializeParams(SUPPORTED_PROTOCOL_VERSIONS, *terms.client, capabilities, terms.token)
    asked = terms.want_version
    try:
        greeting = await _greet(connection, params, terms.patience)
        if asked is not None and greeting.version is not None and not serves(greeting.version, asked):
            raise StartFailed(
                f"{ErrorCode.UNSUPPORTED_VERSION}: version {asked} of provider {connection.name} is asked for, "
                f"and {greeting.version} answers; a provider serves its own version and lower ones of the same major "
                "version"
            )
    except BaseException:
        connection.close(FAILED_START)
        raise
    return greeting


async def _greet(connection: Connection, params: InitializeParams, patience: float) -> Greeting:
    name = connection.name
    try:
        answer = InitializeResult.from_wire(await connection.peer.call(INITIALIZE, params.to_wire(), timeout=patience))
    except RpcError as error:
        if connection.echoes:
            raise StartFailed(
                f"{name} is no provider: it sends the host's own requests back{connection.beginning()}"
            ) from error
        if error.code == RpcCode.METHOD_NOT_FOUND:  # the handshake is optional
            return Greeting(name, None, PROTOCOL_VERSION, Limits())
        raise StartFailed(f"provider {name} refused the handshake: {_reasons(error)}{connection.evidence()}") from error
    except CallTimedOut as error:
        raise StartFailed(
            f"provider {name} did not answer {INITIALIZE} within {patience:g} s{_seen(connection)}"
        ) from error
    except ConnectionLost as error:
        reason = await connection.why(error)
        raise StartFailed(_lost(connection, reason)) from reason
    except ConnectionFailed as error:
        raise StartFailed(f"provider {name} could not be greeted: {error}{_seen(connection)}") from error
    except ContractViolation as error:
        raise StartFailed(
            f"provider {name} answered {INITIALIZE} with what is no greeting: {error}{_seen(connection)}"
        ) from error
    if answer.protocol_version not in SUPPORTED_PROTOCOL_VERSIONS:
        raise StartFailed(
            f"{ErrorCode.UNSUPPORTED_VERSION}: provider {connection.name} speaks protocol version "
            f"{answer.protocol_version}, this host speaks {_SPOKEN}"
        )
    return Greeting(answer.provider_name, answer.provider_version, answer.protocol_version, answer.limits)


def _lost(connection: Connection, reason: ConnectionLost) -> str:
    """What to say of a provider that went away before it greeted."""
    if not isinstance(reason, ProviderExited):
        return f"provider {connection.name} could not be started: {reason}{connection.beginning()}"
    hint = " before it answered; does the program call extensor.run?" if reason.returncode == 0 else ""
    said = connection.beginning() if connection.peer.beginning() else ""
    return f"provider {connection.name} could not be started: it {reason.how(hint + said)}"


def _seen(connection: Connection) -> str:
    return ("" if connection.stray else connection.beginning()) + connection.evidence()


def _reasons(error: RpcError) -> str:
    data = error.data if isinstance(error.data, dict) else {}
    versions, errors = data.get("supportedVersions"), data.get("errors")
    if isinstance(versions, list):
        return f"{error}; it speaks protocol version {', '.join(map(str, versions))}, this host speaks {_SPOKEN}"
    if not isinstance(errors, list):
        return str(error)
    return "; ".join(f"{item.get('message')} ({item.get('code')})" for item in errors if isinstance(item, dict)) or str(
        error
    )
