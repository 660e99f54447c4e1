"""Making a failing case small: steps first, then properties, then values.

A case stays what it was: each body that was valid stays valid, and each that had faults keeps the same ones; bodies
that were equal somewhere are changed there together (`Ties`); what the judge expects by path is not touched, nor are
pauses and restarts between steps; and the problem must be the same one, at the same step and place (`same_failure`).
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from extensor.contract import ContractViolation, Json, JsonObject, Verb, decode_unknowns, parse_path
from extensor.contract.paths import Path
from extensor.types.validate import Purpose, validate
from extensor_conformance.canary import CANARY
from extensor_conformance.case import Case
from extensor_conformance.compare import is_marker
from extensor_conformance.kind import Kind
from extensor_conformance.places import with_value, without_value
from extensor_conformance.signs import Sign, same_failure, signs_of, without_indexes
from extensor_conformance.steps import Answered, Call, Drop, Parallel, Restart, Step, Wait, step_to_json
from extensor_conformance.ties import Key, Part, Ties, calls_of, parts_of, with_parts
from extensor_conformance.verdicts import Problem

Fails: TypeAlias = Callable[[Case], list[Problem]]
Size: TypeAlias = tuple[int, int, str]


def shrink(case: Case, fails: Fails, *, seconds: float, kind: Kind | None = None) -> Case:
    """The smallest case found within that time for which `fails` still gives some of the first problems and no others.

    `fails` plays a case on fresh names and gives the problems of the check that failed; empty when it passes, or when
    its steps no longer mean anything. A procedural case is returned as it is. With `kind`, bodies keep their faults.
    """
    if case.procedural:
        return case
    return _Shrinker(case, fails, time.monotonic() + seconds, kind).run()


def size(case: Case) -> Size:
    """What shrinking makes smaller: the number of steps, then the length of their text, then the text."""
    steps = json.dumps([step_to_json(step) for step in case.steps], sort_keys=True)
    return sum(len(step.calls) if isinstance(step, Parallel) else 1 for step in case.steps), len(steps), steps


class _Shrinker:
    def __init__(self, case: Case, fails: Fails, deadline: float, kind: Kind | None) -> None:
        self._first = self._best = case
        self._size = size(case)
        self._fails = fails
        self._deadline = deadline
        self._kind = kind
        self._tried: set[str] = {self._size[2]}
        self._signs: frozenset[Sign] = frozenset()
        self._protected = tuple(_paths_in(case.plan.expect))
        self._ties = Ties(case, kind)

    def run(self) -> Case:
        if self._over():
            return self._best
        self._signs = signs_of(self._fails(self._best))
        changed = bool(self._signs)
        while changed and not self._over():
            changed = self._steps()
            changed = self._properties() or changed
            changed = self._values() or changed
        return self._pruned()

    def _over(self) -> bool:
        return time.monotonic() >= self._deadline

    def _keeps(self, steps: tuple[Step, ...]) -> bool:
        """Whether the case with these steps is smaller, means the same and fails alike; it is the best one then."""
        if not steps or self._over():
            return False
        candidate = self._best.with_plan(replace(self._best.plan, steps=steps))
        measured = size(candidate)
        if measured >= self._size or measured[2] in self._tried:
            return False
        self._tried.add(measured[2])
        if not self._ties.hold(steps) or not same_failure(self._fails(candidate), self._signs):
            return False
        self._best, self._size = candidate, measured
        return True

    # -- steps --------------------------------------------------------------------------------------------------------

    def _steps(self) -> bool:
        """Drop runs of steps, long ones first, each with the steps that need its answers."""
        changed = False
        length = max(1, len(self._best.steps) // 2)
        while length and not self._over():
            at = 0
            while at < len(self._best.steps):
                steps = self._best.steps
                left = (step for index, step in enumerate(steps) if index not in range(at, at + length) or _sets(step))
                if self._keeps(_tidied(_without_dependants(left))):
                    changed = True
                else:
                    at += 1
            length //= 2
        return self._simpler_steps() or changed

    def _simpler_steps(self) -> bool:
        changed = False
        at = 0
        while at < len(self._best.steps):
            for simpler in _simpler(self._best.steps[at]):
                steps = self._best.steps
                if self._keeps((*steps[:at], *simpler, *steps[at + 1 :])):
                    changed = True
                    break
            else:
                at += 1
        return changed

    # -- properties and values ----------------------------------------------------------------------------------------

    def _properties(self) -> bool:
        """Leave out members of bodies, everywhere at once where several steps have them, outer ones first."""
        changed = False
        for path in self._places(lambda value: True):
            holders = self._holders(path)
            every = [part for group in holders.values() for part in group]
            for group in (every, *(holders.values() if len(holders) > 1 else ())):
                if self._edit(group, lambda body, path=path: without_value(body, path)):
                    changed = True
                    break
        return changed

    def _values(self) -> bool:
        """Put simpler values in place of others, wherever these stand at the same place."""
        changed = False
        for path in self._places(lambda value: not is_marker(value)):
            for text in list(self._holders(path)):
                value: Json = json.loads(text)
                if self._is_related(value, path):
                    continue
                for simpler in _simpler_values(value, self._best.names):
                    group = self._holders(path).get(text, [])
                    if self._edit(group, lambda body, new=simpler, path=path: with_value(body, path, new)):
                        changed = True
                        break
        return changed

    def _places(self, wanted: Callable[[Json], bool]) -> list[Path]:
        found: dict[Path, None] = {}
        for part in parts_of(self._best.steps):
            for path, value in _walk(part.body, ()):
                if wanted(value) and not self._is_protected(path):
                    found[path] = None
        return sorted(found, key=lambda path: (len(path), [-step if isinstance(step, int) else 0 for step in path]))

    def _is_protected(self, path: Path) -> bool:
        return any(path == place[: len(path)] or place == path[: len(place)] for place in self._protected)

    def _is_related(self, value: Json, path: Path) -> bool:
        """Whether another value at the same place is a name that was made from the same token."""
        if not isinstance(value, str):
            return False
        tokens = [name.lower() for name in self._best.names if name.lower() in value.lower()]
        others = [json.loads(text) for text in self._holders(path) if json.loads(text) != value]
        return any(isinstance(other, str) and token in other.lower() for token in tokens for other in others)

    def _holders(self, path: Path) -> dict[str, list[Part]]:
        """The bodies that have something at a place, by what they have there, as JSON."""
        found: dict[str, list[Part]] = {}
        for part in parts_of(self._best.steps):
            for place, value in _walk(part.body, ()):
                if place == path:
                    found.setdefault(json.dumps(value), []).append(part)
        return found

    def _edit(self, group: Iterable[Part], change: Callable[[JsonObject], Json]) -> bool:
        """Change these bodies, unless one would change its faults."""
        new: dict[Key, Json] = {}
        for part in group:
            body = change(part.body)
            if not isinstance(body, dict) or self._faults(part, body) != self._faults(part, part.body):
                return False
            new[part.key] = body
        return bool(new) and self._keeps(tuple(with_parts(step, new) for step in self._best.steps))

    def _faults(self, part: Part, body: JsonObject) -> frozenset[tuple[str, str | None]]:
        """What validation says of a body in place of a part's."""
        kind, call = self._kind, part.call
        if kind is None or call is None or call.type is not None:
            return frozenset()
        try:
            found = validate(decode_unknowns(body), kind.type, purpose=_PURPOSES[call.verb])
        except ContractViolation:
            return frozenset({("unreadable", None)})
        return frozenset((fault.code, without_indexes(fault.path)) for fault in found)

    # -- the end ------------------------------------------------------------------------------------------------------

    def _pruned(self) -> Case:
        """Without the tokens that no longer occur."""
        if self._best is self._first:
            return self._first
        text = json.dumps([self._size[2], self._best.plan.expect], ensure_ascii=False).lower()
        return replace(self._best, names=tuple(token for token in self._best.names if token.lower() in text))


