"""Which wire a subject is reached over."""

from extensor_conformance.adapters.base import Adapter
from extensor_conformance.adapters.sockets import SocketAdapter
from extensor_conformance.adapters.stdio import StdioAdapter
from extensor_conformance.subject import Subject


def adapter_for(subject: Subject) -> Adapter:
    """The adapter of the subject's wire."""
    return StdioAdapter() if subject.wire == "stdio" else SocketAdapter(subject.wire, subject.owned)
