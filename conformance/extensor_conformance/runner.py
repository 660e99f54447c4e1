"""A whole run: start the provider, play every check on every type, judge, tidy up, report."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from extensor.contract import Json, JsonObject
from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.answers import ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries, Needles
from extensor_conformance.case import Case
from extensor_conformance.casefile import adopted, forget_case, known_cases, write_case
from extensor_conformance.catalogue import Requirement, chosen, load
from extensor_conformance.check import CaseCheck, Check, Passive, load_checks
from extensor_conformance.crew import INTERRUPTED, Crew
from extensor_conformance.events import (
    CheckEnded,
    CheckStarted,
    Event,
    OnEvent,
    Planned,
    ProviderReady,
    RunEnded,
    RunStarted,
    Warned,
)
from extensor_conformance.faults import proxied_address
from extensor_conformance.judging import Judge, StopSign, excuse
from extensor_conformance.kind import Kind, chosen_kinds
from extensor_conformance.ledger import Ledger
from extensor_conformance.levels import levels_of
from extensor_conformance.logbook import explained, told_once
from extensor_conformance.monitors import MONITORED, Finding
from extensor_conformance.monitors.pace import PaceMonitor, latency
from extensor_conformance.names import Names
from extensor_conformance.passive import PassiveBook, merged, passive_outcomes
from extensor_conformance.provider import Provider, read_provider, require_config
from extensor_conformance.report.masking import without_secrets
from extensor_conformance.report.model import Leftover, Report
from extensor_conformance.settings import Settings
from extensor_conformance.verdicts import Failed, Outcome, Problem, Severity, Verdict
from extensor_conformance.waivers import apply
from extensor_conformance.walk import WALK, Walk

SILENT_JOBS = 5
"""So many checks in a row that end without an answer mean that the provider no longer works."""


@dataclass(frozen=True, slots=True)
class Job:
    """A check on a type."""

    check: Check
    kind: Kind | None
    known: tuple[Case, ...] = ()


def kit_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("extensor")
    except PackageNotFoundError:
        return "0"


class Run:
    """``Run(settings).execute(on_event)`` gives a `Report`, whatever the provider does.

    Raises `ValueError` from the constructor for settings that mean nothing (unknown check ids, types or revision).
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.requirements = load(settings.requirements)
        proxied_address(settings.fixture.faults, settings.faults, settings.fixture.config)
        self._rows = chosen(self.requirements.values(), settings.checks, settings.exclude, settings.level)
        self._checks = load_checks()
        self._secrets = Needles(settings.fixture.secrets)
        self._stop = StopSign()
        self._lock = threading.Lock()
        self._outcomes: list[Outcome] = []
        self._watched: list[Outcome] = []
        self._silent = 0
        self._failures = 0
        self._on_event: OnEvent = lambda _: None
        self._warnings: list[str] = []

    def stop(self, reason: str) -> None:
        """Begin nothing new; `execute` returns its report soon. May be called from any thread or signal handler."""
        self._stop.reason = reason

    def execute(self, on_event: OnEvent | None = None) -> Report:
        """Run to the end. A `KeyboardInterrupt` in the calling thread ends it early, with a partial report."""
        if on_event is not None:
            self._on_event = on_event
        settings = self.settings
        started, clock = datetime.now(UTC), time.monotonic()
        deadline = clock + settings.budget
        names = Names(prefix=settings.name_prefix)
        canaries = Canaries(f"cnry{names.salt[:8]}")
        ledger = self._ledger(started, names)
        self._tell(RunStarted(self._facts()))

        def bench() -> Bench:
            own = Names(f"{names.salt}-{len(benches)}", names.prefix)
            return Bench(settings, names=own, canaries=canaries, ledger=ledger, deadline=deadline)

        benches: list[Bench] = []
        benches.append(bench())
        provider, failure = None, None
        try:
            provider = self._greet(benches[0])
            require_config(provider, settings.fixture)
            self._tell(ProviderReady({**provider.to_json(), "types": list(provider.kinds), "configKeys": self._keys()}))
            self._play(benches, bench, provider)
        except (Failed, StartFailed, ConnectionFailed, NoAnswer, ConnectionEnded) as error:
            failure = str(error)
            self._all_not_tested(failure, benches[0].watch.take())
        except KeyboardInterrupt:
            self.stop(INTERRUPTED)
        finally:
            leftovers = self._tidy(benches, ledger)
        return self._report(started, clock, provider, failure, benches, ledger, leftovers)

    # -- the parts of a run -------------------------------------------------------------------------------------------

    def _greet(self, bench: Bench) -> Provider:
        begun = time.monotonic()
        connection = bench.connection()
        seconds = time.monotonic() - begun
        provider = read_provider(connection, self.settings.fixture, seconds)
        kinds = chosen_kinds(provider.kinds, self.settings.types)
        if provider.kinds and not kinds:
            raise Failed(Problem(f"none of its types is among {', '.join(self.settings.types)}"))
        if provider.trouble is not None:
            self._warn(provider.trouble)
        return replace(provider, kinds=kinds)

    def _play(self, benches: list[Bench], another: Callable[[], Bench], provider: Provider) -> None:
        jobs = self._jobs(provider)
        passive = PassiveBook(frozenset(row.id for row in self._rows) & MONITORED)
        self._tell(Planned(tuple(row.id for row in self._rows), len(jobs)))
        while len(benches) < min(self.settings.workers, max(1, len(jobs))):
            benches.append(another())
        for one in benches:
            one.provider = provider
            one.watch.kinds = provider.kinds
        early = benches[0].watch.take()
        if early:
            benches[0].renew()  # so that the first case sees it too, and can be played again
        judges = {id(one): Judge(one, passive, self._stop) for one in benches}
        crew: Crew[Job] = Crew(lambda number, one, job: self._do(number, one, judges[id(one)], job), self._stop)
        crew.work_off(self._walks(provider), benches)
        crew.work_off([job for job in jobs if not job.check.needs.alone], benches)
        crew.work_off([job for job in jobs if job.check.needs.alone], benches[:1])
        for finding in early:
            if passive.begin(finding.check, finding.type, [finding.problem]):
                failed = Outcome(finding.check, finding.type, Verdict.FAIL, (finding.problem,))
                passive.put(finding.check, finding.type, failed)
        self._settle_watched(benches, provider, passive)

    def _settle_watched(self, benches: Sequence[Bench], provider: Provider, passive: PassiveBook) -> None:
        """The outcomes of the checks under whose ids monitors report, once all cases were seen."""
        seen = frozenset(item for one in benches for item in one.watch.relevant())
        for row in self._rows:
            check = self._check(row)
            failures = passive.failures(row.id)
            if isinstance(check, Passive):
                relevant = frozenset(type_ for id_, type_ in seen if id_ == row.id)
                excused = excuse(benches[0], check, None)
                reason = check.moot(provider)
                if failures or (excused is None and reason is None):
                    outcomes = passive_outcomes(row.id, failures, relevant)
                else:
                    verdict, why = excused or (Verdict.NOT_APPLICABLE, str(reason))
                    outcomes = [Outcome(row.id, None, verdict, reason=why)]
            else:
                outcomes = merged([outcome for outcome in self._watched if outcome.check == row.id], failures)
            for outcome in outcomes:
                self._settle(outcome, 0)

    def _jobs(self, provider: Provider) -> list[Job]:
        folder = self.settings.folder
        known = known_cases(folder / "cases") if folder is not None else []
        kinds = list(provider.kinds.values())
        jobs: list[Job] = []
        for row in self._rows:
            check = self._check(row)
            if check is None:
                self._settle(Outcome(row.id, None, Verdict.NOT_TESTED, reason="the kit has no check for it yet"), 0)
            elif isinstance(check, Passive):
                continue
            elif check.scope == "provider":
                jobs.append(Job(check, None, tuple(case for case in known if case.check == row.id)))
            elif not kinds:
                reason = provider.trouble or "the provider names no types"
                self._settle(Outcome(row.id, None, Verdict.NOT_TESTED, reason=reason), 0)
            else:
                jobs += [Job(check, kind, self._known(known, row.id, kind)) for kind in kinds]
        return sorted(jobs, key=lambda job: not job.known)

    def _walks(self, provider: Provider) -> list[Job]:
        """Played before all else, so that what monitors see in them is told with the same case in every run."""
        if self.settings.read_only or not any(row.id in MONITORED for row in self._rows):
            return []
        return [Job(Walk(), kind) for kind in provider.kinds.values()]

    def _known(self, known: Sequence[Case], id_: str, kind: Kind) -> tuple[Case, ...]:
        return tuple(case for case in known if case.check == id_ and case.type == kind.name and not case.procedural)

    def _check(self, row: Requirement) -> Check | None:
        return self._checks.get(row.id)

    def _do(self, number: int, bench: Bench, judge: Judge, job: Job) -> None:
        type_ = job.kind.name if job.kind is not None else None
        if job.check.id != WALK:
            self._tell(CheckStarted(job.check.id, type_, number))
        known = tuple(adopted(case, bench.canaries).fresh(bench.names) for case in job.known)
        outcome = judge.run(job.check, job.kind, known if isinstance(job.check, CaseCheck) else ())
        outcome = explained(outcome, bench.watch.log)
        self._count(outcome)
        if job.check.id == WALK:
            if outcome.verdict is Verdict.ERROR:
                bench.watch.kit_faults.append(str(outcome.reason))
            return
        self._forget(job, outcome)
        if outcome.check in MONITORED:
            with self._lock:
                self._watched.append(outcome)
        else:
            self._settle(outcome, number)

    def _settle(self, outcome: Outcome, worker: int) -> None:
        outcome = without_secrets(self._weighed(outcome), self._secrets)
        if outcome.case is not None and self.settings.folder is not None and outcome.verdict is not Verdict.ERROR:
            facts: JsonObject = {
                **self._facts(),
                "fixture": self.settings.fixture.digest,
                "configKeys": self._keys(),
                "start": self.settings.start,
            }
            write_case(self.settings.folder / "cases", outcome, facts)
        with self._lock:
            self._outcomes.append(outcome)
        self._tell(CheckEnded(outcome, worker))

    def _weighed(self, outcome: Outcome) -> Outcome:
        """FAIL becomes WARN where the rule, or each problem, says "should"."""
        row = self.requirements.get(outcome.check)
        if row is None or outcome.verdict is not Verdict.FAIL or self.settings.strict:
            return outcome
        weights = {problem.severity or row.severity for problem in outcome.problems} or {row.severity}
        if Severity.MUST in weights:
            return outcome
        if weights == {Severity.INFORMATION}:
            return outcome.with_verdict(Verdict.PASS)
        return outcome.with_verdict(Verdict.WARN)

    def _forget(self, job: Job, outcome: Outcome) -> None:
        folder = self.settings.folder
        if folder is not None and outcome.verdict is Verdict.PASS:
            for case in job.known:
                forget_case(folder / "cases", case.id)

    def _count(self, outcome: Outcome) -> None:
        """Stop when the provider has fallen silent, or enough has failed."""
        with self._lock:
            silent = outcome.facts.get("silent") is True
            self._silent = self._silent + 1 if silent else 0
            self._failures += outcome.verdict is Verdict.FAIL
            limit = self.settings.max_failures
            if self._stop.reason is None and self._silent >= SILENT_JOBS:
                self._stop.reason = f"the provider did not answer in {SILENT_JOBS} checks in a row"
            elif self._stop.reason is None and limit is not None and self._failures >= limit:
                self._stop.reason = f"{limit} checks have failed, as many as were allowed"

    def _all_not_tested(self, reason: str, findings: Sequence[Finding]) -> None:
        """The provider could not be greeted; what the monitors saw until then still counts."""
        for row in self._rows:
            seen = {item.problem.key: item.problem for item in findings if item.check == row.id}
            if row.id == "PROTO-01":
                self._settle(Outcome(row.id, None, Verdict.FAIL, (Problem(reason),)), 0)
            elif seen:
                self._settle(Outcome(row.id, None, Verdict.FAIL, tuple(seen.values())), 0)
            else:
                self._settle(Outcome(row.id, None, Verdict.NOT_TESTED, reason="the provider could not be greeted"), 0)

    def _tidy(self, benches: Sequence[Bench], ledger: Ledger) -> list[Leftover]:
        found: dict[str, Leftover] = {}
        for bench in benches:
            for made, reason in bench.last_sweep():
                if made.certain:
                    found[made.key] = Leftover(made.type, made.identifiers, reason)
            bench.close()
        leftovers = list(found.values())
        for leftover in leftovers:
            self._warn(f"{leftover.type} {leftover.identifiers} could not be removed: {leftover.reason}")
        kept = len(ledger.left()) - len(leftovers)
        if kept > 0 and self.settings.keep_resources != "never":
            self._warn(f"{kept} resources were kept, as asked; the ledger names them: {ledger.path}")
        ledger.close()
        return leftovers

    def _report(
        self,
        started: datetime,
        clock: float,
        provider: Provider | None,
        failure: str | None,
        benches: Sequence[Bench],
        ledger: Ledger,
        leftovers: Sequence[Leftover],
    ) -> Report:
        settings = self.settings
        order = {row.id: index for index, row in enumerate(self.requirements.values())}
        waivers = (*settings.fixture.waivers, *settings.waivers)
        outcomes, stale, expired = apply(self._outcomes, waivers)
        outcomes.sort(key=lambda outcome: (order.get(outcome.check, 999), outcome.type or ""))
        outcomes = told_once(outcomes)
        faults = tuple(fault for bench in benches for fault in bench.watch.kit_faults)
        report = Report(
            kit=kit_version(),
            requirements=settings.requirements,
            seed=settings.seed,
            started=started.isoformat(timespec="seconds"),
            seconds=time.monotonic() - clock,
            subject={"title": settings.subject.title, "wire": settings.subject.wire},
            provider=provider.to_json() if provider else {},
            types=tuple(provider.kinds) if provider else (),
            config_keys=tuple(self._keys()),
            settings={"maxExamples": settings.max_examples, "workers": settings.workers, "strict": settings.strict},
            outcomes=tuple(outcomes),
            levels=levels_of(outcomes, self.requirements),
            created=ledger.created,
            removed=ledger.removed,
            unverified=dict(ledger.unverified),
            leftovers=tuple(leftovers),
            start_failure=failure,
            interrupted=self._stop.reason == INTERRUPTED,
            stale_waivers=tuple(f"{item.check}: {item.reason}" for item in stale),
            expired_waivers=tuple(f"{item.check}: {item.reason}" for item in expired),
            warnings=tuple(self._warnings),
            latency=latency([pace for bench in benches if (pace := bench.watch.monitor(PaceMonitor)) is not None]),
            kit_faults=faults,
            ledger=str(ledger.path) if ledger.path is not None and ledger.path.exists() else None,
        )
        self._tell(
            RunEnded(
                {
                    "counts": report.counts,
                    "level": report.level,
                    "seconds": round(report.seconds, 3),
                    "interrupted": report.interrupted,
                }
            )
        )
        return report

    # -- small things -------------------------------------------------------------------------------------------------

    def _ledger(self, started: datetime, names: Names) -> Ledger:
        folder = self.settings.folder
        if folder is None or self.settings.read_only:
            return Ledger(None)
        return Ledger(folder / f"ledger-{started:%Y%m%dT%H%M%S}-{names.salt[:6]}.jsonl", self.settings.start)

    def _facts(self) -> JsonObject:
        settings = self.settings
        return {
            "kit": kit_version(),
            "requirements": settings.requirements,
            "seed": settings.seed,
            "workers": settings.workers,
            "subject": settings.subject.title,
            "wire": settings.subject.wire,
        }

    def _keys(self) -> list[Json]:
        return sorted(self.settings.fixture.config)

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._tell(Warned(message))

    def _tell(self, event: Event) -> None:
        with self._lock:
            self._on_event(event)
