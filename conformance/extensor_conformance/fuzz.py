"""An endless search: long random lives of several objects at once, judged by what must hold whatever came before."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from extensor.contract import ErrorCode, Json, JsonObject, Verb, parse_path
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.case import GENERATION, Case, Trial, id_of, seed_of
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import differences
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.judging import Attempt, attempt
from extensor_conformance.kind import Kind, NoSuchKind, chosen_kinds
from extensor_conformance.ledger import Ledger
from extensor_conformance.names import Names
from extensor_conformance.provider import read_provider, require_config
from extensor_conformance.settings import Settings
from extensor_conformance.shrink import shrink
from extensor_conformance.signs import same_failure, signs_of
from extensor_conformance.steps import Call, Plan, Restart, Step, Wait
from extensor_conformance.verdicts import Failed, Outcome, Problem, Verdict

FUZZ = "FUZZ"
MOST_OBJECTS = 3
MOST_STEPS = 24


@check(FUZZ)
class Sequences(CaseCheck):
    """Saves, changes, previews, gets and deletes of a few objects in any order, with restarts between."""

    restarts = False
    """Whether the process may be ended between steps; set by the search when the kit started it."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        bodies = [kind.valid(draw, full=draw.boolean()) for _ in range(draw.integer(1, MOST_OBJECTS))]
        steps: list[Step] = []
        for number in range(draw.integer(2, MOST_STEPS)):
            index = draw.integer(0, len(bodies) - 1)
            match draw.integer(0, 11):
                case 0 | 1 | 2:
                    steps.append(Call(f"save {number}", Verb.SAVE, bodies[index]))
                case 3 | 4:
                    changed = kind.change(draw, bodies[index])
                    bodies[index] = changed.properties if changed is not None else bodies[index]
                    steps.append(Call(f"save {number}", Verb.SAVE, bodies[index]))
                case 5 | 6:
                    steps.append(Call(f"preview {number}", Verb.PREVIEW_SAVE, bodies[index]))
                case 7 | 8:
                    steps.append(Call(f"get {number}", Verb.GET, kind.identifiers(bodies[index])))
                case 9:
                    steps.append(Call(f"delete {number}", Verb.DELETE, kind.identifiers(bodies[index])))
                case 10 if self.restarts and not kind.fixture.ephemeral:
                    steps.append(Restart(name=f"restart {number}"))
                case _:
                    places = list(kind.placements(bodies[index]))
                    if places:
                        steps.append(Call(f"unknown {number}", Verb.PREVIEW_SAVE, draw.choice(places).properties))
        able = [step for step in steps if not isinstance(step, Call) or step.verb in kind.operations]
        if able:
            yield Plan(tuple(_patient(able, kind.fixture.consistency_window)))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        world = _World(kind)
        problems = [Problem(why, step=step) for step, why in trial.broken()]
        for name, seen in trial.seen.items():
            if isinstance(seen.step, Call) and seen.answer is not None and seen.sent is not None:
                problems += world.after(name, seen.step.verb, seen.sent, seen.answer)
        return problems


def _patient(steps: Iterable[Step], window: float) -> Iterator[Step]:
    """The steps with a pause after each change, for a backend that needs time."""
    for step in steps:
        yield step
        if window and isinstance(step, Call) and step.verb in (Verb.SAVE, Verb.DELETE):
            yield Wait(window)