_PURPOSES: dict[Verb, Purpose] = {
    Verb.SAVE: "save",
    Verb.PREVIEW_SAVE: "preview_save",
    Verb.GET: "get",
    Verb.DELETE: "delete",
}


def _paths_in(value: Json) -> Iterator[Path]:
    """The places below the properties that a judge's data names."""
    if isinstance(value, str) and value.startswith("$.properties"):
        try:
            path = parse_path(value)[1:]
        except ValueError:
            return
        if path:
            yield path
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _paths_in(item)


def _walk(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """All places below a body, markers as one value."""
    if isinstance(value, dict) and not is_marker(value):
        for key, item in value.items():
            yield (*path, key), item
            yield from _walk(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index), item
            yield from _walk(item, (*path, index))


def _sets(step: Step) -> bool:
    """Whether a step is a pause, or a restart that the judge takes for granted, and not one of many random moves."""
    return isinstance(step, Wait) or (isinstance(step, Restart) and not step.name)


def _tidied(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps without pauses and restarts that have nothing before or after them, one pause where several were."""
    made: list[Step] = []
    for step in steps:
        last = made[-1] if made else None
        if isinstance(step, Wait) and isinstance(last, Wait):
            made[-1] = max(step, last, key=lambda one: one.seconds)
        elif last is not None or not _sets(step):
            made.append(step)
    while made and _sets(made[-1]):
        made.pop()
    return tuple(made)


def _without_dependants(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps without those whose values come from the answer of a step that is not there."""
    known: set[str] = set()
    kept: list[Step] = []
    for step in steps:
        if all(name in known for name in _needs(step)):
            kept.append(step)
            known |= {step.name, *(call.name for call in calls_of(step))}
    return tuple(kept)


def _needs(step: Step) -> Iterator[str]:
    for holder in (step, *calls_of(step)):
        for name in type(holder).__dataclass_fields__:
            value = getattr(holder, name)
            if isinstance(value, Answered):
                yield value.step


def _simpler(step: Step) -> Iterator[tuple[Step, ...]]:
    """Steps that do less than a step."""
    match step:
        case Parallel(calls=calls):
            for index in range(len(calls)):
                left = (*calls[:index], *calls[index + 1 :])
                yield (replace(step, calls=left),) if len(left) > 1 else left
            if len(calls) == 1:
                yield calls
        case Drop():
            yield (step.call,)
        case Call():
            if step.context is not None:
                yield (replace(step, context=None),)
            if step.delay:
                yield (replace(step, delay=0.0),)
        case _:
            pass


def _simpler_values(value: Json, names: tuple[str, ...]) -> Iterator[Json]:
    """Simpler values of the same JSON kind, the simplest first. A name keeps its token, a secret its canary."""
    match value:
        case bool() | None:
            return
        case str():
            canary = CANARY.search(value)
            token = canary.group() if canary else next((name for name in names if name.lower() in value.lower()), "")
            start = value.lower().find(token.lower()) if token else 0
            yield value[start : start + len(token)]
            if not token:
                yield from ("a", value[: len(value) // 2], value[len(value) // 2 :], value[:-1], value[1:])
        case int():
            if str(value) not in names:
                yield from (0, 1, value // 2)
        case float():
            yield from (0, 1, int(value), round(value, 1))
        case list():
            yield []
            yield from ([item] for item in value if len(value) > 1)
            yield from (value[:index] + value[index + 1 :] for index in range(len(value)) if len(value) > 2)
        case dict():
            yield {}
        case _:
            return
