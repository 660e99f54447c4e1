"""PROTO-03: every byte on the provider's standard output belongs to a frame (P-CONN-06)."""

from collections.abc import Iterator

from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.verdicts import DiffRow, Problem

CHECK = "PROTO-03"


class StdoutMonitor(Monitor):
    """Reports what is no frame."""

    checks = (CHECK,)

    def __init__(self) -> None:
        self._seen = False

    def answered(self, exchange: Exchange, kind: object) -> Iterator[Finding]:
        """A frame came: there is something to judge."""
        del exchange, kind
        self._seen = True
        yield from ()

    def garbage(self, raw: bytes, reason: str, connection: str) -> Iterator[Finding]:
        """See `Monitor.garbage`."""
        del connection
        self._seen = True
        rows = (DiffRow("$", (raw[:200].decode("utf-8", "backslashreplace"),)),)
        message = f"the provider's output holds bytes that are no frame: {reason}"
        yield Finding(CHECK, None, Problem(message, columns=("bytes",), rows=rows))

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset({(CHECK, None)}) if self._seen else frozenset()
