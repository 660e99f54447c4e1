"""`extensor destroy`: take down what a stack holds."""

import argparse
import time
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import (
    add_output,
    add_parallelism,
    add_parameters,
    add_providers,
    add_record,
    add_timeout,
    add_verbose,
)

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
parameter needs it again here, unless the template's default was used and the
template is still there. Without a TEMPLATE to read types from, -p values
are text. After a failure or Ctrl-C, destroy again: it goes on with the rest.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_record(parser)
    add_parameters(parser)
    add_providers(parser)
    add_parallelism(parser)
    add_timeout(parser)
    add_output(parser)
    add_verbose(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Destroy and print how it ended."""
    from extensor.cli.documents import destroy_document
    from extensor.cli.loading import tell_unused
    from extensor.cli.progress import Progress
    from extensor.cli.run_text import destroy_text, exit_of, tell_errors
    from extensor.cli.running import run_engine
    from extensor.cli.stacks import recorded_stack
    from extensor.engine.destroy import destroy
    from extensor.engine.results import DEFAULT_BUDGET_SECONDS, DEFAULT_PARALLELISM
    from extensor.engine.show import show

    stack, folder = recorded_stack(args)
    parameters = _parameters(args)
    providers = dict(args.providers)
    if providers:
        tell_unused(console, providers, {record.provider for record in show(stack, folder).resources})
    progress = Progress(console, steps=True, verbose=args.verbose)
    begun = time.monotonic()
    result = run_engine(
        lambda stop: destroy(
            stack,
            folder,
            parameters=parameters,
            providers=providers,
            template_path=args.template,
            on_event=progress,
            stop=stop,
            parallelism=args.parallelism or DEFAULT_PARALLELISM,
            budget_seconds=args.timeout or DEFAULT_BUDGET_SECONDS,
        ),
        console,
        progress,
        graceful=True,
    )
    if args.output == "json":
        console.document(destroy_document(result))
    else:
        tell_errors(console, "not everything was deleted", result.errors, verbose=args.verbose)
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
