"""What a module of `extensor_conformance.cli` says about its command."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from extensor_conformance.cli.exits import Exit

if TYPE_CHECKING:
    from extensor_conformance.cli.console import Console

Run: TypeAlias = "Callable[[argparse.Namespace, Console], Exit]"


class Command(NamedTuple):
    """One command. `run` gets the parsed line and the console, and returns the exit code or raises `Trouble`."""

    name: str
    summary: str
    """Its line in ``provider-conformance --help``."""
    description: str
    """What ``--help`` of the command begins with, examples included."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Run


class Trouble(Exception):
    """A command cannot go on; the text says why. `code` is the exit code it leads to."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        self.code = code
        super().__init__(message)
