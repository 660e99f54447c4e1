"""The limits a provider declares in its handshake (P-LIMIT-*), and the bounds every reader applies."""

from extensor.contract.json import JsonObject
from extensor.contract.value import value

DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
DEFAULT_MAX_CONCURRENT_REQUESTS = 256
MAX_NESTING = 128
"""Levels of objects and arrays in one message; deeper is refused as invalid."""


@value
class Limits:
    """What one side accepts: bytes a message, requests at once."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    max_concurrent_requests: int = DEFAULT_MAX_CONCURRENT_REQUESTS

    def to_wire(self) -> JsonObject:
        """The `limits` member of the handshake's result."""
        return {"maxMessageBytes": self.max_message_bytes, "maxConcurrentRequests": self.max_concurrent_requests}
