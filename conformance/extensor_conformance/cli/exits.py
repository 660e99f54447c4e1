"""Exit codes; `docs/conformance.md` and ``provider-conformance --help`` list the same ones."""

from enum import IntEnum


class Exit(IntEnum):
    """What the process's end says; 130 is 128 + SIGINT, as shells have it."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_STARTED = 3
    KIT = 4
    LEFTOVERS = 5
    WAIVERS = 6
    UNTESTED = 7
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.OK: "the asked level is met, something was tested, nothing is left behind",
    Exit.FAILED: "at least one FAIL or FLAKY (or WARN, with --strict)",
    Exit.USAGE: "the command line or the configuration is wrong",
    Exit.NOT_STARTED: "the provider did not start, or the handshake failed",
    Exit.KIT: "a fault of the kit",
    Exit.LEFTOVERS: "no FAIL, but resources could not be removed",
    Exit.WAIVERS: "a waiver is stale or has expired",
    Exit.UNTESTED: "too little was tested: nothing, or NOT-TESTED inside the asked level",
    Exit.INTERRUPTED: "interrupted; seed, partial report and ledger are written",
}
"""One line for people about each code."""

PRECEDENCE = (
    Exit.KIT,
    Exit.USAGE,
    Exit.NOT_STARTED,
    Exit.INTERRUPTED,
    Exit.FAILED,
    Exit.LEFTOVERS,
    Exit.WAIVERS,
    Exit.UNTESTED,
    Exit.OK,
)
"""The code of a run to which several apply is the first of these."""
