"""`extensor destroy`: take down what a stack holds."""

import argparse
import time
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_output, add_parallelism, add_parameters, add_providers, add_record, add_verbose

if TYPE_CHECKING:
    from extensor.cli.console import Console
    from extensor.contract.json import Json

_DESCRIPTION = """\
Delete every resource that a stack holds, in the reverse order of its
deployment. What is gone already counts as deleted.

  extensor destroy main.json
  extensor destroy                  the only stack recorded in this folder
  extensor destroy --stack blue --state ../state -p token=@token.txt

Secrets are never recorded: a provider whose configuration took a secure
parameter needs it again here. Without a TEMPLATE to read types from, -p values
are text. After a failure or Ctrl-C, destroy again: it goes on with the rest.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_record(parser)
    add_parameters(parser)
    add_providers(parser)
    add_parallelism(parser)
    add_output(parser)
    add_verbose(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Destroy and print how it ended."""
    from extensor.cli.documents import destroy_document
    from extensor.cli.progress import Progress
    from extensor.cli.run_text import destroy_text, exit_of, tell_errors
    from extensor.cli.running import run_engine
    from extensor.cli.stacks import recorded_stack
    from extensor.engine.destroy import destroy

    stack, folder = recorded_stack(args)
    parameters = _parameters(args)
    more = {} if args.parallelism is None else {"parallelism": args.parallelism}
    progress = Progress(console, steps=True, verbose=args.verbose)
    begun = time.monotonic()
    result = run_engine(
        lambda stop: destroy(
            stack, folder, parameters=parameters, providers=dict(args.providers), on_event=progress, stop=stop, **more
        ),
        console,
        progress,
        graceful=True,
    )
    if args.output == "json":
        console.document(destroy_document(result))
    else:
        tell_errors(console, "not everything was deleted", result.resources, result.errors)
        console.out(destroy_text(result, time.monotonic() - begun))
    return exit_of(result.status)


def _parameters(args: argparse.Namespace) -> "dict[str, Json]":
    from extensor.cli.loading import declared_parameters, file_values, load_template, merged
    from extensor.cli.parameters import Declared, typed_values
    from extensor.cli.trouble import Trouble

    values = file_values(args.parameters)
    if not args.assignments:
        return values
    if args.template is not None and args.template.is_file():
        declared = declared_parameters(load_template(args.template))
    else:
        declared = [Declared(assignment.name, "string") for assignment in args.assignments]
    typed, faults = typed_values(args.assignments, declared)
    if faults:
        raise Trouble("the parameters on the command line are not right", faults)
    return merged(values, typed)


COMMAND = Command("destroy", "delete everything that a stack holds", _DESCRIPTION, _add_arguments, _run)
