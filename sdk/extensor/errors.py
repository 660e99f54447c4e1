"""Every exception of extensor.

ExtensorError
├── OperationFailed            a verb failed; carries a Failure, on either side of the wire
│   ├── InvalidProperty        a value is wrong; names its path
│   ├── NotFound               the resource does not exist
│   ├── Conflict               another writer, or another owner
│   ├── Unauthorized           no or no valid credentials
│   ├── PermissionDenied       credentials without the right
│   ├── Throttled              too many calls; transient
│   ├── Unavailable            the service is down; transient
│   ├── DeadlineExceeded       the call's time ran out
│   ├── Canceled               the caller took the call back
│   └── PreviewNotSupported    a preview that cannot say anything true
├── ConnectionFailed           between two peers
│   ├── RpcError               the peer answered with a JSON-RPC error that is no failed operation
│   ├── ConnectionLost         the stream ended with calls pending
│   │   └── ProviderExited     the provider's process is gone: exit code or signal, tail of its stderr
│   ├── ProtocolViolation      the peer sent what the protocol does not allow
│   └── CallTimedOut           no answer in time; the outcome is unclear
├── ProviderNotFound           nothing answers to that name
├── StartFailed                a provider could not be started or greeted
├── TypesError                 a types file or a model that cannot be one
├── TemplateError              a template, parameter or expression; names its place and a remedy
├── StateError                 the state store: locked, damaged, of another version
└── MissingExtra               an optional part is not installed; names the command that installs it

`UnknownValueError` (a `TypeError`) and `ContractViolation` (a `ValueError`) live in `extensor.contract`.
"""

from collections.abc import Iterable

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Failure, Fault
from extensor.contract.json import Json, JsonObject


class ExtensorError(Exception):
    """Anything that extensor raises on purpose. Its text is never empty and says what to do."""


class OperationFailed(ExtensorError):
    """A verb failed. Raise it, or a subclass, in a handler; a host's session raises it for a provider's answer."""

    code: str = ErrorCode.INTERNAL_ERROR
    transient: bool = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        path: str | None = None,
        transient: bool | None = None,
        retry_after: float | None = None,
        resource: JsonObject | None = None,
    ) -> None:
        """`path` is a JSONPath such as ``$.properties.name``; `retry_after` is in seconds and implies `transient`.

        `resource` says what exists after a half-failed save: ``{"identifiers": {…}}``.
        """
        own = type(self).transient if transient is None else transient
        self._set(
            Failure(
                (Fault(code or type(self).code, message, path),), own or retry_after is not None, retry_after, resource
            )
        )

    def _set(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)

    @classmethod
    def of(cls, failure: Failure) -> "OperationFailed":
        """The most specific exception for a failure, by its first fault's code."""
        kind = _BY_CODE.get(failure.code, OperationFailed)
        error = kind.__new__(kind)
        error._set(failure)
        return error

    @classmethod
    def many(cls, faults: "Iterable[Fault | OperationFailed]") -> "OperationFailed":
        """One exception for several faults, so that all of them are told at once.

        Takes exceptions, ``OperationFailed.many([InvalidProperty("a", "…"), InvalidProperty("b", "…")])``, and bare
        `Fault` objects. The host may try again only when each of them says so. Raises `ValueError` for none at all.
        """
        return cls.of(
            Failure.together(item.failure if isinstance(item, OperationFailed) else Failure((item,)) for item in faults)
        )


class InvalidProperty(OperationFailed):
    """A property's value is wrong. `path` counts from the properties, ``spec.ports[0]``, or from the root, ``$.…``."""

    code = ErrorCode.INVALID_PROPERTY

    def __init__(self, path: str, message: str, *, code: str | None = None) -> None:
        """`path` names the property, ``name`` or ``spec.ports[0]``; `message` says what is wrong and what would do."""
        super().__init__(message, code=code, path=path if path.startswith("$") else f"$.properties.{path}")


class NotFound(OperationFailed):
    """The resource does not exist."""

    code = ErrorCode.RESOURCE_NOT_FOUND

    def __init__(self, message: str = "there is no such resource", **kwargs: Json) -> None:
        """Takes what `OperationFailed` takes, with a message of its own by default."""
        super().__init__(message, **kwargs)


class Conflict(OperationFailed):
    """Someone else changed, owns or holds the resource."""

    code = ErrorCode.CONFLICT


class Unauthorized(OperationFailed):
    """Credentials are missing, expired or refused."""

    code = ErrorCode.UNAUTHORIZED


