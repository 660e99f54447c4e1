"""What a provider answered, as checks look at it: plain wire JSON, markers left as they came."""

from dataclasses import dataclass, field

from extensor.contract import Failure, Fault, Json, JsonObject


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """The `error` member of an answer."""

    code: int
    """JSON-RPC number; 0 when it was none."""
    message: str
    data: Json = None

    @property
    def failure(self) -> Failure:
        """Read leniently as the contract's failure."""
        return Failure.from_wire(self.data, self.message)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The list of faults; empty when the provider gave none in the protocol's form."""
        errors = self.data.get("errors") if isinstance(self.data, dict) else None
        return tuple(Fault.from_wire(item) for item in errors) if isinstance(errors, list) else ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The word of each fault."""
        return tuple(fault.code for fault in self.faults)

    @property
    def paths(self) -> tuple[str | None, ...]:
        """The path of each fault."""
        return tuple(fault.path for fault in self.faults)

    @property
    def transient(self) -> bool:
        """Whether the provider says that a repeat may succeed."""
        return isinstance(self.data, dict) and self.data.get("transient") is True

    def __str__(self) -> str:
        words = "; ".join(str(fault) for fault in self.faults[:3])
        return f"error {self.code}: {words or self.message}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a result, or an error."""

    result: Json = None
    """The whole `result` member."""
    error: ErrorAnswer | None = None
    id: Json = None
    """As it came."""
    raw: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    """From the sending of the request to the arrival of the answer."""

    @property
    def ok(self) -> bool:
        """Whether it is a result."""
        return self.error is None

    @property
    def properties(self) -> JsonObject:
        """`properties` of a verb's result; empty when there are none."""
        found = self.result.get("properties") if isinstance(self.result, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def identifiers(self) -> JsonObject:
        """`identifiers` of a verb's result; empty when there are none."""
        found = self.result.get("identifiers") if isinstance(self.result, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def config_id(self) -> str | None:
        """`configId` of a verb's result."""
        found = self.result.get("configId") if isinstance(self.result, dict) else None
        return found if isinstance(found, str) else None

    @property
    def metadata(self) -> JsonObject:
        """`metadata` of a preview's result; empty when there is none."""
        found = self.result.get("metadata") if isinstance(self.result, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def codes(self) -> tuple[str, ...]:
        """The words of an error's faults; empty for a result."""
        return self.error.codes if self.error is not None else ()

    def has_code(self, *codes: str) -> bool:
        """Whether an error carries one of these words."""
        return any(code in codes for code in self.codes)

    def __str__(self) -> str:
        return "a result" if self.error is None else str(self.error)


LOG_FOLLOWS = "; its stderr ends with: "
"""In the text of a connection's end, before what the provider last wrote to its log."""


class NoAnswer(Exception):
    """A request was not answered, or not even taken, within the bound."""


class ConnectionEnded(Exception):
    """The connection ended before the answer came. The text says how: exit code or signal, and the end of stderr."""


class NotExpressible(Exception):
    """This wire has no form for what a check wants to send; makes the check NOT-APPLICABLE."""
