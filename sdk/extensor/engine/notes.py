"""What goes on record about a failure: codes and one line of words, never output of a provider's process or a body."""

import re
from collections.abc import Iterable

from extensor.contract import Fault

LONGEST = 300
"""Characters of one message that are kept."""

_CONNECTION = frozenset(
    {"ProviderExited", "ConnectionLost", "CallTimedOut", "ProtocolViolation", "StartFailed", "ProviderNotFound"}
)
"""Failures whose messages go on with what the process printed or sent."""
_EVIDENCE = re.compile(r"[;:]\s|\n")


def note_of(faults: Iterable[Fault]) -> str:
    """Faults as one line for the record (P-SECRET-02)."""
    return "; ".join(f"{fault.code}: {_short(fault)}" for fault in faults)


def _short(fault: Fault) -> str:
    text = fault.message.strip()
    if fault.code in _CONNECTION:
        text = _EVIDENCE.split(text, maxsplit=1)[0]
    text = text.split("\n", 1)[0].removesuffix("; the end of its stderr:")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
