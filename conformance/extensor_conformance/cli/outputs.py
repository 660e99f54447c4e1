"""Where reports go: ``--report FORMAT[=PATH]`` and ``--report-dir``, the last report, the transcripts."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from extensor_conformance.cli.command import Trouble

if TYPE_CHECKING:
    from extensor.contract import Json
    from extensor_conformance.cli.console import Console
    from extensor_conformance.events import Event
    from extensor_conformance.report.model import Report

LAST = "report.json"
"""The last run's report, in the kit's folder."""
NAMES = ("json", "ndjson", "junit", "html", "sarif", "markdown", "tap", "badge", "metrics")


class Output(NamedTuple):
    """One report to write; `path` is ``None`` for stdout."""

    format: str
    path: Path | None


def add_reports(parser: argparse.ArgumentParser) -> None:
    """``--report`` and ``--report-dir``."""
    parser.add_argument(
        "--report",
        metavar="FORMAT[=PATH]",
        action="append",
        default=[],
        type=_wanted,
        help=f"also write a report: {', '.join(NAMES)}; to PATH, else into --report-dir, else to stdout; repeatable",
    )
    parser.add_argument(
        "--report-dir",
        metavar="DIR",
        type=Path,
        help="folder for reports without a PATH; alone: one report of each format",
    )


def outputs_of(args: argparse.Namespace) -> list[Output]:
    """What the command line asks for. Raises `Trouble` when two want stdout."""
    from extensor_conformance.report.formats import FORMATS

    folder: Path | None = args.report_dir
    wanted: list[tuple[str, str | None]] = args.report or ([(name, None) for name in NAMES] if folder else [])
    made: list[Output] = []
    for name, path in wanted:
        if path is None and folder is not None:
            made.append(Output(name, folder / FORMATS[name].file))
        else:
            made.append(Output(name, None if path in (None, "-") else Path(path)))
    if sum(output.path is None for output in made) > 1:
        raise Trouble("two reports want stdout: give one of them a PATH, --report FORMAT=PATH")
    return made


def write_reports(report: "Report", outputs: Sequence[Output], console: "Console", *, live: bool = False) -> None:
    """Write each. Raises `Trouble`, after the others are written, for one that cannot be.

    `live`: event streams were written while the run went on.
    """
    from extensor_conformance.report.formats import FORMATS

    failed: list[str] = []
    for output in outputs:
        if live and output.format == "ndjson":
            continue
        text = FORMATS[output.format].render(report)
        if output.path is None:
            console.document(text)
            continue
        try:
            write_file(output.path, text)
        except OSError as error:
            failed.append(f"{output.path}: {error.strerror or error}")
            continue
        console.line(f"{output.format} report: {output.path}")
    if failed:
        raise Trouble("reports could not be written: " + "; ".join(failed))


def write_file(path: Path, text: str) -> None:
    """Write a text file in UTF-8, with the folders above it; a lone surrogate becomes its escape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def keep(report: "Report", folder: Path) -> str | None:
    """Keep the report as the last one, and the transcripts of its failures; gives their folder, if there are any."""
    from extensor_conformance.report.document import render
    from extensor_conformance.transcript import write

    write_file(folder / LAST, render(report))
    told = [outcome for outcome in report.outcomes if outcome.case is not None and outcome.transcript]
    place = folder / "wire"
    for old in place.glob("*.jsonl"):
        old.unlink()
    for outcome in told:
        assert outcome.case is not None
        write(place / f"{outcome.case.id}.jsonl", outcome.transcript)
    return str(place) if told else None


class Stream:
    """Writes events as they come, a line each."""

    def __init__(self, outputs: Sequence[Output], console: "Console", mask: Callable[["Json"], "Json"]) -> None:
        """Raises `Trouble` for a file that cannot be opened."""
        self._console = console
        self._mask = mask
        self._files: list[TextIO] = []
        self._stdout = False
        for output in outputs:
            if output.format != "ndjson":
                continue
            if output.path is None:
                self._stdout = True
                continue
            try:
                output.path.parent.mkdir(parents=True, exist_ok=True)
                self._files.append(output.path.open("w", encoding="utf-8", errors="backslashreplace"))
            except OSError as error:
                raise Trouble(f"{output.path}: {error.strerror or error}") from None

    def __call__(self, event: "Event") -> None:
        """Write one event."""
        if not self._files and not self._stdout:
            return
        from extensor_conformance.report.ndjson import line

        text = f"{line(event, self._mask)}\n"
        for file in self._files:
            file.write(text)
            file.flush()
        if self._stdout:
            self._console.document(text)

    def close(self) -> None:
        """No more events come."""
        for file in self._files:
            file.close()


def _wanted(text: str) -> tuple[str, str | None]:
    name, equals, path = text.partition("=")
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"there is no format {name!r}; there are {', '.join(NAMES)}")
    if equals and not path:
        raise argparse.ArgumentTypeError(f"{text!r} names no path")
    return name, path or None
