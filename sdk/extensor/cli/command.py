"""What a module of `extensor.cli` says about its command."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from extensor.cli.exits import Exit

if TYPE_CHECKING:
    from extensor.cli.console import Console

Run: TypeAlias = "Callable[[argparse.Namespace, Console], Exit]"


class Command(NamedTuple):
    """One command. `run` gets the parsed line and the console, and returns the exit code or raises `Trouble`."""

    name: str
    summary: str
    """Its line in ``extensor --help``."""
    description: str
    """What ``--help`` of the command begins with, examples included."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Run
