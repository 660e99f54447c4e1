"""``provider-conformance explain``: why a check exists, and what to do when it fails."""

import argparse
import json
import textwrap

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_json

_DESCRIPTION = """\
Tell why a check exists, which rule of the protocol it comes from, what is usually
wrong when it fails, how to fix it, and which planted bug shows it.

  provider-conformance explain PRV-08
"""
_NEEDS = {
    "probe": "--probe CMD, a command that looks at the world behind the provider",
    "faults": "--faults, a way to make the world behind the provider fail",
    "kill": "--allow-kill",
}
_SEVERITIES = {"M": "must: FAIL", "S": "should: WARN, and FAIL with --strict", "I": "information"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="+", help="one or more check ids")
    parser.add_argument("--requirements", metavar="REV", default="1", help="revision of the requirements; default: 1")
    add_json(parser)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    import difflib

    from extensor_conformance.catalogue import LEVELS, load
    from extensor_conformance.check import load_checks

    try:
        rows = load(args.requirements)
    except ValueError as error:
        raise Trouble(str(error)) from None
    checks = load_checks()
    documents: list[dict[str, object]] = []
    for number, word in enumerate(args.id):
        row = rows.get(word.upper())
        if row is None:
            near = difflib.get_close_matches(word.upper(), rows, 3, 0.4)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise Trouble(f"there is no check {word!r}{hint}")
        check = checks.get(row.id)
        how = " ".join((type(check).__doc__ or "").split()) if check is not None else ""
        documents.append(
            {
                "id": row.id,
                "title": row.title,
                "sentence": row.sentence,
                "rules": list(row.rule),
                "level": row.level,
                "severity": str(row.severity),
                "tier": row.tier,
                "needs": list(row.needs),
                "why": row.why,
                "cause": row.cause,
                "fix": row.fix,
                "mutants": list(row.mutants),
                "how": how,
            }
        )
        if args.json:
            continue
        facts = {
            "Passes": row.sentence,
            "Played": how or "the kit has no check for it yet",
            "Why": row.why,
            "Cause": row.cause,
            "Fix": row.fix,
            "Rules": f"{', '.join(row.rule)} in docs/protocol.md" if row.rule else "",
            "Level": f"L{row.level} {LEVELS[row.level]}, {row.tier}",
            "Weight": _SEVERITIES[str(row.severity)],
            "Needs": "; ".join(_NEEDS.get(need, need) for need in row.needs),
            "Mutants": ", ".join(row.mutants),
        }
        console.out(f"{chr(10) if number else ''}{console.paint(row.id, 'bold')}  {row.title}")
        for label, text in facts.items():
            if text:
                first, rest = f"  {label:<8} ", " " * 11
                width = min(console.width, 110)
                console.out(textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest))
        console.out(f"  {'Try':<8} provider-conformance run --checks {row.id} -- CMD...")
    if args.json:
        console.document(json.dumps(documents, indent=2, ensure_ascii=False) + "\n")
    return Exit.OK


COMMAND = Command("explain", "why a check exists, and how to fix its failure", _DESCRIPTION, _add_arguments, _run)
