"""``provider-conformance diff``: what changed between two reports."""

import argparse
import json
from pathlib import Path

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_json

_DESCRIPTION = """\
Compare two JSON reports: what fails now and did not, what is fixed, what is no
longer tested, whose evidence changed, which calls became slower.

  provider-conformance diff old.json new.json

The exit code is 1 when something got worse.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", type=Path, help="JSON report from before")
    parser.add_argument("new", metavar="NEW", type=Path, help="JSON report from now")
    add_json(parser)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.report.document import NotAReport, read_report
    from extensor_conformance.report.versus import compare

    try:
        change = compare(read_report(args.old), read_report(args.new))
    except NotAReport as error:
        raise Trouble(str(error)) from None
    if args.json:
        console.document(json.dumps(change.to_json(), indent=2, ensure_ascii=False) + "\n")
    else:
        words = {
            "New failures": (change.failing, "red"),
            "Fixed": (change.fixed, "green"),
            "Still failing": (change.still, "yellow"),
            "No longer tested": (change.untested, "yellow"),
            "Evidence": (change.evidence, "blue"),
            "Slower": (change.slower, "yellow"),
        }
        for title, (items, colour) in words.items():
            if items:
                console.out(console.paint(title, colour))
                for item in items:
                    console.out(f"  {item}")
        before, after = change.levels
        console.out(f"Level  L{before} -> L{after}" if before != after else f"Level  L{after}, as before")
    return Exit.FAILED if change.worse else Exit.OK


COMMAND = Command("diff", "what changed between two reports", _DESCRIPTION, _add_arguments, _run)
