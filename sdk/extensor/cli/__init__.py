"""The `extensor` command: thin, prints, exits; nothing else in extensor prints or exits.

Importing this costs next to nothing: a command's rooms (pydantic, jsonschema, sqlite3, the event loop) are imported
when the command runs.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, by default the process's own, and return its exit code (see `extensor.cli.exits`)."""
    from extensor.cli.command_line import run

    return run(argv)
