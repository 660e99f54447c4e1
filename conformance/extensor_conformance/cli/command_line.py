"""From words to a command: the parser of all commands, and the one boundary where an exception becomes an exit code."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from extensor_conformance.cli.command import Trouble
from extensor_conformance.cli.exits import MEANINGS, Exit

if TYPE_CHECKING:
    from extensor_conformance.cli.command import Command
    from extensor_conformance.cli.console import Console

COMMANDS = (
    "run",
    "init",
    "list",
    "explain",
    "replay",
    "fuzz",
    "cleanup",
    "baseline",
    "diff",
    "report",
    "selftest",
)
"""The commands, in the order of ``--help``; each has a module ``NAME_command``."""

TRACE_VARIABLE = "EXTENSOR_TRACE"
"""Set it to 1 to see the traceback of a fault of the kit."""

_DESCRIPTION = """\
A verdict on a provider, written in any language, that people can trust.

  provider-conformance run -- python -m my_provider    start it on stdio, test it
  provider-conformance init -- python -m my_provider   write a conformance.toml
  provider-conformance explain PRV-08                  why a check exists, how to fix
  provider-conformance replay                          play failing cases again
  provider-conformance cleanup                         what earlier runs left behind

Everything after `--` is the command that starts the provider. No file is needed
for a first run: inputs are made from the types that the provider declares.
"""


class UsageError(Exception):
    """The command line is wrong. `usage` is the command's usage line."""

    def __init__(self, message: str, usage: str, command: str) -> None:
        self.usage = usage
        self.command = command
        super().__init__(message)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError`."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)  # pyright: ignore[reportArgumentType] - passed through as they came

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise UsageError(message, self.format_usage().strip(), self.prog)


def build_parser() -> Parser:
    """The parser of the whole command; a parsed line's `run` is the command's function."""
    codes = "exit codes:\n" + "\n".join(f"  {int(code):<4} {meaning}" for code, meaning in MEANINGS.items())
    parser = Parser(
        prog="provider-conformance",
        description=_DESCRIPTION,
        epilog=f"{codes}\n\n'provider-conformance COMMAND --help' tells more.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command_name", required=True)
    for name in COMMANDS:
        command: Command = import_module(f"extensor_conformance.cli.{name}_command").COMMAND
        own = commands.add_parser(command.name, help=command.summary, description=command.description, epilog=codes)
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    return parser


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. Never raises for what a person or a provider did wrong."""
    from extensor_conformance.cli.console import process_console

    words = list(sys.argv[1:] if argv is None else argv)
    console = process_console()
    own, command = _split(words)
    try:
        args = build_parser().parse_args(own)
        args.command = command
        if command and not getattr(args, "takes_command", False):
            raise UsageError("it starts no provider: nothing may follow --", "", f"provider-conformance {own[0]}")
        code = int(args.run(args, console))
    except UsageError as error:
        if "unrecognized arguments" in str(error) and own[:1] and own[0] in COMMANDS:
            error.command, error.usage = f"{error.command} {own[0]}", ""
        usage = f"{error.usage}\n" if error.usage else ""
        console.line(f"{usage}{error.command}: {error}\nTry '{error.command} --help'.")
        code = int(Exit.USAGE)
    except SystemExit as end:  # --help and --version have printed
        code = int(end.code or 0)
    except Trouble as error:
        console.clear()
        console.line(f"error: {error}")
        code = int(error.code)
    except KeyboardInterrupt:
        console.clear()
        console.line("interrupted")
        code = int(Exit.INTERRUPTED)
    except Exception as error:  # noqa: BLE001, RUF100 - the last boundary: one report, one exit code
        code = _fault(error, console)
    console.flush()
    return code


def _split(words: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The command's own words, and those after ``--``: the provider's command."""
    if "--" not in words:
        return words, ()
    place = words.index("--")
    return words[:place], tuple(words[place + 1 :])


def _fault(error: Exception, console: "Console") -> int:
    console.clear()
    if os.environ.get(TRACE_VARIABLE) == "1":
        console.line("".join(traceback.format_exception(error)).rstrip())
    console.line(
        f"error: a fault of the kit: {type(error).__name__}: {error}\n"
        f"set {TRACE_VARIABLE}=1 for the traceback and please report it"
    )
    return int(Exit.KIT)


class _Version(argparse.Action):
    """``--version``; the metadata is read only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from extensor_conformance.catalogue import CURRENT
        from extensor_conformance.cli.console import process_console
        from extensor_conformance.runner import kit_version

        process_console().out(f"provider-conformance {kit_version()}, requirements of protocol revision {CURRENT}")
        parser.exit()
