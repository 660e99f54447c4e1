"""Playing a failing case again, from its file alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.answers import ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.casefile import CaseFile, adopted
from extensor_conformance.check import Check, load_checks
from extensor_conformance.judging import attempt, excuse
from extensor_conformance.kind import find_kind
from extensor_conformance.ledger import Ledger
from extensor_conformance.names import Names
from extensor_conformance.provider import read_provider
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Failed, Problem


class Ending(StrEnum):
    """What a replay came to."""

    FIXED = "FIXED"
    STILL_FAILS = "STILL FAILS"
    CANNOT_REPLAY = "CANNOT REPLAY"


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case file, played again."""

    file: CaseFile
    ending: Ending
    problems: tuple[Problem, ...] = ()
    """When it still fails."""
    reason: str = ""
    """Why it cannot be replayed, in one sentence."""
    transcript: tuple[Entry, ...] = ()
    failed: int = 0
    """How many of the tries failed."""
    tries: int = 0


def replay(settings: Settings, file: CaseFile, *, tries: int | None = None) -> Replayed:
    """Play a case on fresh names, `tries` times: one failure is enough to say that it still fails.

    By default once, and three times for a case that was FLAKY. Where a case that was made small lacks what its judge
    wants to see of a provider that no longer fails there, the case is played as it was before. Never raises for what
    the provider does.
    """
    wanted = tries if tries is not None else (3 if file.verdict == "FLAKY" else 1)
    check = _all_checks().get(file.case.check)
    if check is None:
        return Replayed(file, Ending.CANNOT_REPLAY, reason=f"this kit has no check {file.case.check}")
    names = Names(prefix=settings.name_prefix)
    bench = Bench(settings, names=names, canaries=Canaries(f"cnry{names.salt[:8]}"), ledger=_ledger(settings, names))
    try:
        return _played(bench, check, file, wanted)
    except (Failed, StartFailed, ConnectionFailed, NoAnswer, ConnectionEnded) as error:
        return Replayed(file, Ending.CANNOT_REPLAY, reason=f"the provider could not be greeted: {error}")
    finally:
        bench.close()
        bench.ledger.close()


def _played(bench: Bench, check: Check, file: CaseFile, wanted: int) -> Replayed:
    provider = read_provider(bench.connection(), bench.fixture, 0.0)
    bench.provider = provider
    bench.watch.kinds = provider.kinds
    kind = find_kind(provider.kinds, file.case.type) if file.case.type is not None else None
    if file.case.type is not None and kind is None:
        return Replayed(file, Ending.CANNOT_REPLAY, reason=f"the provider has no type {file.case.type}")
    excused = excuse(bench, check, kind)
    if excused is not None:
        return Replayed(file, Ending.CANNOT_REPLAY, reason=excused[1])
    cases = [adopted(case, bench.canaries) for case in (file.case, file.original) if case is not None]
    told: str | None = None
    failed, seen = 0, None
    for _ in range(wanted):
        if file.check != file.case.check:
            bench.renew()  # what a monitor saw may belong to the start of the process
        made = attempt(bench, check, cases[0].fresh(bench.names), kind)
        if made.lacking and not made.of(file.check) and len(cases) > 1:
            made = attempt(bench, check, cases[1].fresh(bench.names), kind)
        problems = made.of(file.check)
        if made.kit_fault is not None:
            last = made.kit_fault.strip().rpartition("\n")[2]
            return Replayed(file, Ending.CANNOT_REPLAY, reason=f"the kit is at fault: {last}")
        told = told or made.not_tested or made.not_applicable
        if problems:
            failed += 1
            seen = seen or (tuple(problems), made.transcript)
    if seen is not None:
        return Replayed(file, Ending.STILL_FAILS, seen[0], "", seen[1], failed, wanted)
    if told is not None and file.check == file.case.check:
        return Replayed(file, Ending.CANNOT_REPLAY, reason=told, tries=wanted)
    return Replayed(file, Ending.FIXED, tries=wanted)


def _all_checks() -> Mapping[str, Check]:
    from extensor_conformance.fuzz import FUZZ, Sequences
    from extensor_conformance.walk import WALK, Walk

    return {**load_checks(), WALK: Walk(), FUZZ: Sequences()}


def _ledger(settings: Settings, names: Names) -> Ledger:
    if settings.folder is None:
        return Ledger(None)
    return Ledger(settings.folder / f"ledger-replay-{names.salt[:6]}.jsonl", settings.start)


def subject_of(file: CaseFile) -> Subject | None:
    """The provider that a case failed on, as the file tells it; ``None`` when it does not."""
    start = file.data.get("start")
    if not isinstance(start, dict) or not (start.get("command") or start.get("address")):
        return None
    cwd = start.get("cwd")
    return Subject(tuple(start.get("command") or ()), start.get("address"), Path(cwd) if cwd else None)


def fixture_of(file: CaseFile) -> Path | None:
    """The author's file that the run was given."""
    start = file.data.get("start")
    source = start.get("fixture") if isinstance(start, dict) else None
    return Path(source) if source else None
