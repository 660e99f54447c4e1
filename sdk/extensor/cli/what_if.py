"""`extensor what-if`: what would a deployment change?"""

import argparse
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_run_options, add_template

if TYPE_CHECKING:
    from extensor.cli.console import Console

_DESCRIPTION = """\
Show what 'extensor deploy' would change, against what is really there. Nothing
is touched, nothing is recorded.

  extensor what-if main.json -p name=web -p replicas=3
  extensor what-if main.json --exit-code

Each resource that would change has a symbol: + create, ~ modify, - delete,
x cannot be previewed. Its properties follow, old value => new value; secrets
are masked.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_template(parser)
    add_run_options(parser)
    parser.add_argument(
        "--exit-code", action="store_true", help="exit with 2 when something would change, with 0 when nothing would"
    )


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Preview and print it."""
    from extensor.cli.documents import what_if_document
    from extensor.cli.loading import load_request
    from extensor.cli.progress import Progress
    from extensor.cli.run_text import tell_errors
    from extensor.cli.running import run_engine
    from extensor.cli.what_if_text import what_if_text
    from extensor.engine.what_if import what_if

    request = load_request(args, console)
    progress = Progress(console, steps=False, verbose=args.verbose)
    result = run_engine(lambda _: what_if(request, on_event=progress), console, progress, graceful=False)
    if args.output == "json":
        console.document(what_if_document(result))
    else:
        console.out(what_if_text(result, lambda text, colour: console.paint(text, colour, out=True)))
        tell_errors(console, "the preview is not complete", result.faults, verbose=args.verbose)
    if not result.succeeded:
        return Exit.FAILED
    return Exit.CHANGES if args.exit_code and result.changes else Exit.OK


COMMAND = Command("what-if", "show what a deployment would change; touch nothing", _DESCRIPTION, _add_arguments, _run)
