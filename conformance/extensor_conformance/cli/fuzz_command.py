"""``provider-conformance fuzz``: go on with new inputs until time is up."""

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.ending import Policy, ending
from extensor_conformance.cli.exits import PRECEDENCE, Exit
from extensor_conformance.cli.options import add_folder, add_look, add_subject, duration
from extensor_conformance.cli.outputs import add_reports, keep, outputs_of, write_reports
from extensor_conformance.cli.run_command import finished, play, prepare, title_of
from extensor_conformance.cli.settings_of import (
    add_execution,
    add_generation,
    add_policy,
    add_safety,
    add_selection,
    settings_of,
)

if TYPE_CHECKING:
    from extensor_conformance.settings import Settings

ROUND_EXAMPLES = 40
"""Inputs a check and type in one round, unless said otherwise."""

_DESCRIPTION = """\
Play the checks that work on generated inputs again and again, each round with
another seed, until the time is up or something fails.

  provider-conformance fuzz --max-time 10m -- python -m my_provider
  provider-conformance fuzz --max-time 8h --keep-going --checks 'PRV-*' -- ./provider

Failing cases are made small and kept, as `run` does it; the seed of each round is
printed. Without --max-time it goes on until Ctrl-C.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-time", metavar="TIME", type=duration, help="stop after so long; default: never")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first failure")
    add_subject(parser)
    add_selection(parser)
    add_generation(parser)
    add_execution(parser)
    add_policy(parser)
    add_safety(parser)
    add_reports(parser)
    add_look(parser)
    add_folder(parser)
    parser.set_defaults(
        max_examples=ROUND_EXAMPLES, transcript="failed", sanitize="on", quiet=False, verbose=False, budget=86400.0
    )


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.canary import Needles
    from extensor_conformance.cli.progress import Progress
    from extensor_conformance.cli.text import Writer

    if args.no_color:
        console.colour = False
    settings = _generated_only(settings_of(args))
    outputs = outputs_of(args)
    console.text_to_stderr = any(output.path is None for output in outputs)
    secrets = Needles(settings.fixture.secrets)
    prepare(args.folder)
    began, number, codes = time.monotonic(), 0, set[Exit]()
    policy = Policy(strict=args.strict)
    console.out(f"fuzzing {secrets.mask_text(title_of(args, settings))}, seed {settings.seed}")
    while True:
        left = None if args.max_time is None else args.max_time - (time.monotonic() - began)
        if left is not None and left <= 0 and number:
            break
        number += 1
        seed = settings.seed + number - 1
        budget = settings.budget if left is None else min(settings.budget, left)
        settings_now = replace(settings, seed=seed, budget=max(budget, 1.0))
        progress = Progress(console, title=title_of(args, settings), quiet=True, mask=secrets.mask_text)
        report = finished(play(settings_now, progress, console, progress.refresh), args, settings_now, secrets)
        wire = keep(report, args.folder)
        code, why = ending(report, policy)
        cases = sum(outcome.cases for outcome in report.outcomes)
        console.out(f"round {number}   seed {seed}   {cases} cases   {report.seconds:.0f} s   {why}")
        codes.add(Exit.OK if code in (Exit.UNTESTED, Exit.WAIVERS) and cases else code)
        if code in (Exit.FAILED, Exit.KIT):
            Writer(console, report, wire=wire).failures()
        stop = code in (Exit.INTERRUPTED, Exit.NOT_STARTED, Exit.KIT) or (code and not args.keep_going)
        if report.interrupted or (stop and code not in (Exit.UNTESTED, Exit.WAIVERS)) or not cases:
            write_reports(report, outputs, console)
            break
    console.out(f"{number} rounds in {time.monotonic() - began:.0f} s; the same again: fuzz --seed {settings.seed}")
    return next(code for code in PRECEDENCE if code in codes)


def _generated_only(settings: "Settings") -> "Settings":
    """Without the checks that another seed does not change."""
    from extensor_conformance.check import CaseCheck, load_checks

    fixed = tuple(id_ for id_, check in load_checks().items() if not isinstance(check, CaseCheck))
    return replace(settings, exclude=(*settings.exclude, *fixed)) if not settings.checks else settings


COMMAND = Command("fuzz", "go on with new inputs until time is up", _DESCRIPTION, _add_arguments, _run)
