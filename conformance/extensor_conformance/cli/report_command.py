"""``provider-conformance report``: one report into another format."""

import argparse
from pathlib import Path

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_folder
from extensor_conformance.cli.outputs import NAMES, Output, outputs_of, write_reports
from extensor_conformance.cli.settings_of import last_report

_DESCRIPTION = """\
Make other formats from a JSON report, without starting anything.

  provider-conformance report convert --report html=report.html
  provider-conformance report convert old.json --report markdown
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from extensor_conformance.cli.outputs import add_reports

    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    convert = actions.add_parser(
        "convert", help="from JSON to any other format", description=f"{_DESCRIPTION}\nformats: {', '.join(NAMES)}"
    )
    convert.add_argument("file", metavar="FILE", nargs="?", type=Path, help="JSON report; default: of the last run")
    add_reports(convert)
    add_folder(convert)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.report.document import NotAReport, read_report

    outputs = outputs_of(args) or [Output("markdown", None)]
    try:
        report = read_report(args.file or last_report(args.folder))
    except NotAReport as error:
        raise Trouble(str(error)) from None
    write_reports(report, outputs, console)
    return Exit.OK


COMMAND = Command("report", "make other formats from a JSON report", _DESCRIPTION, _add_arguments, _run)
