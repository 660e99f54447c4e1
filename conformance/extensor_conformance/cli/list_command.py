"""``provider-conformance list``: the checks."""

import argparse
import json

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_json, listed
from extensor_conformance.cli.settings_of import add_selection

_DESCRIPTION = """\
List the checks: id, level, severity (M must, S should), tier, what each needs.

  provider-conformance list
  provider-conformance list --checks 'PRV-*,IDM-*'
  provider-conformance list --json
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    add_json(parser)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.catalogue import chosen, load
    from extensor_conformance.check import load_checks
    from extensor_conformance.cli.text import table

    if args.type:
        raise Trouble("--type is for runs: the list is the same for all types")
    try:
        rows = load(args.requirements)
        found = chosen(rows.values(), listed(args.checks), listed(args.exclude_checks), args.level or 4)
    except ValueError as error:
        raise Trouble(str(error)) from None
    ready = load_checks()
    if args.json:
        document = {
            "requirements": args.requirements,
            "checks": [
                {
                    "id": row.id,
                    "title": row.title,
                    "group": row.group,
                    "level": row.level,
                    "severity": str(row.severity),
                    "tier": row.tier,
                    "needs": list(row.needs),
                    "rules": list(row.rule),
                    "sentence": row.sentence,
                    "mutants": list(row.mutants),
                    "implemented": row.id in ready,
                }
                for row in found
            ],
        }
        console.document(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return Exit.OK
    lines = [("id", "title", "group", "level", "severity", "tier", "needs")]
    lines += [
        (row.id, row.title, row.group, f"L{row.level}", str(row.severity), row.tier, ", ".join(row.needs))
        for row in found
    ]
    for line in table(lines):
        console.out(line)
    console.out(f"{len(found)} checks; `provider-conformance explain ID` tells more")
    return Exit.OK


COMMAND = Command("list", "the checks: level, severity, needs", _DESCRIPTION, _add_arguments, _run)