class _World:
    """What is known of the objects: what the last save of each answered, ``None`` for one that is not there."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._known: dict[str, JsonObject | None] = {}
        self._preview: dict[str, tuple[JsonObject, Answer]] = {}

    def after(self, step: str, verb: Verb, sent: JsonObject, answer: Answer) -> Iterator[Problem]:
        """What the answer of one call contradicts."""
        key = repr(sorted(self._kind.identifiers(sent).items()))
        match verb:
            case Verb.SAVE:
                yield from self._saved(step, key, sent, answer)
            case Verb.PREVIEW_SAVE:
                if answer.ok and step.startswith("preview"):
                    self._preview[key] = (sent, answer)
            case Verb.GET:
                yield from self._got(step, key, answer)
            case Verb.DELETE:
                yield from self._deleted(step, key, answer)

    def _saved(self, step: str, key: str, sent: JsonObject, answer: Answer) -> Iterator[Problem]:
        promised = self._preview.pop(key, None)
        if not answer.ok:
            if not answer.codes or ErrorCode.INTERNAL_ERROR in answer.codes:
                yield Problem(f"a save fails: {answer.error}", step=step)
            self._known.pop(key, None)
            return
        if promised is not None and promised[0] == sent:
            message = "the preview promised other values than the save gave"
            yield from self._differ(message, step, promised[1].properties, answer.properties, _open(promised[1]))
        self._known[key] = answer.properties if isinstance(answer.properties, dict) else {}

    def _got(self, step: str, key: str, answer: Answer) -> Iterator[Problem]:
        if key not in self._known:
            return
        known = self._known[key]
        if known is None:
            if answer.ok:
                yield Problem("a deleted resource is still there", "$.properties", step)
            elif not answer.has_code(ErrorCode.RESOURCE_NOT_FOUND):
                yield Problem(f"the get of a deleted resource is no ResourceNotFound: {answer.error}", step=step)
        elif not answer.ok:
            yield Problem(f"a saved resource cannot be read: {answer.error}", step=step)
        else:
            yield from self._differ("get shows other values than were saved", step, known, answer.properties)

    def _deleted(self, step: str, key: str, answer: Answer) -> Iterator[Problem]:
        self._preview.pop(key, None)
        if answer.ok:
            self._known[key] = None
        else:
            self._known.pop(key, None)
            if answer.error is not None and not answer.error.transient:
                yield Problem(f"a delete fails: {answer.error}", step=step)

    def _differ(
        self, message: str, step: str, one: Json, other: Json, besides: tuple[Path, ...] = ()
    ) -> Iterator[Problem]:
        ignore = (*self._kind.ignored(), *besides)
        rows = differences(one, other, ignore=ignore, unordered=self._kind.fixture.unordered)
        if rows:
            yield Problem(message, rows[0].path, step, ("expected", "seen"), tuple(rows))


def _open(preview: Answer) -> tuple[Path, ...]:
    """Places of which a preview says that it does not know them."""
    listed = [path for name in ("calculated", "unknown") for path in (preview.metadata or {}).get(name, ())]
    return tuple(path[1:] for path in map(parse_path, listed) if path[:1] == ("properties",))


@dataclass(slots=True)
class Progress:
    """How far the search has come."""

    cases: int = 0
    calls: int = 0
    seconds: float = 0.0
    found: list[Outcome] = field(default_factory=list[Outcome])
    reason: str = ""
    """Why it ended."""


class Fuzz:
    """``Fuzz(settings).execute(on_outcome)`` searches until the time is over, `stop`, or the provider is gone.

    The case at a number is the same for the same seed, whatever came before it.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._reason = ""
        self._check = Sequences()
        self._seen: set[tuple[str, str | None, str | None]] = set()

    def stop(self, reason: str) -> None:
        """End the search after the case that is being played."""
        self._reason = reason

    def execute(
        self,
        on_outcome: Callable[[Outcome], None] | None = None,
        *,
        seconds: float | None = None,
        cases: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Progress:
        """Search, and hand over each failure that is not like an earlier one, made small.

        A `KeyboardInterrupt` ends it. Raises `NoSuchKind` when none of the types is asked for, and `Failed`,
        `StartFailed`, `ConnectionFailed`, `NoAnswer` or `ConnectionEnded` when the provider cannot be greeted at the
        start.
        """
        begun = time.monotonic()
        settings, done = self.settings, Progress()
        names = Names(prefix=settings.name_prefix)
        canaries = Canaries(f"cnry{names.salt[:8]}")
        folder = settings.folder
        ledger = Ledger(folder / f"ledger-fuzz-{names.salt[:6]}.jsonl" if folder else None, settings.start)
        deadline = begun + seconds if seconds is not None else float("inf")
        bench = Bench(settings, names=names, canaries=canaries, ledger=ledger, deadline=deadline)
        try:
            kinds = self._kinds(bench)
            for number, kind, case in self._cases(bench, kinds):
                if self._reason or bench.left() <= 0 or (cases is not None and number >= cases):
                    break
                made = attempt(bench, self._check, case, kind)
                done.cases, done.calls, done.seconds = number + 1, bench.calls, time.monotonic() - begun
                for outcome in self._outcomes(bench, case, kind, made):
                    done.found.append(outcome)
                    if on_outcome is not None:
                        on_outcome(outcome)
                if on_progress is not None:
                    on_progress(done)
        except KeyboardInterrupt:
            self._reason = "it was interrupted"
        finally:
            bench.last_sweep()
            bench.close()
            ledger.close()
        done.seconds = time.monotonic() - begun
        done.reason = self._reason or ("the time was over" if seconds is not None else "all cases were played")
        return done

    def _kinds(self, bench: Bench) -> list[Kind]:
        provider = read_provider(bench.connection(), bench.fixture, 0.0)
        require_config(provider, bench.fixture)
        bench.provider = provider
        bench.watch.kinds = provider.kinds
        self._check.restarts = bench.settings.subject.owned
        wanted = bench.settings.types
        chosen = chosen_kinds(provider.kinds, wanted)
        if provider.kinds and not chosen:
            raise NoSuchKind(f"none of its types is among {', '.join(wanted)}")
        kinds = [kind for kind in chosen.values() if kind.has(Verb.SAVE)]
        if not kinds:
            raise Failed(Problem(provider.trouble or "the provider has no type that can be saved"))
        return kinds

    def _cases(self, bench: Bench, kinds: list[Kind]) -> Iterator[tuple[int, Kind, Case]]:
        number = 0
        while True:
            kind = kinds[number % len(kinds)]
            seed = seed_of(self.settings.seed, FUZZ, kind.name, number, GENERATION)
            bench.names.taken()
            made = collect(
                lambda draw, kind=kind: list(self._check.plan(draw, kind)),
                seed=seed,
                count=1,
                names=bench.names,
                canaries=bench.canaries,
                plain=False,
            )
            names = bench.names.taken()
            for plan in made[0] if made else ():
                yield number, kind, Case(id_of(seed, 0), FUZZ, kind.name, number, seed, plan, names)
            number += 1

    def _outcomes(self, bench: Bench, case: Case, kind: Kind, first: Attempt) -> Iterator[Outcome]:
        """New failures of a case, of its own or seen by a monitor, confirmed and made small."""
        if first.kit_fault is not None:
            yield Outcome(FUZZ, kind.name, Verdict.ERROR, case=case, reason=first.kit_fault)
            return
        for wanted in dict.fromkeys((FUZZ, *(finding.check for finding in first.findings))):
            problems = first.of(wanted)
            signs = {(wanted, kind.name, problem.path) for problem in problems}
            if not problems or signs <= self._seen:
                continue
            self._seen |= signs
            yield self._confirmed(bench, wanted, case, kind, first)

    def _confirmed(self, bench: Bench, wanted: str, case: Case, kind: Kind, first: Attempt) -> Outcome:
        def fails(candidate: Case) -> list[Problem]:
            return attempt(bench, self._check, candidate.fresh(bench.names), kind).of(wanted)

        retries = bench.settings.retries
        failed = 1 + sum(bool(fails(case)) for _ in range(retries))
        outcome = Outcome(
            wanted,
            kind.name,
            Verdict.FAIL if failed == retries + 1 else Verdict.FLAKY,
            tuple(first.of(wanted)),
            case,
            None,
            first.transcript,
            tries=(failed, retries + 1),
        )
        if outcome.verdict is Verdict.FLAKY or not bench.settings.shrink:
            return outcome
        small = shrink(case, fails, seconds=bench.settings.shrink_budget, kind=kind)
        last = attempt(bench, self._check, small.fresh(bench.names), kind)
        if small is case or not same_failure(last.of(wanted), signs_of(first.of(wanted))):
            return outcome
        return replace(outcome, case=small, original=case, problems=tuple(last.of(wanted)), transcript=last.transcript)
