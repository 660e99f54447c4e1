"""``provider-conformance run``: test a provider and say how it stands."""

import argparse
import os
import shlex
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.ending import ending
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_folder, add_look, add_subject, require_extra
from extensor_conformance.cli.outputs import Stream, add_reports, keep, outputs_of, write_file, write_reports
from extensor_conformance.cli.settings_of import (
    add_execution,
    add_generation,
    add_policy,
    add_safety,
    add_selection,
    enriched,
    policy_of,
    settings_of,
)

if TYPE_CHECKING:
    from extensor.contract import Json
    from extensor_conformance.canary import Needles
    from extensor_conformance.events import Event
    from extensor_conformance.report.model import Report
    from extensor_conformance.settings import Settings

ALL_TRANSCRIPTS = "wire/all"
"""Where ``--transcript all`` puts them, in the kit's folder."""
_TICK_SECONDS = 0.25

_DESCRIPTION = """\
Start a provider, play every check on every type it has, and say how it stands.

  provider-conformance run -- python -m my_provider
  provider-conformance run --checks 'PRV-*' --type note -- ./provider
  provider-conformance run --socket -- ./provider --listen {address}
  provider-conformance run --tcp 127.0.0.1:9000
  provider-conformance run --report junit=report.xml --report html=report.html -- ./provider

Inputs are made from the provider's types. Everything that is made has a name of
its own, is written down before it is made, and is removed at the end; nothing
else is ever deleted. The seed is printed: the same seed gives the same cases.

A failure is played again on fresh names (FAIL when it comes each time, FLAKY
when not), made small, and kept in the folder, so that `replay` can show it.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_subject(parser)
    add_selection(parser)
    add_generation(parser)
    add_execution(parser)
    add_policy(parser)
    add_safety(parser)
    group = parser.add_argument_group("output")
    add_reports(group)  # pyright: ignore[reportArgumentType] - a group takes arguments as a parser does
    group.add_argument(
        "--transcript",
        choices=("off", "failed", "all"),
        default="failed",
        help="which cases' messages are kept; default: failed",
    )
    group.add_argument(
        "--sanitize",
        choices=("on", "off"),
        default="on",
        help="off shows the secret values that the kit makes up; those of the configuration are always masked",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="failures and the result alone")
    group.add_argument("-v", "--verbose", action="store_true", help="a line for each check, and what does not apply")
    add_look(group)  # pyright: ignore[reportArgumentType]
    add_folder(group)  # pyright: ignore[reportArgumentType]


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.canary import Needles
    from extensor_conformance.cli.progress import Progress
    from extensor_conformance.cli.text import Writer
    from extensor_conformance.report.masking import mask

    require_extra()
    outputs = outputs_of(args)
    settings = settings_of(args)
    if args.no_color:
        console.colour = False
    console.text_to_stderr = any(output.path is None for output in outputs)
    secrets = Needles(settings.fixture.secrets)
    stream = Stream(outputs, console, lambda value: mask(value, [secrets]))
    title = secrets.mask_text(title_of(args, settings))
    progress = Progress(
        console,
        title=title,
        extras=_extras(args, settings),
        verbose=args.verbose,
        quiet=args.quiet,
        mask=secrets.mask_text,
    )
    prepare(args.folder)
    if args.transcript == "all":
        settings = settings.with_(transcripts=args.folder / ALL_TRANSCRIPTS)
        for old in (args.folder / ALL_TRANSCRIPTS).glob("*.jsonl"):
            old.unlink()
    if not args.quiet:
        _offer_cleanup(args, console)

    def listen(event: "Event") -> None:
        stream(event)
        progress(event)

    try:
        report = play(settings, listen, console, progress.refresh)
    finally:
        stream.close()
    report = finished(report, args, settings, secrets)
    wire = keep(report, args.folder)
    code, why = ending(report, policy_of(args))
    writer = Writer(console, report, verbose=args.verbose, wire=wire)
    if args.quiet:
        writer.failures()
    else:
        writer.all()
    writer.foot(code, why)
    if report.interrupted:
        console.line(f"interrupted; the same cases again: --seed {report.seed}")
    write_reports(report, outputs, console, live=True)
    return code


def play(
    settings: "Settings", listen: "Callable[[Event], None]", console: Console, refresh: Callable[[], None]
) -> "Report":
    """Run the checks. Ctrl-C (or SIGTERM, SIGHUP) ends the run early, with its report; a second one ends the process.

    Raises `Trouble` for a selection that matches nothing.
    """
    from extensor_conformance.fixture import FixtureError
    from extensor_conformance.runner import Run

    try:
        run = Run(settings)
    except ValueError as error:
        raise Trouble(str(error)) from None
    with signals(console, settings), _ticking(console, refresh):
        try:
            return run.execute(listen)
        except FixtureError as error:
            raise Trouble(str(error)) from None
        except KeyboardInterrupt:
            console.clear()
            console.out(f"interrupted; the same cases again: --seed {settings.seed}")
            raise


def finished(report: "Report", args: argparse.Namespace, settings: "Settings", secrets: "Needles") -> "Report":
    """The report as it may leave the kit: secrets masked, with the command line as it was given."""
    from extensor_conformance.report.masking import masked

    subject: dict[str, Json] = {
        **report.subject,
        "title": title_of(args, settings),
        "started": settings.subject.owned,
    }
    report = replace(report, subject=subject, settings={**report.settings, **enriched(settings)})
    if args.transcript == "off":
        report = replace(report, outcomes=tuple(replace(outcome, transcript=()) for outcome in report.outcomes))
    return masked(report, secrets, canaries=args.sanitize == "on")


def prepare(folder: Path) -> None:
    """Make the kit's folder; a new one is kept out of version control. Raises `Trouble`."""
    try:
        if not folder.exists():
            write_file(folder / ".gitignore", "*\n")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Trouble(f"{folder} cannot be written to: {error.strerror or error}; --folder DIR names another") from None


