"""From words to a command: the parser of all commands, and the one boundary where an exception becomes an exit code."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from extensor.cli.exits import MEANINGS, Exit

if TYPE_CHECKING:
    from extensor.cli.command import Command
    from extensor.cli.console import Console

COMMANDS = ("validate", "what_if", "deploy", "destroy", "show", "types", "new")
"""The modules of `extensor.cli`, one a command, in the order of ``--help``."""

_DESCRIPTION = """\
Preview, deploy, look at and take down what a template describes, by way of
providers: programs that manage typed resources.

  extensor what-if main.json               what would change; touches nothing
  extensor deploy main.json -p name=web    make it so
  extensor show main.json                  what is deployed, as recorded
  extensor destroy main.json               take it down, in reverse order
  extensor new demo-provider               start a provider of your own
"""


class UsageError(Exception):
    """The command line is wrong. `usage` is the command's usage line."""

    def __init__(self, message: str, usage: str, command: str) -> None:
        self.usage = usage
        self.command = command
        super().__init__(message)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` where argparse would exit with 2, the code of ``--exit-code``."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)  # pyright: ignore[reportArgumentType] - passed through as they came

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(message, self.format_usage().strip(), self.prog)


def build_parser() -> Parser:
    """The parser of the whole command; a parsed line's `run` is the command's function."""
    codes = "\n".join(f"  {int(code):<4} {meaning}" for code, meaning in MEANINGS.items())
    parser = Parser(
        prog="extensor",
        description=_DESCRIPTION,
        epilog=f"exit codes:\n{codes}\n\n'extensor COMMAND --help' tells more.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for name in COMMANDS:
        command: Command = import_module(f"extensor.cli.{name}").COMMAND
        own = commands.add_parser(
            command.name, help=command.summary, description=command.description, epilog=f"exit codes:\n{codes}"
        )
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    return parser


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. Never raises for what a person or a provider did wrong."""
    from extensor.cli.console import process_console

    words = list(sys.argv[1:] if argv is None else argv)
    console = process_console()
    output = "json" if _wants_json(words) else "text"
    try:
        args = build_parser().parse_args(words)
        output = args.output
        code = int(args.run(args, console))
    except UsageError as error:
        code = _refused(error, output, console)
    except SystemExit as end:  # --help and --version have printed
        code = int(end.code or 0)
    except (Exception, KeyboardInterrupt) as error:  # the last boundary: one report, one exit code
        from extensor.cli.failures import report

        console.clear()
        code = report(error, console, output=output)
    console.flush()
    return int(code)


def _refused(error: UsageError, output: str, console: "Console") -> int:
    if output == "json":
        console.document({"status": "Failed", "errors": [{"code": "Usage", "message": str(error)}]})
    console.line(f"{error.usage}\n{error.command}: {error}\nTry '{error.command} --help'.")
    return int(Exit.USAGE)


def _wants_json(words: Sequence[str]) -> bool:
    return any(
        word == "--output=json" or (word == "--output" and after == "json") for word, after in pairwise([*words, ""])
    )


class _Version(argparse.Action):
    """``--version``; the metadata is read only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"extensor {version('extensor')}")
        parser.exit()
