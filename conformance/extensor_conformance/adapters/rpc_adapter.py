"""What the wires of JSON-RPC have in common."""

from abc import ABC, abstractmethod

from extensor_conformance.adapters.base import Feature
from extensor_conformance.adapters.framing import Framing
from extensor_conformance.adapters.jsonrpc import JsonRpcConnection
from extensor_conformance.adapters.opening import Opening
from extensor_conformance.subject import Subject
from extensor_conformance.watch import Watch


class JsonRpcAdapter(ABC):
    """JSON-RPC over whatever `connect` opens."""

    name: str
    features: frozenset[Feature]

    def open(
        self,
        subject: Subject,
        watch: Watch,
        *,
        name: str = "1",
        start_timeout: float,
        framing: Framing = "lines",
    ) -> JsonRpcConnection:
        """See `Adapter.open`."""
        return self.connect(Opening(subject, watch, name, framing, start_timeout))

    @abstractmethod
    def connect(self, wanted: Opening) -> JsonRpcConnection:
        """Open it. Raises `StartFailed`."""
