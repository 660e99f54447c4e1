"""``provider-conformance replay``: play recorded failing cases again."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
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
    require_extra,
    subject_of,
    words,
)

if TYPE_CHECKING:
    from extensor_conformance.canary import Needles
    from extensor_conformance.casefile import CaseFile
    from extensor_conformance.replay import Replayed
    from extensor_conformance.settings import Settings
    from extensor_conformance.transcript import Entry

_DESCRIPTION = """\
Play failing cases of earlier runs again, on fresh names, without making inputs anew:

  provider-conformance replay              all of the folder
  provider-conformance replay k7m2q        one case
  provider-conformance replay case.json -- ./provider

Each ends as FIXED (its file goes, unless --keep), STILL FAILS or CANNOT REPLAY.
Steps whose answer is another than it was are marked with ~. The provider is
started as it was, unless the line says otherwise.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "cases",
        metavar="CASE",
        nargs="*",
        help="id of a case or of a check, case file or folder; default: all there are",
    )
    add_subject(parser)
    parser.add_argument("--keep", action="store_true", help="keep the files of fixed cases")
    parser.add_argument(
        "--tries", metavar="N", type=number(1, 100), help="how often each is played; default: once, 3 for a FLAKY one"
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
    from extensor_conformance.canary import Needles
    from extensor_conformance.fixture import FixtureError
    from extensor_conformance.replay import Ending, replay

    require_extra()
    if args.no_color:
        console.colour = False
    files = _recorded(args)
    if not files:
        console.out(f"no failing case is kept in {args.folder / 'cases'}: there is nothing to replay")
        return Exit.UNTESTED
    ends: list[Ending] = []
    for file in files:
        settings = _settings(args, file)
        if file.data.get("fixture", "") != settings.fixture.digest:
            console.line(f"warning: the configuration is not the one that case {file.case.id} was recorded with")
        console.status(f"playing {file.case.id}")
        try:
            done = replay(settings, file, tries=args.tries)
        except FixtureError as error:
            raise Trouble(str(error)) from None
        console.clear()
        _tell(console, done, Needles(settings.fixture.secrets))
        ends.append(done.ending)
        if done.ending is Ending.FIXED and not args.keep:
            file.path.unlink(missing_ok=True)
    console.out("\n" + ", ".join(f"{ends.count(end)} {end}" for end in Ending if end in ends))
    if Ending.STILL_FAILS in ends:
        return Exit.FAILED
    return Exit.UNTESTED if Ending.CANNOT_REPLAY in ends else Exit.OK


def _recorded(args: argparse.Namespace) -> "list[CaseFile]":
    from extensor_conformance.casefile import CaseFileError, case_files, find_cases

    folder: Path = args.folder / "cases"
    if not args.cases:
        return list(case_files(folder))
    found: list[CaseFile] = []
    for name in args.cases:
        if Path(name).is_dir():
            found += case_files(Path(name))
            continue
        try:
            found += find_cases(folder, name)
        except CaseFileError as error:
            known = ", ".join(dict.fromkeys(file.case.id for file in case_files(folder)))
            raise Trouble(f"{error}; kept are {known or 'none'}") from None
    return found


def _settings(args: argparse.Namespace, file: "CaseFile") -> "Settings":
    """As the command line says, else as the case was recorded."""
    from extensor_conformance import replay
    from extensor_conformance.cli.settings_of import guard
    from extensor_conformance.settings import Settings

    recorded = replay.fixture_of(file)
    if args.config is None and recorded is not None and recorded.is_file():
        args = argparse.Namespace(**{**vars(args), "config": recorded})
    fixture = fixture_of(args)
    guard(args, fixture.config)
    told = args.command or args.app or args.socket is not None or args.tcp is not None
    subject = None if told else replay.subject_of(file)
    if subject is None:
        subject = subject_of(args, fixture)
    else:
        subject = replace(subject, cwd=args.cwd or subject.cwd, env=fixture.env)
    return Settings(
        subject,
        fixture,
        timeout=args.timeout,
        allow_kill=args.allow_kill,
        probe=args.probe or (),
        faults=args.faults,
        folder=args.folder,
    )


def _tell(console: Console, done: "Replayed", secrets: "Needles") -> None:
    from extensor_conformance.cli.text import table
    from extensor_conformance.replay import Ending

    colours = {Ending.FIXED: "green", Ending.STILL_FAILS: "red", Ending.CANNOT_REPLAY: "yellow"}
    file = done.file
    ratio = f"   {done.failed} of {done.tries}" if done.tries > 1 else ""
    head = f"{file.check}   {file.case.type or 'provider'}   case {file.case.id}{ratio}"
    console.out(f"{console.paint(done.ending, colours[done.ending])}   {printable(head)}")
    lines = [done.reason] if done.reason else []
    for problem in done.problems:
        lines.append(f"{problem.path}: {problem.message}" if problem.path else problem.message)
        if problem.rows:
            rows = [("path", *problem.columns), *((row.path, *row.cells) for row in problem.rows)]
            lines += [f"   {line}" for line in table(rows)]
    for line in [*lines, *_marks(done)]:
        console.out(f"  {printable(secrets.mask_text(line))}")


def _marks(done: "Replayed") -> list[str]:
    """The steps, each with its answer, and with what was answered when that was something else."""
    from extensor_conformance.report.timeline import cut, timeline
    from extensor_conformance.transcript import Entry
    from extensor_conformance.verdicts import Outcome, Verdict

    file = done.file

    def moments(transcript: "Sequence[Entry]") -> list[tuple[str, str, str]]:
        outcome = Outcome(file.check, file.case.type, Verdict.FAIL, case=file.case, transcript=tuple(transcript))
        return [(moment.action, moment.detail, moment.answer) for moment in timeline(outcome)]

    observed = file.data.get("observed") or []
    old = moments(
        [Entry(one["at"], one["dir"], one["text"], one.get("note", ""), one.get("connection", "1")) for one in observed]
    )
    lines: list[str] = []
    for index, (action, detail, answer) in enumerate(moments(done.transcript) if done.transcript else []):
        before = old[index][2] if index < len(old) else ""
        changed = bool(before) and before != answer
        was = f"   (was: {before})" if changed else ""
        told = f"  -> {answer}" if answer else ""
        lines.append(f"{'~' if changed else ' '}{index + 1:>3} {action:<12} {cut(detail, 90)}{told}{was}")
    return lines


COMMAND = Command("replay", "play failing cases of earlier runs again", _DESCRIPTION, _add_arguments, _run)
