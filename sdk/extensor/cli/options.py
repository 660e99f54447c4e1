"""The options that commands share, worded once."""

import argparse
import shlex
from pathlib import Path

from extensor.cli.assignment import Assignment, split_assignment

DEFAULT_STATE = ".extensor"


def add_template(parser: argparse.ArgumentParser) -> None:
    """The TEMPLATE operand of commands that need one."""
    parser.add_argument(
        "template", metavar="TEMPLATE", type=Path, help="a compiled template: the JSON that 'bicep build' makes"
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """All options of the commands that evaluate a template."""
    add_parameters(parser)
    add_stack(parser)
    add_providers(parser)
    add_parallelism(parser)
    add_timeout(parser)
    add_output(parser)
    add_verbose(parser)


def add_record(parser: argparse.ArgumentParser) -> None:
    """The operand and options of the commands that work on what is recorded."""
    parser.add_argument(
        "template",
        metavar="TEMPLATE",
        nargs="?",
        type=Path,
        help="the template that was deployed; it only says the stack's name and where its record is, and may be gone",
    )
    parser.add_argument(
        "--stack",
        metavar="NAME",
        help="the stack's name; default: TEMPLATE's file name without its extension, else the only stack recorded",
    )
    parser.add_argument(
        "--state",
        metavar="DIR",
        type=folder,
        help=f"where the record is; default: {DEFAULT_STATE} beside TEMPLATE, else {DEFAULT_STATE} in this folder",
    )


def folder(text: str) -> Path:
    """A folder as given. Raises `argparse.ArgumentTypeError` for none at all, which an unset variable gives."""
    if not text:
        raise argparse.ArgumentTypeError("no folder is named; for the present one write '.'")
    return Path(text)


def add_stack(parser: argparse.ArgumentParser) -> None:
    """``--stack`` and ``--state`` of commands that have a template."""
    parser.add_argument(
        "--stack",
        metavar="NAME",
        help="what the deployment is called in the record; default: TEMPLATE's file name without its extension",
    )
    parser.add_argument(
        "--state",
        metavar="DIR",
        type=folder,
        help=f"where the record is; default: {DEFAULT_STATE} beside TEMPLATE",
    )


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """``--parameters`` and ``-p``."""
    parser.add_argument(
        "--parameters",
        metavar="FILE",
        action="append",
        type=Path,
        default=[],
        help="a deployment parameters file; may be repeated, a later file wins",
    )
    parser.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        action="append",
        type=_assignment,
        default=[],
        dest="assignments",
        help="one parameter, wins over files; VALUE is plain text for a string and JSON for an int, bool, object or "
        "array. @FILE takes it from a file and @- from stdin, without the last line end, so that a secret stays off "
        "the command line; a text that begins with @ is written @@",
    )


def add_providers(parser: argparse.ArgumentParser) -> None:
    """``--provider``."""
    parser.add_argument(
        "--provider",
        metavar="NAME=COMMAND",
        action="append",
        type=_provider,
        default=[],
        dest="providers",
        help="start the provider NAME with this command line instead of the installed one; the program's path and "
        "words that begin with ./ or ../ count from this folder; may be repeated",
    )


def add_parallelism(parser: argparse.ArgumentParser) -> None:
    """``--parallelism``; absent means the engine's default."""
    parser.add_argument("--parallelism", metavar="N", type=_count, help="calls to providers at once; default: 32")


def add_timeout(parser: argparse.ArgumentParser) -> None:
    """``--timeout``; absent means the engine's default."""
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        help="how long one operation on one resource may take, all its tries and the waits between them included; "
        "default: 1800",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """``--output``."""
    parser.add_argument(
        "--output",
        choices=("text", "json"),
        default="text",
        help="text for people, or exactly one JSON document on stdout, also when it fails; default: text",
    )


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """``--verbose``."""
    parser.add_argument(
        "--verbose", action="store_true", help="show everything that providers log, and when each answers"
    )


def stack_name(template: Path) -> str:
    """A template's name: its file name without the last extension."""
    return template.stem


def state_dir(template: Path) -> Path:
    """The folder beside a template where its record is kept."""
    return template.parent / DEFAULT_STATE


def _assignment(text: str) -> Assignment:
    try:
        return split_assignment(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _provider(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not equals or not name.strip() or not command.strip():
        raise argparse.ArgumentTypeError(f"a provider is given as NAME=COMMAND, this is {text!r}")
    return name.strip(), from_here(command)


def from_here(command: str) -> str:
    """A command line whose relative paths are made absolute, since providers start in the template's folder.

    Paths are the program, when it is named with a slash, and each word that begins with ``./`` or ``../``. A command
    line that cannot be split stays as it is, for `extensor.hosting.find` to refuse.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    moved = [
        str(Path(word).absolute()) if word.startswith(("./", "../")) or (position == 0 and "/" in word) else word
        for position, word in enumerate(words)
    ]
    return command if moved == words else shlex.join(moved)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return seconds


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 10_000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000, got {text!r}")
    return int(text)
