"""The options that commands share, worded once, and what they say about the provider."""

import argparse
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Trouble
from extensor_conformance.cli.exits import Exit
from extensor_conformance.report.reproduce import DEFAULT_CONFIG

if TYPE_CHECKING:
    from extensor_conformance.fixture import Fixture
    from extensor_conformance.subject import Subject

DEFAULT_FOLDER = ".conformance"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?")


def add_subject(parser: argparse.ArgumentParser) -> None:
    """How the provider is started or reached: ``-- CMD``, ``--socket``, ``--tcp``, ``--app``, and ``--config``."""
    parser.set_defaults(takes_command=True)
    group = parser.add_argument_group("provider", "given by one of these, by `-- CMD...`, or by the file")
    places = group.add_mutually_exclusive_group()
    places.add_argument(
        "--socket",
        metavar="FILE",
        nargs="?",
        const="",
        help="connect to a Unix socket; with `-- CMD`, in which {address} stands for it, start the provider first",
    )
    places.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        nargs="?",
        const="",
        help="connect to a TCP port of this machine; with `-- CMD`, start the provider first",
    )
    places.add_argument(
        "--app", metavar="MODULE:OBJ", help="a provider written with the Python SDK, in its own process"
    )
    group.add_argument("--cwd", metavar="DIR", type=Path, help="folder in which the provider is started")
    group.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help=f"the provider's file for the kit; default: {DEFAULT_CONFIG} of this folder, when there is one",
    )


def require_extra() -> None:
    """Raises `Trouble` when what makes the inputs is not installed."""
    from extensor_conformance.extras import missing_extra

    missing = missing_extra()
    if missing is not None:
        raise Trouble(missing)


def add_folder(parser: argparse.ArgumentParser) -> None:
    """``--folder``."""
    parser.add_argument(
        "--folder",
        metavar="DIR",
        type=Path,
        default=Path(DEFAULT_FOLDER),
        help=f"where the ledger, failing cases and the last report are kept; default: {DEFAULT_FOLDER}",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="exactly one JSON document on stdout")


def add_look(parser: argparse.ArgumentParser) -> None:
    """``--no-color``."""
    parser.add_argument("--no-color", action="store_true", help="no colour, as with NO_COLOR")


def fixture_of(args: argparse.Namespace) -> "Fixture":
    """The file's content: of ``--config``, else of the default file when there is one."""
    from extensor_conformance.fixture import FixtureError, load_fixture

    path: Path | None = args.config
    if path is None and Path(DEFAULT_CONFIG).is_file():
        path = Path(DEFAULT_CONFIG)
    try:
        return load_fixture(path)
    except FixtureError as error:
        raise Trouble(str(error)) from None


def subject_of(args: argparse.Namespace, fixture: "Fixture") -> "Subject":
    """The provider that the command line, or else the file, names. Raises `Trouble`."""
    from extensor.errors import ProviderNotFound
    from extensor_conformance.subject import Subject

    command: tuple[str, ...] = args.command
    address = _address(args)
    cwd: Path | None = args.cwd
    if args.app is not None:
        if command:
            raise Trouble("--app starts the provider itself: nothing may follow --")
        return replace(Subject.of_app(args.app, cwd=cwd), env=fixture.env)
    if not command and address is None:
        command, address, cwd = fixture.command, fixture.address, cwd or fixture.cwd
    if not command and not address:
        raise Trouble(
            "no provider is given: end the line with `-- CMD...`, or use --socket, --tcp or --app, "
            f"or name it under [provider] in {DEFAULT_CONFIG}"
        )
    if address in ("unix:", "tcp:") and not command:
        raise Trouble("without a command to start, --socket needs a FILE and --tcp a HOST:PORT")
    if not command:
        return Subject(address=address, env=fixture.env)
    try:
        return Subject.of_command(command, cwd=cwd, env=fixture.env, address=address)
    except ProviderNotFound as error:
        raise Trouble(str(error), Exit.NOT_STARTED) from None


def words(text: str) -> tuple[str, ...]:
    """A command line as its words, for argparse."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no command line: {error}") from None


def duration(text: str) -> float:
    """Seconds from ``90``, ``500ms``, ``2m``, ``1.5h``, ``7d``, for argparse."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a time such as 90, 500ms, 2m, 1h or 7d, got {text!r}")
    return float(match[1]) * _UNITS[match[2] or "s"]


def number(lowest: int, highest: int) -> Callable[[str], int]:
    """A whole number within bounds, for argparse."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not lowest <= int(text[:19]) <= highest:
            raise argparse.ArgumentTypeError(f"expected a whole number from {lowest} to {highest}, got {text!r}")
        return int(text)

    return read


def listed(values: list[str] | None) -> tuple[str, ...]:
    """The words of a repeatable option, each of which may hold several, separated by commas."""
    return tuple(word.strip() for value in values or () for word in value.split(",") if word.strip())


def _address(args: argparse.Namespace) -> str | None:
    if args.socket is not None:
        return f"unix:{args.socket}"
    if args.tcp is not None:
        return f"tcp:{args.tcp}"
    return None
