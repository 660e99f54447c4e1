"""``provider-conformance fuzz``: long random lives of several objects, until time is up."""

import argparse
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_folder, add_look, add_subject, duration, number, require_extra
from extensor_conformance.cli.outputs import add_reports, keep, outputs_of, write_reports
from extensor_conformance.cli.run_command import finished, prepare, signals, title_of
from extensor_conformance.cli.settings_of import add_execution, add_generation, add_safety, settings_of

if TYPE_CHECKING:
    from extensor_conformance.fuzz import Progress
    from extensor_conformance.report.model import Report
    from extensor_conformance.settings import Settings
    from extensor_conformance.verdicts import Outcome

_DESCRIPTION = """\
Save, change, preview, read and delete a few objects in any order, with restarts
between, and hold every answer to what came before. Goes on until the time is up,
something fails, or Ctrl-C.

  provider-conformance fuzz --max-time 10m -- python -m my_provider
  provider-conformance fuzz --max-time 8h --keep-going -- ./provider

Failing cases are made small and kept, as `run` does it, for `replay` to show. The
same seed gives the same cases in the same order.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-time", metavar="TIME", type=duration, help="stop after so long; default: never")
    parser.add_argument("--max-cases", metavar="N", type=number(1, 2**31), help="stop after so many cases")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first failure")
    parser.add_argument("--type", metavar="TYPE", action="append", help="only these types: names or patterns")
    add_subject(parser)
    add_generation(parser)
    add_execution(parser)
    add_safety(parser)
    add_reports(parser)
    add_look(parser)
    add_folder(parser)
    parser.set_defaults(
        level=None,
        checks=None,
        exclude_checks=None,
        requirements="1",
        strict=False,
        expected_failures=None,
        baseline=None,
        old_types=None,
        transcript="failed",
        sanitize="on",
    )


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor.errors import ConnectionFailed, StartFailed
    from extensor_conformance.answers import ConnectionEnded, NoAnswer
    from extensor_conformance.canary import Needles
    from extensor_conformance.cli.text import Writer
    from extensor_conformance.fixture import FixtureError
    from extensor_conformance.fuzz import Fuzz
    from extensor_conformance.kind import NoSuchKind
    from extensor_conformance.report.masking import without_secrets
    from extensor_conformance.verdicts import Failed, Verdict

    require_extra()
    if args.no_color:
        console.colour = False
    outputs = outputs_of(args)
    settings = settings_of(args)
    console.text_to_stderr = any(output.path is None for output in outputs)
    secrets = Needles(settings.fixture.secrets)
    prepare(args.folder)
    console.out(f"fuzzing {secrets.mask_text(title_of(args, settings))}   seed {settings.seed}")
    fuzz, started, clock = Fuzz(settings), datetime.now(UTC), time.monotonic()

    def found(outcome: "Outcome") -> None:
        report = finished(_report(settings, started, clock, (outcome,)), args, settings, secrets)
        _keep_case(settings, without_secrets(outcome, secrets))
        Writer(console, report).failures()
        if not args.keep_going:
            fuzz.stop("something failed")

    def progress(done: "Progress") -> None:
        seconds = time.monotonic() - clock
        console.status(f"{done.cases} cases | {done.calls} calls | {len(done.found)} failures | {seconds:.0f} s")

    try:
        with signals(console, settings):
            done = fuzz.execute(found, seconds=args.max_time, cases=args.max_cases, on_progress=progress)
    except (FixtureError, NoSuchKind) as error:
        raise Trouble(str(error)) from None
    except (Failed, StartFailed, ConnectionFailed, NoAnswer, ConnectionEnded) as error:
        told = secrets.mask_text(str(error))
        raise Trouble(f"the provider did not start: {told}\nseed {settings.seed}", Exit.NOT_STARTED) from None
    console.clear()
    report = finished(_report(settings, started, clock, tuple(done.found)), args, settings, secrets)
    keep(report, args.folder)
    write_reports(report, outputs, console)
    console.out(
        f"{done.cases} cases, {done.calls} calls, {len(done.found)} failures in {done.seconds:.0f} s: {done.reason}"
    )
    console.out(f"the same cases again: provider-conformance fuzz --seed {settings.seed}")
    if any(outcome.verdict is Verdict.ERROR for outcome in done.found):
        return Exit.KIT
    if done.reason == "it was interrupted":
        return Exit.INTERRUPTED
    if done.found:
        return Exit.FAILED
    return Exit.OK if done.cases else Exit.UNTESTED


def _report(settings: "Settings", started: datetime, clock: float, outcomes: "tuple[Outcome, ...]") -> "Report":
    from extensor_conformance.report.model import Report
    from extensor_conformance.runner import kit_version

    return Report(
        kit=kit_version(),
        requirements=settings.requirements,
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        seconds=time.monotonic() - clock,
        subject={"title": settings.subject.title, "wire": settings.subject.wire},
        provider={},
        types=tuple(dict.fromkeys(outcome.type for outcome in outcomes if outcome.type)),
        config_keys=tuple(sorted(settings.fixture.config)),
        settings={"workers": 1, "strict": False},
        outcomes=outcomes,
    )


def _keep_case(settings: "Settings", outcome: "Outcome") -> None:
    from extensor_conformance.casefile import write_case
    from extensor_conformance.runner import kit_version

    if settings.folder is None or outcome.case is None:
        return
    facts = {
        "kit": kit_version(),
        "requirements": settings.requirements,
        "seed": settings.seed,
        "subject": settings.subject.title,
        "wire": settings.subject.wire,
        "start": settings.start,
        "fixture": settings.fixture.digest,
        "configKeys": sorted(settings.fixture.config),
    }
    write_case(settings.folder / "cases", outcome, facts)


COMMAND = Command("fuzz", "long random lives of objects, until time is up", _DESCRIPTION, _add_arguments, _run)
