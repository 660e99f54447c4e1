"""`extensor validate`: is this template, with these parameters, one that could be deployed?"""

import argparse
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_run_options, add_template

if TYPE_CHECKING:
    from extensor.cli.console import Console

_DESCRIPTION = """\
Check a template and its parameters, and ask the providers about every
resource, without touching anything. Every fault found is told, with its place.

  extensor validate main.json --parameters prod.json
  extensor validate main.json --output json | jq '.errors[].path'
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_template(parser)
    add_run_options(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Validate and tell the faults."""
    from extensor.cli.loading import load_request
    from extensor.cli.progress import Progress
    from extensor.cli.run_text import verbose_hint
    from extensor.cli.running import run_engine
    from extensor.cli.trouble import Trouble
    from extensor.engine.validate import validate

    request = load_request(args, console)
    progress = Progress(console, steps=False, verbose=args.verbose)
    faults = run_engine(lambda _: validate(request, on_event=progress), console, progress, graceful=False)
    if faults:
        hint = verbose_hint(faults, verbose=args.verbose)
        raise Trouble(f"{args.template} cannot be deployed", faults, hint=hint)
    if args.output == "json":
        console.document({"status": "Succeeded", "errors": []})
    else:
        console.out(f"{args.template} can be deployed.")
    return Exit.OK


COMMAND = Command(
    "validate", "check a template and its parameters; tell every fault", _DESCRIPTION, _add_arguments, _run
)
