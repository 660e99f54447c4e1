"""Exit codes; `docs/cli.md` and `extensor --help` list the same ones."""

from enum import IntEnum


class Exit(IntEnum):
    """What the process's end says. 64 and 70 are the numbers of sysexits.h; 130 is 128 + SIGINT, as shells have it."""

    OK = 0
    FAILED = 1
    CHANGES = 2
    USAGE = 64
    INTERNAL = 70
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.OK: "done; for what-if also when there are changes",
    Exit.FAILED: "it failed: template, parameters, state or a provider",
    Exit.CHANGES: "what-if --exit-code: something would change",
    Exit.USAGE: "the command line is wrong",
    Exit.INTERNAL: "a bug in extensor itself",
    Exit.INTERRUPTED: "interrupted; what was done so far is recorded",
}
"""One line for people about each code."""
