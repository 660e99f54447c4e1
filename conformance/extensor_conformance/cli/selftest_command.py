"""``provider-conformance selftest``: the kit on trial."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console, printable
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_json, listed, number

if TYPE_CHECKING:
    from extensor_conformance.selftest import Row

_DESCRIPTION = """\
Run the kit against planted bugs and against odd but honest providers, and print
the kill matrix: every bug has to be caught by the check that is named for it, at
the right place, and by no unrelated one; everything honest has to stay green.

  provider-conformance selftest
  provider-conformance selftest --only M08 --only 'H*' --seeds 1
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bed", metavar="DIR", type=Path, help="folder of the programs; default: the checkout's")
    parser.add_argument("--only", metavar="NAME", action="append", help="only these programs: names or patterns")
    parser.add_argument(
        "--seeds", metavar="N", type=number(1, 1000), default=10, help="seeds for each mutant; default: 10"
    )
    parser.add_argument("--seed", metavar="N", type=number(0, 2**63 - 1), default=1, help="the first seed; default: 1")
    parser.add_argument(
        "-j", "--workers", metavar="N", type=number(1, 64), default=2, help="programs at once; default: 2"
    )
    add_json(parser)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.selftest import BedMissing, SelftestSettings, run_selftest

    console.text_to_stderr = args.json
    settings = SelftestSettings(args.bed, listed(args.only), args.seeds, args.workers, args.seed)

    def tell(row: "Row") -> None:
        word = console.paint("ok ", "green") if row.good else console.paint("BAD", "red")
        seen = ", ".join(row.seen) or "green"
        console.out(
            f"{word} {row.name:<12} {printable(row.summary):<50.50} {seen}   {row.runs} runs, {row.seconds:.0f} s"
        )
        if row.trouble:
            console.out(f"    {printable(row.trouble)}")

    try:
        matrix = run_selftest(settings, tell)
    except BedMissing as error:
        raise Trouble(str(error)) from None
    good = sum(row.good for row in matrix.rows)
    console.out(f"{good} of {len(matrix.rows)} as they must be, first seed {args.seed}")
    if matrix.uncovered:
        console.out(f"no mutant shows {', '.join(matrix.uncovered)}")
    if args.json:
        console.document(json.dumps(matrix.to_json(), indent=2, ensure_ascii=False) + "\n")
    return Exit.OK if matrix.good else Exit.FAILED


COMMAND = Command("selftest", "the kit on trial: print the kill matrix", _DESCRIPTION, _add_arguments, _run)
