"""One program of the bed on one seed: the kit is run on it, and judged."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from extensor_conformance.fixture import Fixture, load_fixture
from extensor_conformance.report.model import Report
from extensor_conformance.runner import Run
from extensor_conformance.selftest.bed import Bed, Entry, Program, filled
from extensor_conformance.selftest.model import Turn
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Outcome, Verdict

BUDGET = 180.0
"""Seconds for one run of the kit."""


class _Bad(Exception):
    """The kit did not do as it must; the text says how."""


def play_turn(bed: Bed, entry: Entry, number: int, seed: int) -> Turn:
    """Run the kit on one seed, the `number`-th of the program, and say what is not as it must be.

    Raises `KeyboardInterrupt` when a run was interrupted.
    """
    began = time.monotonic()
    seen: set[str] = set()
    trouble, runs = "", 0
    try:
        for checks, workers in _runs(bed, entry, number):
            runs += 1
            report = _play(bed, entry, seed, checks, workers)
            if report.interrupted:
                raise KeyboardInterrupt
            seen |= {outcome.check for outcome in report.outcomes if _failed(outcome)}
            _judge(entry, report, named=entry.check in checks)
    except _Bad as bad:
        trouble = str(bad)
    return Turn(seed, tuple(sorted(seen)), trouble, runs, time.monotonic() - began)


def _runs(bed: Bed, entry: Entry, number: int) -> Iterable[tuple[tuple[str, ...], int]]:
    """The checks and workers of each run on one seed: the named check; on the first seed the cheap ones too."""
    for workers in entry.workers:
        if entry.check is None:
            yield entry.checks or bed.cheap, workers
            continue
        yield (entry.check,), workers
        if number == 0:
            yield tuple(id_ for id_ in bed.cheap if id_ != entry.check), workers


def _failed(outcome: Outcome) -> bool:
    return outcome.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.FLAKY)


def _judge(entry: Entry, report: Report, *, named: bool) -> None:
    """Raises `_Bad` for a fault of the kit, a check that fails without a reason, and a named one that does not."""
    if report.kit_faults or any(outcome.verdict is Verdict.ERROR for outcome in report.outcomes):
        raise _Bad("the kit itself is at fault")
    unrelated = {o.check for o in report.outcomes if _failed(o)} - {entry.check, *entry.also}
    if unrelated:
        first = next(o for o in report.outcomes if o.check in unrelated and _failed(o))
        what = f": {first.problems[0].message}" if first.problems else ""
        raise _Bad(f"{', '.join(sorted(unrelated))} failed too{what}")
    if entry.check is None and not any(outcome.verdict is Verdict.PASS for outcome in report.outcomes):
        raise _Bad(f"nothing passed: {report.start_failure or 'nothing was tested'}")
    if named:
        _named(entry, [outcome for outcome in report.outcomes if outcome.check == entry.check])


def _named(entry: Entry, outcomes: Sequence[Outcome]) -> None:
    red = [outcome for outcome in outcomes if outcome.verdict in (Verdict.FAIL, Verdict.WARN)]
    if not red:
        said = "; ".join(f"{o.verdict}{f' ({o.reason})' if o.reason else ''}" for o in outcomes) or "it was not played"
        raise _Bad(f"it lives: {entry.check} says {said}")
    if entry.path is None and entry.step is None and all(outcome.facts.get("silent") is True for outcome in red):
        raise _Bad(f"it lives: {entry.check} only waited in vain")
    problems = [problem for outcome in red for problem in outcome.problems]
    for problem in problems:
        path, step = problem.path or "", problem.step or ""
        if path.startswith(entry.path or "") and step.startswith(entry.step or ""):
            return
    places = "; ".join(f"{problem.path} in {problem.step}" for problem in problems)
    raise _Bad(f"{entry.check} fails at the wrong place: {places}, not {entry.path} in {entry.step}")


def _play(bed: Bed, entry: Entry, seed: int, checks: tuple[str, ...], workers: int) -> Report:
    program = bed.programs[entry.program]
    with tempfile.TemporaryDirectory(prefix="selftest-") as name:
        work = Path(name)
        words = filled((*program.command, *(program.store if entry.store else ())), bed.folder, work)
        address = None if entry.wire == "stdio" else f"{entry.wire}:"
        subject = Subject((*words, *(program.listen if address else ())), address, work, {"MUTANT": entry.switch})
        settings = Settings(
            subject,
            fixture_for(program, entry, work),
            seed,
            checks,
            types=entry.types,
            folder=None,
            shrink=False,
            retries=0,
            allow_kill=True,
            workers=workers,
            budget=BUDGET,
            max_examples=6 if entry.check in checks else 1,
            timeout=entry.timeout or program.timeout,
            faults="hook" if (program.faults if entry.faults is None else entry.faults) else None,
            probe=filled(program.probe, bed.folder, work) if entry.probe and entry.store else (),
            baseline=_written(work / "report.json", entry.baseline),
            old_types=_old_types(words, work) if entry.older else None,
        )
        return Run(settings).execute()


def fixture_for(program: Program, entry: Entry, work: Path) -> Fixture:
    """What the author's file of a program says, written where the program works."""
    text = program.fixture if entry.fixture is None else entry.fixture
    return load_fixture(_written(work / "conformance.toml", text or None))


def _written(place: Path, text: str | None) -> Path | None:
    if text is None:
        return None
    place.write_text(text, encoding="utf-8")
    return place


def _old_types(words: Sequence[str], work: Path) -> Path:
    """The types of the program without a switch, as a folder."""
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "provider/getTypeFiles"})
    answer = subprocess.run(list(words), input=f"{request}\n", capture_output=True, text=True, check=True, timeout=30)
    files = json.loads(answer.stdout)["result"]
    folder = work / "older"
    folder.mkdir()
    (folder / "index.json").write_text(files["indexFile"], encoding="utf-8")
    for name, text in files["typeFiles"].items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