def title_of(args: argparse.Namespace, settings: "Settings") -> str:
    """The provider's command as it was given, or its address."""
    told = args.app is not None or args.socket is not None or args.tcp is not None
    command = args.command or (() if told else settings.fixture.command)
    return shlex.join(command) if command else settings.subject.title


def _extras(args: argparse.Namespace, settings: "Settings") -> str:
    probe = bool(settings.probe or settings.fixture.probe)
    words = [
        f"Wire {settings.subject.wire}",
        f"Faults {args.faults or ('file' if settings.fixture.faults else 'none')}",
        f"Probe {'yes' if probe else 'no'}",
        f"Kill {'allowed' if settings.allow_kill else 'no'}",
    ]
    return "   " + "   ".join(words)


def _offer_cleanup(args: argparse.Namespace, console: Console) -> None:
    from extensor_conformance.cli.cleanup_command import left_behind

    count = sum(len(left) for _, _, left in left_behind(args.folder))
    if count:
        what = "resource that earlier runs made may" if count == 1 else "resources that earlier runs made may"
        console.line(f"{count} {what} still be there: provider-conformance cleanup")


@contextmanager
def signals(console: Console, settings: "Settings") -> Generator[None]:
    """The first signal is a `KeyboardInterrupt`; the second ends the process there and then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def leave(number: int, frame: object) -> None:
        console.clear()
        console.line(f"stopped at once; the ledger is in {settings.folder}; --seed {settings.seed}")
        os._exit(Exit.INTERRUPTED)

    def stop(number: int, frame: object) -> None:
        for one in numbers:
            signal.signal(one, leave)
        console.line("Stopping: what runs may end, what was made is removed. Ctrl-C again stops at once.")
        raise KeyboardInterrupt

    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _ticking(console: Console, refresh: Callable[[], None]) -> Generator[None]:
    """Keep the status line's clock going."""
    if not console.lively:
        yield
        return
    over = threading.Event()

    def tick() -> None:
        while not over.wait(_TICK_SECONDS):
            refresh()

    thread = threading.Thread(target=tick, name="clock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        console.clear()


COMMAND = Command("run", "test a provider and say how it stands", _DESCRIPTION, _add_arguments, _run)
