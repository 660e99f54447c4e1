"""One check on one type: its cases, and what is done with a failure before it is told."""

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from extensor.contract import Json, JsonObject, Verb
from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.answers import ConnectionEnded, NoAnswer, NotExpressible
from extensor_conformance.bench import Bench
from extensor_conformance.case import GENERATION, Case, NotPlayed, id_of, seed_of
from extensor_conformance.check import CaseCheck, Check, Procedure
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Finding
from extensor_conformance.passive import PassiveBook
from extensor_conformance.shrink import shrink
from extensor_conformance.signs import same_failure, signs_of
from extensor_conformance.steps import Plan
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Evidence, Failed, NotApplicable, NotTested, Outcome, Problem, Verdict

BATCH = 20
"""Examples that are drawn at once; part of what makes the same seed give the same cases."""


@dataclass(slots=True)
class Attempt:
    """What came of playing a case once."""

    check: str
    """The id of the case's own check."""
    problems: list[Problem] = field(default_factory=list[Problem])
    """Of the case's own check."""
    findings: list[Finding] = field(default_factory=list[Finding])
    """Of the monitors, under their check ids."""
    not_tested: str | None = None
    lacking: bool = False
    """It was not tested for want of a step: a case that was made small holds what shows the failure alone."""
    not_applicable: str | None = None
    kit_fault: str | None = None
    transcript: tuple[Entry, ...] = ()
    facts: JsonObject = field(default_factory=dict[str, Json])
    """What was measured."""
    silent: bool = False
    """A call was not answered within its bound."""
    probed: bool = False

    def of(self, check: str) -> list[Problem]:
        """The problems under a check id, those of the monitors included."""
        seen = [item.problem for item in self.findings if item.check == check]
        problems = [*self.problems, *seen] if check == self.check else seen
        return list({problem.key: problem for problem in problems}.values())


def attempt(bench: Bench, check: Check, case: Case, kind: Kind | None) -> Attempt:
    """Play a case once and judge it; never raises for what the provider does."""
    made = Attempt(check.id)
    bench.begin(case, kind)
    try:
        _play_and_judge(bench, check, case, kind, made)
    except Failed as failed:
        made.problems = list(failed.problems)
    except NoAnswer as error:
        bench.suspect()
        made.silent = True
        made.problems = [Problem(str(error))]
    except (ConnectionEnded, StartFailed, ConnectionFailed) as error:
        bench.suspect()
        made.problems = [Problem(str(error))]
    except NotTested as reason:
        made.not_tested = str(reason)
        made.lacking = isinstance(reason, NotPlayed)
    except NotApplicable as reason:
        made.not_applicable = str(reason)
    except NotExpressible as reason:
        made.not_applicable = f"the wire {bench.adapter.name} has no form for {reason}"
    except Exception:  # noqa: BLE001, RUF100 - whatever else a check lets out is the kit's fault and is told as such
        made.kit_fault = traceback.format_exc()
    made.facts = made.facts or dict(bench.facts)
    made.probed = bench.probed
    transcript = bench.watch.transcript
    if made.problems:
        made.transcript = transcript.entries(bench.watch.secrets)
    try:
        bench.end(solo=check.needs.solo, failed=bool(made.problems))
    except Exception:  # noqa: BLE001, RUF100
        made.kit_fault = made.kit_fault or traceback.format_exc()
    made.findings = bench.watch.take()
    if made.findings and not made.transcript:
        made.transcript = transcript.entries(bench.watch.secrets)
    return made


def _play_and_judge(bench: Bench, check: Check, case: Case, kind: Kind | None, made: Attempt) -> None:
    if isinstance(check, Procedure):
        made.problems = list(check.execute(bench))
    elif isinstance(check, CaseCheck):
        assert kind is not None
        trial = bench.play(case)
        made.silent = trial.silent
        try:
            made.problems = list(check.judge(trial, kind))
        except NotTested:
            broken = trial.broken()
            if not broken:
                raise
            made.problems = [Problem(why, step=step) for step, why in broken]
        made.facts = dict(trial.facts)


