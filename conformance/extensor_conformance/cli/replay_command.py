"""``provider-conformance replay``: play recorded failing cases again."""

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console, printable
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import (
    add_folder,
    add_look,
    add_subject,
    duration,
    fixture_of,
    number,
    subject_of,
    words,
)
from extensor_conformance.cli.provider_bench import provider_bench

if TYPE_CHECKING:
    from extensor.contract import JsonObject
    from extensor_conformance.bench import Bench
    from extensor_conformance.case import Case
    from extensor_conformance.fixture import Fixture
    from extensor_conformance.judging import Attempt
    from extensor_conformance.settings import Settings
    from extensor_conformance.subject import Subject
    from extensor_conformance.transcript import Entry
    from extensor_conformance.verdicts import Problem

_DESCRIPTION = """\
Play failing cases of earlier runs again, on fresh names, without making inputs anew:

  provider-conformance replay              all of the folder
  provider-conformance replay k7m2q        one case
  provider-conformance replay case.json -- ./provider

Each ends as FIXED (its file goes, unless --keep), STILL FAILS, FLAKY or CANNOT
REPLAY. Steps whose answer is another than it was are marked with ~.
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case file."""

    path: Path
    check: str
    """The check that failed; the case may be another's, when a monitor saw the failure."""
    case: "Case"
    data: "JsonObject"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", metavar="CASE", nargs="*", help="case id, case file or folder; default: all there are")
    add_subject(parser)
    parser.add_argument("--keep", action="store_true", help="keep the files of fixed cases")
    parser.add_argument(
        "--tries", metavar="N", type=number(1, 100), default=3, help="passes that make a case FIXED; default: 3"
    )
    parser.add_argument("--timeout", metavar="TIME", type=duration, default=10.0, help="for one answer; default: 10s")
    parser.add_argument("--allow-kill", action="store_true", help="the provider may be killed at any moment")
    parser.add_argument("--probe", metavar="CMD", type=words, help="see `run`")
    parser.add_argument("--faults", choices=("hook", "proxy", "triggers"), help="see `run`")
    parser.add_argument("--yes-this-is-not-production", action="store_true", help="see `run`")
    add_look(parser)
    add_folder(parser)
    parser.set_defaults(read_only=False)


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.cli.settings_of import guard

    if args.no_color:
        console.colour = False
    recorded = _recorded(args)
    if not recorded:
        console.out(f"no failing case is kept in {args.folder / 'cases'}: there is nothing to replay")
        return Exit.UNTESTED
    fixture = fixture_of(args)
    guard(args, fixture.config)
    ends: list[str] = []
    for title, group in _by_subject(recorded).items():
        subject = _subject(args, fixture, title, group[0])
        with provider_bench(_settings(args, fixture, subject)) as (bench, _):
            ends += [_replay(item, bench, args, console) for item in group]
    counts = {end: ends.count(end) for end in ("STILL FAILS", "FLAKY", "CANNOT REPLAY", "FIXED") if end in ends}
    console.out("\n" + ", ".join(f"{count} {end}" for end, count in counts.items()))
    if "STILL FAILS" in counts or "FLAKY" in counts:
        return Exit.FAILED
    return Exit.UNTESTED if "CANNOT REPLAY" in counts else Exit.OK


def _recorded(args: argparse.Namespace) -> list[Recorded]:
    folder: Path = args.folder / "cases"
    found: list[Recorded] = []
    for name in args.cases or [str(folder)]:
        place = Path(name)
        if place.is_dir():
            found += [_read(path) for path in sorted(place.glob("*.json"))]
        elif place.is_file():
            found.append(_read(place))
        elif (folder / f"{name}.json").is_file():
            found.append(_read(folder / f"{name}.json"))
        elif not args.cases:
            continue
        else:
            known = ", ".join(sorted(path.stem for path in folder.glob("*.json"))[:10])
            raise Trouble(f"there is no case {name!r}; kept in {folder}: {known or 'none'}")
    return found


def _read(path: Path) -> Recorded:
    from extensor_conformance.case import Case

    try:
        data = json.loads(path.read_text("utf-8"))
        case = Case.from_json(data["case"])
        return Recorded(path, str(data.get("check") or case.check), case, data)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise Trouble(f"{path} is no case file: {error!r}") from None


def _by_subject(recorded: Sequence[Recorded]) -> dict[str, list[Recorded]]:
    groups: dict[str, list[Recorded]] = {}
    for item in recorded:
        groups.setdefault(f"{item.data.get('wire')} {item.data.get('subject')}", []).append(item)
    return groups


