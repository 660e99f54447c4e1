"""What went wrong, as data: a list of faults, and whether and when to try again (P-ERROR-*)."""

from collections.abc import Iterable

from extensor.contract.codes import ErrorCode
from extensor.contract.json import Json, JsonObject
from extensor.contract.value import value


@value
class Fault:
    """One thing that is wrong. `path` is ``None`` only when no place is at fault (P-ERROR-02)."""

    code: str
    message: str
    path: str | None = None

    def to_wire(self) -> JsonObject:
        """The element of `errors` on the wire."""
        wire: JsonObject = {"code": str(self.code), "message": self.message}
        return wire if self.path is None else {"path": self.path, **wire}

    @classmethod
    def from_wire(cls, wire: Json) -> "Fault":
        """Read a peer's element leniently: what is missing or of another type becomes a usable default."""
        if not isinstance(wire, dict):
            return cls(ErrorCode.INTERNAL_ERROR, str(wire))
        path = wire.get("path")
        return cls(
            str(wire.get("code") or ErrorCode.INTERNAL_ERROR),
            str(wire.get("message") or "no message given"),
            path if isinstance(path, str) else None,
        )

    def __str__(self) -> str:
        return f"{self.path}: {self.message} ({self.code})" if self.path else f"{self.message} ({self.code})"


class ContractViolation(ValueError):
    """A peer sent something that the contract does not allow. `faults` lists everything found."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(str(fault) for fault in faults) or "the contract was not kept")


@value
class Failure:
    """A failed operation: the `data` of error -32010 or -32800."""

    faults: tuple[Fault, ...]
    transient: bool = False
    retry_after_seconds: float | None = None
    resource: JsonObject | None = None
    """What exists after a half-failed save: ``{"identifiers": {…}, "properties"?: {…}}``."""
    correlation_id: str | None = None

    def to_wire(self) -> JsonObject:
        """The `data` member."""
        wire: JsonObject = {"errors": [fault.to_wire() for fault in self.faults], "transient": self.transient}
        if self.retry_after_seconds is not None:
            wire["retryAfterSeconds"] = self.retry_after_seconds
        if self.resource is not None:
            wire["resource"] = self.resource
        if self.correlation_id is not None:
            wire["correlationId"] = self.correlation_id
        return wire

    @classmethod
    def from_wire(cls, wire: Json, message: str = "") -> "Failure":
        """Read a peer's `data` leniently; without a usable list the error's own message is the one fault."""
        data: JsonObject = wire if isinstance(wire, dict) else {}
        errors = data.get("errors")
        faults = tuple(Fault.from_wire(item) for item in errors) if isinstance(errors, list) else ()
        retry = data.get("retryAfterSeconds")
        resource = data.get("resource")
        correlation = data.get("correlationId")
        return cls(
            faults or (Fault(ErrorCode.INTERNAL_ERROR, message or "the peer gave no reason"),),
            data.get("transient") is True,
            float(retry) if isinstance(retry, int | float) and not isinstance(retry, bool) and retry >= 0 else None,
            resource if isinstance(resource, dict) else None,
            correlation if isinstance(correlation, str) else None,
        )

    @classmethod
    def together(cls, failures: Iterable["Failure"]) -> "Failure":
        """Several failures as one, with every fault: transient when all are, after the longest wait that one asks for.

        Raises `ValueError` when there is none.
        """
        every = tuple(failures)
        if len(every) == 1:
            return every[0]
        if not every:
            raise ValueError("a failure needs a fault")
        waits = [failure.retry_after_seconds for failure in every if failure.retry_after_seconds is not None]
        return cls(
            tuple(fault for failure in every for fault in failure.faults),
            all(failure.transient for failure in every),
            max(waits, default=None),
            next((failure.resource for failure in every if failure.resource), None),
            next((failure.correlation_id for failure in every if failure.correlation_id), None),
        )

    @property
    def message(self) -> str:
        """One line for people."""
        return summary(self.faults)

    @property
    def code(self) -> str:
        """The first fault's word."""
        return self.faults[0].code


def summary(faults: Iterable[Fault]) -> str:
    """All faults on one line."""
    return "; ".join(f"{fault.path}: {fault.message}" if fault.path else fault.message for fault in faults)