class PermissionDenied(OperationFailed):
    """The credentials are good and do not allow this."""

    code = ErrorCode.PERMISSION_DENIED


class Throttled(OperationFailed):
    """The service asks for fewer calls. The host waits `retry_after` seconds, or its own back-off, and tries again."""

    code = ErrorCode.THROTTLED
    transient = True


class Unavailable(OperationFailed):
    """The service cannot be reached or is down for now. The host may try again."""

    code = ErrorCode.UNAVAILABLE
    transient = True


class DeadlineExceeded(OperationFailed):
    """The call's time ran out; what it had begun may or may not have happened."""

    code = ErrorCode.DEADLINE_EXCEEDED


class Canceled(OperationFailed):
    """The caller took the call back."""

    code = ErrorCode.CANCELED


class PreviewNotSupported(OperationFailed):
    """Nothing true can be said before the deployment runs."""

    code = ErrorCode.PREVIEW_NOT_SUPPORTED


_BY_CODE: dict[str, type[OperationFailed]] = {
    str(kind.code): kind
    for kind in (
        InvalidProperty,
        NotFound,
        Conflict,
        Unauthorized,
        PermissionDenied,
        Throttled,
        Unavailable,
        DeadlineExceeded,
        Canceled,
        PreviewNotSupported,
    )
}


class ConnectionFailed(ExtensorError):
    """Something between two peers went wrong."""


class RpcError(ConnectionFailed):
    """The peer answered with a JSON-RPC error. `code` is its number, `data` whatever it added."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{message or 'the peer gave no reason'} (JSON-RPC error {code})")


class ConnectionLost(ConnectionFailed):
    """The stream ended before the answer came. The outcome of pending calls is unclear."""


class ProviderExited(ConnectionLost):
    """The provider's process is gone. `returncode` is negative for a signal, as in `subprocess`."""

    def __init__(self, provider: str, returncode: int | None, stderr_tail: str = "") -> None:
        self.provider = provider
        self.returncode = returncode
        self.stderr_tail = stderr_tail
        super().__init__(f"provider {provider} {self.how()}")

    def how(self, remark: str = "") -> str:
        """The end in words that follow the provider's name: how, then a `remark`, then the end of its stderr."""
        tail = self.stderr_tail
        last = f"; the end of its stderr:\n{tail}" if tail.strip() else "; its stderr is empty"
        return f"exited {_how(self.returncode)}{remark}{last}"


class ProtocolViolation(ConnectionFailed):
    """The peer sent something that the protocol does not allow; the message quotes its first bytes."""


class CallTimedOut(ConnectionFailed):
    """No answer within the time allowed. The call was canceled at the peer; its outcome is unclear."""


class ProviderNotFound(ExtensorError):
    """No provider of that name is installed or given."""


class StartFailed(ExtensorError):
    """A provider could not be started, or did not greet. The message holds exit code and the tail of stderr."""


class TypesError(ExtensorError):
    """A bicep-types file that cannot be read, or a model that has no counterpart there."""


class TemplateError(ExtensorError):
    """A template, its parameters or an expression. `path` is the place in the document, `faults` lists all of them."""

    def __init__(
        self, message: str, path: str | None = None, *, code: str = "InvalidTemplate", faults: tuple[Fault, ...] = ()
    ) -> None:
        self.message = message
        self.path = path
        self.code = code
        self.faults = faults or (Fault(code, message, path),)
        super().__init__(f"{path}: {message}" if path else message)

    @classmethod
    def many(cls, faults: Iterable[Fault]) -> "TemplateError":
        """One exception for several faults, a line each."""
        every = tuple(faults)
        if len(every) == 1:
            return cls(every[0].message, every[0].path, code=every[0].code, faults=every)
        lines = "".join(f"\n  {fault.path}: {fault.message}" for fault in every)
        return cls(f"{len(every)} faults:{lines}", code=every[0].code, faults=every)


class StateError(ExtensorError):
    """The state store cannot be used as asked: held by another run, damaged, or written by a newer version."""


class MissingExtra(ExtensorError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part; install it with: pip install 'extensor[{extra}]'")


def _how(returncode: int | None) -> str:
    if returncode is None:
        return "in a way that could not be seen"
    if returncode >= 0:
        return f"with code {returncode}"
    import signal

    try:
        return f"by signal {signal.Signals(-returncode).name}"
    except ValueError:
        return f"by signal {-returncode}"