def _subject(args: argparse.Namespace, fixture: "Fixture", title: str, item: Recorded) -> "Subject":
    """As the command line says, else as the case was recorded."""
    from extensor_conformance.subject import Subject

    told = args.command or args.app or args.socket is not None or args.tcp is not None
    if told or not item.data.get("subject"):
        return subject_of(args, fixture)
    text, wire = str(item.data["subject"]), str(item.data.get("wire", "stdio"))
    if text.startswith(("unix:", "tcp:")):
        return Subject(address=text, env=fixture.env)
    address = None if wire == "stdio" else f"{wire}:"
    return Subject(tuple(shlex.split(text)), address, args.cwd or fixture.cwd, fixture.env)


def _settings(args: argparse.Namespace, fixture: "Fixture", subject: "Subject") -> "Settings":
    from extensor_conformance.settings import Settings

    return Settings(
        subject,
        fixture,
        timeout=args.timeout,
        allow_kill=args.allow_kill,
        probe=args.probe or (),
        faults=args.faults,
        folder=None,
    )


def _replay(item: Recorded, bench: "Bench", args: argparse.Namespace, console: Console) -> str:
    """Play one case, say how it ended, and give that word."""
    from extensor_conformance.check import load_checks
    from extensor_conformance.judging import attempt, excuse
    from extensor_conformance.kind import find_kind

    check = load_checks().get(item.case.check)
    kind = find_kind(bench.watch.kinds, item.case.type) if item.case.type else None
    head = f"{item.check}   {item.case.type or 'provider'}   case {item.case.id}"
    reason = None
    if check is None:
        reason = f"the kit has no check {item.case.check}"
    elif item.case.type and kind is None:
        reason = f"the provider has no type {item.case.type}"
    else:
        excused = excuse(bench, check, kind)
        reason = excused[1] if excused else None
    if check is None or reason is not None:
        return _end(console, "CANNOT REPLAY", "yellow", head, [str(reason)])
    if item.data.get("fixture") and item.data["fixture"] != bench.fixture.digest:
        console.line(f"warning: the configuration is not the one that case {item.case.id} was recorded with")
    bench.random.seed(item.case.seed)
    made: list[Attempt] = []
    for _ in range(args.tries):
        made.append(attempt(bench, check, item.case.fresh(bench.names), kind))
        if made[-1].of(item.check):
            break
    last = made[-1]
    problems, steps = last.of(item.check), _marks(item, last, bench)
    if last.kit_fault is not None:
        return _end(console, "CANNOT REPLAY", "red", head, [last.kit_fault])
    if problems:
        word = "STILL FAILS" if len(made) == 1 else "FLAKY"
        return _end(console, word, "red", head, [*_lines(problems, bench), *steps])
    why = last.not_tested or last.not_applicable
    if why is not None:
        return _end(console, "CANNOT REPLAY", "yellow", head, [why, *steps])
    if not args.keep:
        item.path.unlink(missing_ok=True)
    return _end(console, "FIXED", "green", head, steps)


def _end(console: Console, word: str, colour: str, head: str, lines: Sequence[str]) -> str:
    console.out(f"{console.paint(word, colour)}   {printable(head)}")
    for line in lines:
        console.out(f"  {printable(line)}")
    return word


def _lines(problems: "Sequence[Problem]", bench: "Bench") -> list[str]:
    from extensor_conformance.cli.text import table

    lines: list[str] = []
    for problem in problems:
        lines.append(f"{problem.path}: {problem.message}" if problem.path else problem.message)
        rows = [(row.path, *row.cells) for row in problem.rows]
        lines += [f"   {line}" for line in table([("path", *problem.columns), *rows])] if rows else []
    return [bench.watch.secrets.mask_text(line) for line in lines]


def _marks(item: Recorded, made: "Attempt", bench: "Bench") -> list[str]:
    """The steps, each with its answer, and with what was answered when that was something else."""
    from extensor_conformance.report.timeline import cut, timeline
    from extensor_conformance.transcript import Entry
    from extensor_conformance.verdicts import Outcome, Verdict

    def moments(transcript: "tuple[Entry, ...]") -> list[tuple[str, str, str]]:
        outcome = Outcome(item.check, item.case.type, Verdict.FAIL, case=item.case, transcript=transcript)
        return [(moment.action, moment.detail, moment.answer) for moment in timeline(outcome)]

    observed = item.data.get("observed") or []
    old = moments(
        tuple(
            Entry(one["at"], one["dir"], one["text"], one.get("note", ""), one.get("connection", "1"))
            for one in observed
        )
    )
    new = moments(made.transcript)
    lines: list[str] = []
    for index, (action, detail, answer) in enumerate(new):
        before = old[index][2] if index < len(old) else ""
        changed = bool(before) and before != answer
        was = f"   (was: {before})" if changed else ""
        told = bench.watch.secrets.mask_text(cut(detail, 90))
        lines.append(
            f"{'~' if changed else ' '}{index + 1:>3} {action:<12} {told}{f'  -> {answer}' if answer else ''}{was}"
        )
    return lines


COMMAND = Command("replay", "play failing cases of earlier runs again", _DESCRIPTION, _add_arguments, _run)
