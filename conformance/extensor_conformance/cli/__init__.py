"""The `provider-conformance` command: thin, prints, exits; nothing else in the kit prints or exits.

Importing this costs next to nothing: Hypothesis and the checks are imported when a command needs them.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, by default the process's own, and return its exit code (see `exits`)."""
    from extensor_conformance.cli.command_line import run

    return run(argv)