def excuse(bench: Bench, check: Check, kind: Kind | None) -> tuple[Verdict, str] | None:
    """Why a check cannot run here, or ``None``."""
    needs, settings = check.needs, bench.settings
    missing = needs.features - bench.features
    if missing:
        words = " and no ".join(sorted(str(item) for item in missing))
        return Verdict.NOT_APPLICABLE, f"the wire {bench.adapter.name} has no {words}"
    if needs.config and (bench.provider is None or bench.provider.config_type is None):
        return Verdict.NOT_APPLICABLE, "the provider takes no configuration"
    if kind is not None and not kind.has(*needs.operations):
        lacking = ", ".join(sorted(verb.wire for verb in needs.operations - kind.operations))
        return Verdict.NOT_APPLICABLE, f"the type has no {lacking}"
    if needs.process and not settings.subject.owned:
        return Verdict.NOT_TESTED, "the kit did not start the provider's process"
    if needs.kill and not settings.allow_kill:
        return Verdict.NOT_TESTED, "the kit may not kill the provider: --allow-kill"
    if needs.probe and not bench.has_probe:
        return Verdict.NOT_TESTED, "no probe was given: --probe CMD"
    for fault in needs.faults:
        if not bench.faults.offers(fault):
            return Verdict.NOT_TESTED, f"no fault of kind {fault} is on offer: --faults hook, or [faults.triggers]"
    if settings.read_only and Verb.SAVE in needs.operations:
        return Verdict.NOT_TESTED, "it saves, and the run is read-only"
    return None


def cases_of(bench: Bench, check: Check, kind: Kind | None) -> Iterator[Case]:
    """The cases of a check on a type, the same for the same seed whatever else is run."""
    base = seed_of(bench.settings.seed, check.id, kind.name if kind else "", GENERATION)
    if isinstance(check, Procedure):
        yield Case(id_of(base, 0), check.id, kind.name if kind else None, 0, base)
        return
    if not isinstance(check, CaseCheck) or kind is None:
        return
    wanted = bench.settings.max_examples
    if check.examples is not None:
        wanted = min(wanted, check.examples)
    index = 0
    for start in range(0, wanted, BATCH):
        seed = seed_of(base, start)
        bench.names.taken()

        def planned(draw: Draw) -> tuple[list[Plan], tuple[str, ...]]:
            return list(check.plan(draw, kind)), bench.names.taken()

        count = min(BATCH, wanted - start)
        for plans, names in collect(planned, seed=seed, count=count, names=bench.names, canaries=bench.canaries):
            for one in plans:
                yield Case(id_of(base, index), check.id, kind.name, index, seed_of(base, index), one, names)
                index += 1


