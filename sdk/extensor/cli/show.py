"""`extensor show`: what is deployed, as the record has it."""

import argparse
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_output, add_record

if TYPE_CHECKING:
    from extensor.cli.console import Console

_DESCRIPTION = """\
Show what a stack holds: each resource's name, type and identifiers, and how
the last run ended. Reads the record alone: no provider is started. It may be
asked while a deployment runs.

  extensor show main.json
  extensor show                     the only stack recorded in this folder
  extensor show --stack blue --state ../state --output json
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_record(parser)
    add_output(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Print the record."""
    from extensor.cli.documents import show_document
    from extensor.cli.run_text import show_text
    from extensor.cli.stacks import recorded_stack
    from extensor.engine.show import show

    stack, folder = recorded_stack(args)
    view = show(stack, folder)
    if args.output == "json":
        console.document(show_document(view))
    else:
        console.out(show_text(view))
    return Exit.OK


COMMAND = Command("show", "show what is deployed, as recorded", _DESCRIPTION, _add_arguments, _run)
