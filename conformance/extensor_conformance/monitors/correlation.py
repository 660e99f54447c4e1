"""PROTO-05: each request is answered exactly once, with its own id; notifications never (P-RPC-02, P-RPC-03)."""

from collections.abc import Iterator
from typing import Any

from extensor.contract import JsonObject
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.verdicts import DiffRow, Problem

CHECK = "PROTO-05"


class CorrelationMonitor(Monitor):
    """Reports answers that belong to nothing, and messages that are none."""

    checks = (CHECK,)

    def __init__(self) -> None:
        self._seen = False

    def answered(self, exchange: Exchange, kind: object) -> Iterator[Finding]:
        """An answer found its request."""
        del kind
        self._seen = True
        answer = exchange.answer
        if answer is not None and exchange.method and not exchange.wild:
            yield from _version(answer.raw)

    def stray(self, message: Any, raw: bytes, reason: str, connection: str) -> Iterator[Finding]:
        """See `Monitor.stray`."""
        del message, connection
        self._seen = True
        rows = (DiffRow("$.id", (raw[:200].decode("utf-8", "backslashreplace"),)),)
        message = f"an answer came that belongs to no open request: {reason}"
        yield Finding(CHECK, None, Problem(message, "$.id", columns=("answer",), rows=rows))

    def notified(self, message: JsonObject, raw: bytes, connection: str) -> Iterator[Finding]:
        """A notification, or a request of the provider: its envelope has to be right too."""
        del connection
        if not isinstance(message.get("method"), str):
            rows = (DiffRow("$.method", (raw[:200].decode("utf-8", "backslashreplace"),)),)
            problem = Problem("a message came whose method is no text", "$.method", columns=("message",), rows=rows)
            yield Finding(CHECK, None, problem)

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset({(CHECK, None)}) if self._seen else frozenset()


def _version(raw: bytes) -> Iterator[Finding]:
    if b'"2.0"' not in raw:
        yield Finding(CHECK, None, Problem('an answer came without "jsonrpc": "2.0"', "$.jsonrpc"))
