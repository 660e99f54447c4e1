"""`extensor deploy`: make what a template says so."""

import argparse
import time
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_run_options, add_template

if TYPE_CHECKING:
    from extensor.cli.console import Console

_DESCRIPTION = """\
Create and change resources until everything is as the template says, in
parallel where nothing depends on each other, and delete what an earlier
deployment of the same stack made and the template no longer names.

  extensor deploy main.json --parameters prod.json -p password=@secret.txt
  extensor deploy main.json --stack blue --state ../state
  extensor deploy main.json --provider "notes=python -m quickstart"

Every step is recorded before and after it happens: after a failure, Ctrl-C or
a crash, deploy again, and it goes on from there. Ctrl-C lets running calls end
and begins no new ones; a second one stops at once.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_template(parser)
    add_run_options(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Deploy and print how it ended."""
    from extensor.cli.documents import deploy_document
    from extensor.cli.loading import load_request
    from extensor.cli.progress import Progress
    from extensor.cli.run_text import deploy_text, exit_of, tell_errors
    from extensor.cli.running import run_engine
    from extensor.engine.deploy import deploy

    request = load_request(args, console)
    progress = Progress(console, steps=True, verbose=args.verbose)
    begun = time.monotonic()
    result = run_engine(lambda stop: deploy(request, on_event=progress, stop=stop), console, progress, graceful=True)
    if args.output == "json":
        console.document(deploy_document(result))
    else:
        tell_errors(console, "the deployment failed", result.errors, verbose=args.verbose)
        console.out(deploy_text(result, time.monotonic() - begun))
    return exit_of(result.status)


COMMAND = Command("deploy", "make everything as the template says", _DESCRIPTION, _add_arguments, _run)
