"""``provider-conformance baseline``: failures that are known, each with a reason and a day on which it is over."""

import argparse
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_folder, number
from extensor_conformance.cli.outputs import write_file
from extensor_conformance.cli.settings_of import last_report, waivers_of

if TYPE_CHECKING:
    from extensor_conformance.fixture import Waiver
    from extensor_conformance.report.model import Report
    from extensor_conformance.verdicts import Outcome

DEFAULT_FILE = "conformance-waivers.toml"
_SOON_DAYS = 14

_DESCRIPTION = """\
Keep a list of failures that are known, so that a new one stands out.

  provider-conformance baseline write --reason "fixed with issue 12" --days 60
  provider-conformance run --expected-failures conformance-waivers.toml -- ./provider
  provider-conformance baseline check

A waiver is for one check, type and path. It needs a reason and ends on a day; one
that is no longer needed makes a run exit with 6.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    write = actions.add_parser("write", help="waive what failed in the last run", description=_DESCRIPTION)
    write.add_argument("--reason", required=True, metavar="TEXT", help="why these failures are acceptable for now")
    write.add_argument(
        "--days", metavar="N", type=number(1, 3650), default=90, help="days until the waivers expire; default: 90"
    )
    check = actions.add_parser("check", help="tell which waivers are stale, expired or soon over")
    for one in (write, check):
        one.add_argument("file", metavar="FILE", nargs="?", type=Path, default=Path(DEFAULT_FILE), help="the list")
        one.add_argument(
            "--from", dest="source", metavar="REPORT", type=Path, help="JSON report; default: the last run's"
        )
        add_folder(one)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.report.document import NotAReport, read_report

    source: Path = args.source or last_report(args.folder)
    try:
        report = read_report(source) if args.source or args.action == "write" or source.is_file() else None
    except NotAReport as error:
        raise Trouble(str(error)) from None
    if args.action == "check":
        return _check(args.file, report, console)
    assert report is not None
    return _write(args, report, console)


def _write(args: argparse.Namespace, report: "Report", console: Console) -> Exit:
    from extensor_conformance.fixture import Waiver
    from extensor_conformance.verdicts import Verdict

    known = [waiver for waiver in (waivers_of(args.file) if args.file.exists() else ()) if not waiver.expired]
    alive = [waiver for waiver in known if _state(waiver, report) != "stale"]
    until = datetime.now(UTC).date() + timedelta(days=args.days)
    new: dict[tuple[str, str | None, str | None], Waiver] = {}
    for outcome in report.outcomes:
        if outcome.verdict not in (Verdict.FAIL, Verdict.FLAKY, Verdict.WARN):
            continue
        paths = {
            problem.path if (problem.path or "").startswith("$.properties.") else None for problem in outcome.problems
        }
        for path in [None] if None in paths or not paths else sorted(filter(None, paths)):
            new[outcome.check, outcome.type, path] = Waiver(outcome.check, args.reason, outcome.type, path, until)
    for waiver in alive:
        new.pop((waiver.check.upper(), waiver.type, waiver.path), None)
    waivers = [*alive, *new.values()]
    write_file(args.file, waivers_text(waivers))
    dropped = len(known) - len(alive)
    told = f"{args.file}: {len(new)} new, {len(alive)} kept{f', {dropped} no longer needed' if dropped else ''}"
    console.out(f"{told}; use it with: run --expected-failures {args.file}")
    return Exit.OK


def waivers_text(waivers: "list[Waiver]") -> str:
    """The list as TOML."""
    blocks = ["# Known failures; see `provider-conformance baseline --help`."]
    for waiver in waivers:
        lines = ["[[waive]]", f"check = {_quoted(waiver.check)}"]
        lines += [f"type = {_quoted(waiver.type)}"] if waiver.type else []
        lines += [f"path = {_quoted(waiver.path)}"] if waiver.path else []
        lines.append(f"reason = {_quoted(waiver.reason)}")
        lines += [f"until = {waiver.until.isoformat()}"] if waiver.until else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _check(path: Path, report: "Report | None", console: Console) -> Exit:
    bad = 0
    waivers = waivers_of(path)
    for waiver in waivers:
        state = _state(waiver, report)
        bad += state in ("stale", "expired", "unknown check")
        colour = "red" if state in ("stale", "expired", "unknown check") else "green" if state == "needed" else "yellow"
        place = " ".join(filter(None, (waiver.check, waiver.type, waiver.path)))
        until = f" until {waiver.until}" if waiver.until else ""
        console.out(f"{console.paint(f'{state:<14}', colour)} {place}{until}: {waiver.reason}")
    if not waivers:
        console.out(f"{path} has no waiver")
    return Exit.WAIVERS if bad else Exit.OK


def _state(waiver: "Waiver", report: "Report | None") -> str:
    from extensor_conformance.catalogue import load
    from extensor_conformance.verdicts import Verdict

    if waiver.check.upper() not in load():
        return "unknown check"
    if waiver.expired:
        return "expired"
    verdicts = {outcome.verdict for outcome in _about(waiver, report)}
    if verdicts and verdicts <= {Verdict.PASS, Verdict.XPASS}:
        return "stale"
    soon = waiver.until is not None and waiver.until - _today() <= timedelta(days=_SOON_DAYS)
    return "soon over" if soon else "needed" if verdicts - {Verdict.PASS, Verdict.NOT_TESTED} else "not seen"


def _about(waiver: "Waiver", report: "Report | None") -> "list[Outcome]":
    if report is None:
        return []
    wanted = waiver.type.lower() if waiver.type else None
    return [
        outcome
        for outcome in report.outcomes
        if outcome.check == waiver.check.upper()
        and (
            wanted is None
            or outcome.type is None
            or wanted in (outcome.type.lower(), outcome.type.lower().rpartition("@")[0])
        )
    ]


def _today() -> date:
    return datetime.now(UTC).date()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


COMMAND = Command("baseline", "keep a list of known failures", _DESCRIPTION, _add_arguments, _run)
