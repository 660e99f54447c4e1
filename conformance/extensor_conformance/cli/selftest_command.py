"""``provider-conformance selftest``: the kit on trial."""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console, printable
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import listed, number, require_extra
from extensor_conformance.cli.outputs import write_file

if TYPE_CHECKING:
    from extensor_conformance.selftest import Matrix, Progress, Row

_LINE_SECONDS = 15.0
"""Between two lines of progress where there is no terminal."""

_DESCRIPTION = """\
Run the kit against planted bugs and against odd but honest providers, and print
the kill matrix: every bug has to be caught by the check that is named for it, at
the right place, and by no unrelated one; everything honest has to stay green.

  provider-conformance selftest
  provider-conformance selftest --only M23 --only 'H*' --seeds 1
  provider-conformance selftest --matrix build/kill-matrix.json --matrix build/kill-matrix.md
  provider-conformance selftest --output markdown > kill-matrix.md

Progress goes to stderr. The matrix tells its seeds: the same seeds, the same cases.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bed", metavar="DIR", type=Path, help="folder of the programs; default: the checkout's")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="only these programs: names, patterns or numbers"
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=number(1, 1000),
        default=10,
        help="seeds for each program, twice as many for the references; default: 10",
    )
    parser.add_argument("--seed", metavar="N", type=number(0, 2**63 - 1), default=1, help="the first seed; default: 1")
    parser.add_argument(
        "-j", "--workers", metavar="N", type=number(1, 64), default=2, help="programs at once; default: 2"
    )
    parser.add_argument(
        "--output",
        choices=("text", "json", "markdown"),
        default="text",
        help="the matrix on stdout: a line for each program as it ends, or one document at the end; default: text",
    )
    parser.add_argument(
        "--matrix",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="write the matrix too: as data into a .json file, as a page into a .md file, or between the lines "
        "`<!-- matrix -->` and `<!-- end of matrix -->` of a page that has them; may be repeated",
    )


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.selftest import BedMissing, SelftestSettings, run_selftest

    require_extra()
    files: list[Path] = args.matrix
    for path in files:
        if path.suffix not in (".json", ".md"):
            raise Trouble(f"--matrix {path}: the name of the file ends in .json or .md")
    console.text_to_stderr = args.output != "text"
    settings = SelftestSettings(args.bed, listed(args.only), args.seeds, args.workers, args.seed)
    seeds = _seeds(args.seed, args.seeds)
    console.line(f"playing the bed on {seeds}, {args.workers} programs at once")
    try:
        matrix = run_selftest(settings, lambda row: _tell(console, row), _progress(console))
    except BedMissing as error:
        raise Trouble(str(error)) from None
    console.clear()
    good = sum(row.good for row in matrix.rows)
    console.out(f"{good} of {len(matrix.rows)} as they must be, {seeds}, in {matrix.seconds:.0f} s")
    if matrix.uncovered:
        console.out(f"no mutant shows {', '.join(matrix.uncovered)}")
    if args.output != "text":
        console.document(_document(matrix, args.output))
    for path in files:
        _write(matrix, path)
    return Exit.OK if matrix.good else Exit.FAILED


def _tell(console: Console, row: "Row") -> None:
    word = console.paint("ok ", "green") if row.good else console.paint("BAD", "red")
    seen = "not run" if row.missing else ", ".join(row.seen) or "green"
    console.out(f"{word} {row.name:<12} {printable(row.summary):<50.50} {seen}   {row.runs} runs, {row.seconds:.0f} s")
    if row.trouble:
        console.out(f"    {printable(row.trouble)}")


def _progress(console: Console, clock: Callable[[], float] = time.monotonic) -> "Callable[[Progress], None]":
    """Shows how far it is on stderr: as the status line, or where there is no terminal as a line now and then."""
    told = clock()

    def show(progress: "Progress") -> None:
        nonlocal told
        bad = f"{progress.bad} BAD" if progress.bad else ""
        parts = [f"{progress.done}/{progress.total}", bad, ", ".join(progress.running), f"{progress.seconds:.0f} s"]
        text = printable(" | ".join(part for part in parts if part))
        console.status(text)
        if not console.lively and (clock() - told >= _LINE_SECONDS or progress.done == progress.total):
            told = clock()
            console.line(text)

    return show


def _seeds(first: int, count: int) -> str:
    return f"seed {first}" if count == 1 else f"seeds {first} to {first + count - 1}"


def _document(matrix: "Matrix", form: str) -> str:
    from extensor_conformance.selftest.page import render

    return render(matrix) if form == "markdown" else json.dumps(matrix.to_json(), indent=2, ensure_ascii=False) + "\n"


def _write(matrix: "Matrix", path: Path) -> None:
    from extensor_conformance.selftest.page import put_into

    text = _document(matrix, "json" if path.suffix == ".json" else "markdown")
    try:
        write_file(path, text if path.suffix == ".json" else put_into(path, text))
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror or error}") from None


COMMAND = Command("selftest", "the kit on trial: print the kill matrix", _DESCRIPTION, _add_arguments, _run)