class Judge:
    """Runs one check on one type to its outcome, and gathers what the monitors saw on the way."""

    def __init__(self, bench: Bench, passive: PassiveBook, stop: "StopSign") -> None:
        self._bench = bench
        self._passive = passive
        self._stop = stop

    def run(self, check: Check, kind: Kind | None, known: Sequence[Case] = ()) -> Outcome:
        """The outcome. `known` are cases that failed in an earlier run; they are played first."""
        started = time.monotonic()
        type_ = kind.name if kind is not None else None
        excused = excuse(self._bench, check, kind)
        if excused is not None:
            return Outcome(check.id, type_, excused[0], reason=excused[1])
        try:
            outcome = self._cases(check, kind, known)
        except NotTested as reason:
            outcome = Outcome(check.id, type_, Verdict.NOT_TESTED, reason=str(reason))
        except NotApplicable as reason:
            outcome = Outcome(check.id, type_, Verdict.NOT_APPLICABLE, reason=str(reason))
        except Exception:  # noqa: BLE001, RUF100 - what a plan lets out is the kit's fault
            outcome = Outcome(check.id, type_, Verdict.ERROR, reason=traceback.format_exc())
        return replace(outcome, seconds=time.monotonic() - started)

    def _cases(self, check: Check, kind: Kind | None, known: Sequence[Case]) -> Outcome:
        type_ = kind.name if kind is not None else None
        tally = _Tally()
        for case in (*known, *cases_of(self._bench, check, kind)):
            if self._stop.reason is not None or self._bench.left() <= 0:
                reason = self._stop.reason or f"the run's budget of {self._bench.settings.budget:g} s was over"
                if not tally.played:
                    return Outcome(check.id, type_, Verdict.NOT_TESTED, reason=reason)
                break
            made = attempt(self._bench, check, case, kind)
            tally.add(made)
            self._look_at_findings(check, case, kind, made)
            if made.kit_fault is not None:
                return Outcome(check.id, type_, Verdict.ERROR, case=case, reason=made.kit_fault, cases=tally.played)
            if made.problems:
                outcome = self._confirm(check, check.id, case, kind, made)
                facts = {**outcome.facts, "silent": True} if made.silent else outcome.facts
                return replace(outcome, cases=tally.played, facts=facts)
        return self._quiet(check, type_, tally)

    def _quiet(self, check: Check, type_: str | None, tally: "_Tally") -> Outcome:
        """The outcome when no case had a problem."""
        if not tally.played:
            return Outcome(check.id, type_, Verdict.NOT_APPLICABLE, reason="there is nothing in the type to try it on")
        played, reasons = tally.played, tally.inconclusive
        if len(reasons) == played:
            told = next((item.not_tested for item in reasons if item.not_tested is not None), None)
            if told is not None:
                return Outcome(check.id, type_, Verdict.NOT_TESTED, reason=told, cases=played)
            return Outcome(check.id, type_, Verdict.NOT_APPLICABLE, reason=reasons[0].not_applicable, cases=played)
        facts: JsonObject = dict(tally.facts)
        if reasons:
            facts["inconclusive"] = len(reasons)
        problems = check.conclude(played, tally.facts) if isinstance(check, CaseCheck) else []
        verdict = Verdict.FAIL if problems else Verdict.PASS
        evidence = Evidence.PROBED if tally.probed else self._evidence(check)
        return Outcome(check.id, type_, verdict, tuple(problems), evidence=evidence, cases=played, facts=facts)

    def _evidence(self, check: Check) -> Evidence:
        needs = check.needs
        probed = needs.probe or needs.faults or needs.kill
        return Evidence.PROBED if probed else Evidence.SELF_REPORTED

    def _confirm(self, check: Check, wanted: str, case: Case, kind: Kind | None, first: Attempt) -> Outcome:
        """Rerun a failure on fresh names, and shrink it when it comes each time.

        What a monitor saw may belong to the start of the process: a rerun that does not show it is repeated with a new
        process, and so are all that follow.
        """
        bench = self._bench
        reruns = _Reruns(bench, check, wanted, kind)
        problems, transcript = first.of(wanted), first.transcript
        told = list(problems)
        failed, tries = 1, 1
        for _ in range(bench.settings.retries):
            if self._stop.reason is not None or bench.left() <= 0:
                break
            tries += 1
            again = reruns.play(case).of(wanted)
            told += again
            failed += bool(again)
        verdict = Verdict.FAIL if failed == tries else Verdict.FLAKY
        small = self._shrunk(reruns, case) if verdict is Verdict.FAIL else case
        if small is not case:
            last = reruns.play(small)
            seen = last.of(wanted)
            if same_failure(seen, signs_of(told)):
                problems, transcript = seen, last.transcript
            else:
                small = case
        return Outcome(
            wanted,
            kind.name if kind is not None else None,
            verdict,
            tuple(problems),
            small,
            case if small is not case else None,
            transcript,
            evidence=self._evidence(check),
            tries=(failed, tries),
        )

    def _shrunk(self, reruns: "_Reruns", case: Case) -> Case:
        bench = self._bench
        if not bench.settings.shrink or case.procedural:
            return case

        def fails(candidate: Case) -> list[Problem]:
            return [] if self._stop.reason is not None else reruns.play(candidate).of(reruns.wanted)

        seconds = min(bench.settings.shrink_budget, max(0.0, bench.left()))
        return shrink(case, fails, seconds=seconds, kind=reruns.kind)

    def _look_at_findings(self, check: Check, case: Case, kind: Kind | None, made: Attempt) -> None:
        """Failures that the monitors saw during the case, each confirmed once for a check and type."""
        for wanted in dict.fromkeys(item.check for item in made.findings):
            found = [item for item in made.findings if item.check == wanted]
            types = dict.fromkeys(item.type for item in found)
            for type_ in types:
                problems = [item.problem for item in found if item.type == type_]
                if self._passive.begin(wanted, type_, problems):
                    outcome = self._confirm(check, wanted, case, kind, made)
                    self._passive.put(wanted, type_, outcome)


class _Reruns:
    """Plays a case again on fresh names, on new processes once one was needed to see the failure."""

    def __init__(self, bench: Bench, check: Check, wanted: str, kind: Kind | None) -> None:
        self.wanted = wanted
        self.kind = kind
        self._bench = bench
        self._check = check
        self._renew = False

    def play(self, case: Case) -> Attempt:
        """Once; twice when only a new process shows what a monitor saw."""
        made = self._once(case)
        if not self._renew and self.wanted != self._check.id and not made.of(self.wanted):
            self._renew = True
            again = self._once(case)
            self._renew = bool(again.of(self.wanted))
            return again
        return made

    def _once(self, case: Case) -> Attempt:
        if self._renew:
            self._bench.renew()
        return attempt(self._bench, self._check, case.fresh(self._bench.names), self.kind)


class _Tally:
    """What all cases of a check on a type came to."""

    def __init__(self) -> None:
        self.played = 0
        self.inconclusive: list[Attempt] = []
        self.facts: dict[str, float] = {}
        self.probed = False

    def add(self, made: Attempt) -> None:
        """One more; numbers are summed up."""
        self.played += 1
        self.probed = self.probed or made.probed
        for name, value in made.facts.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self.facts[name] = self.facts.get(name, 0.0) + value
        if not made.problems and (made.not_tested is not None or made.not_applicable is not None):
            self.inconclusive.append(made)


class StopSign:
    """Seen by all workers: why nothing new is begun."""

    def __init__(self) -> None:
        self.reason: str | None = None
