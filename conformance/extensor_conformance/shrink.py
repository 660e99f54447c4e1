"""Making a failing case small: steps first, then properties, then values.

A case stays what it was: each body that was valid stays valid, and each that had faults keeps the same ones; what the
judge expects by path is not touched; and the problem must be the same one, at the same step and place.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
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
from extensor_conformance.steps import Answered, Call, Drop, Parallel, Step, step_to_json
from extensor_conformance.verdicts import Problem

Fails: TypeAlias = Callable[[Case], list[Problem]]
Sign: TypeAlias = tuple[str | None, str | None]
Size: TypeAlias = tuple[int, int, str]


def shrink(case: Case, fails: Fails, *, seconds: float, kind: Kind | None = None) -> Case:
    """The smallest case found within that time for which `fails` still gives a problem of the first ones' kind.

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

    def run(self) -> Case:
        if self._over():
            return self._best
        self._signs = frozenset(map(_sign, self._fails(self._best)))
        changed = bool(self._signs)
        while changed and not self._over():
            changed = self._steps()
            changed = self._properties() or changed
            changed = self._values() or changed
        return self._pruned()

    def _over(self) -> bool:
        return time.monotonic() >= self._deadline

    def _keeps(self, steps: tuple[Step, ...]) -> bool:
        """Whether the case with these steps is smaller and still fails; it is the best one then."""
        if not steps or self._over():
            return False
        candidate = self._best.with_plan(replace(self._best.plan, steps=steps))
        measured = size(candidate)
        if measured >= self._size or measured[2] in self._tried:
            return False
        self._tried.add(measured[2])
        if self._signs.isdisjoint(map(_sign, self._fails(candidate))):
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
                if self._keeps(_without_dependants((*steps[:at], *steps[at + length :]))):
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
            if self._edit(path, lambda body, path=path: without_value(body, path)):
                changed = True
        return changed

    def _values(self) -> bool:
        """Put simpler values in place of others."""
        changed = False
        for path in self._places(lambda value: not is_marker(value)):
            for value in list(self._values_at(path)):
                for simpler in _simpler_values(value, self._best.names):
                    if self._edit(path, lambda body, new=simpler, path=path: with_value(body, path, new), value):
                        changed = True
                        break
        return changed

    def _places(self, wanted: Callable[[Json], bool]) -> list[Path]:
        found: dict[Path, None] = {}
        for body in _bodies(self._best.steps):
            for path, value in _walk(body, ()):
                if wanted(value) and not self._is_protected(path):
                    found[path] = None
        return sorted(found, key=lambda path: (len(path), [-step if isinstance(step, int) else 0 for step in path]))

    def _is_protected(self, path: Path) -> bool:
        return any(path == place[: len(path)] or place == path[: len(place)] for place in self._protected)

    def _values_at(self, path: Path) -> Iterator[Json]:
        seen: set[str] = set()
        for body in _bodies(self._best.steps):
            for place, value in _walk(body, ()):
                if place == path and json.dumps(value) not in seen:
                    seen.add(json.dumps(value))
                    yield value

    def _edit(self, path: Path, change: Callable[[JsonObject], Json], only: object = ...) -> bool:
        """Change all bodies that have the place (with that value there), else one after the other."""

        def has(body: JsonObject) -> bool:
            return any(place == path and (only is ... or value == only) for place, value in _walk(body, ()))

        holders = [index for index, body in enumerate(_bodies(self._best.steps)) if has(body)]
        groups = [holders, *([index] for index in holders if len(holders) > 1)]
        for group in groups:
            steps = self._with_bodies(frozenset(group), change)
            if steps is not None and self._keeps(steps):
                return True
        return False

    def _with_bodies(self, chosen: frozenset[int], change: Callable[[JsonObject], Json]) -> tuple[Step, ...] | None:
        """The steps with some bodies changed; ``None`` when one would change its faults."""
        count = -1
        spoilt = False

        def edited(call: Call) -> Call:
            nonlocal count, spoilt
            if not isinstance(call.properties, dict):
                return call
            count += 1
            if count not in chosen:
                return call
            new = change(call.properties)
            spoilt = spoilt or not isinstance(new, dict) or self._faults(call, new) != self._faults(call, None)
            return replace(call, properties=new)

        steps = tuple(_mapped(step, edited) for step in self._best.steps)
        return None if spoilt else steps

    def _faults(self, call: Call, body: JsonObject | None) -> frozenset[tuple[str, str | None]]:
        """What validation says of a call's body, or of another in its place."""
        kind = self._kind
        properties: Json = call.properties if body is None else body
        if kind is None or call.type is not None:
            return frozenset()
        try:
            found = validate(decode_unknowns(properties), kind.type, purpose=_PURPOSES[call.verb])
        except ContractViolation:
            return frozenset({("unreadable", None)})
        return frozenset((fault.code, _without_indexes(fault.path)) for fault in found)

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


def _sign(problem: Problem) -> Sign:
    """What makes two problems the same one, however the case was changed."""
    return problem.step, _without_indexes(problem.path)


def _without_indexes(path: str | None) -> str | None:
    return re.sub(r"\[\d+\]", "[*]", path) if path is not None else None


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


def _calls(step: Step) -> tuple[Call, ...]:
    match step:
        case Call():
            return (step,)
        case Parallel():
            return step.calls
        case Drop():
            return (step.call,)
        case _:
            return ()


def _bodies(steps: tuple[Step, ...]) -> list[JsonObject]:
    return [call.properties for step in steps for call in _calls(step) if isinstance(call.properties, dict)]


def _mapped(step: Step, change: Callable[[Call], Call]) -> Step:
    match step:
        case Call():
            return change(step)
        case Parallel():
            return replace(step, calls=tuple(change(call) for call in step.calls))
        case Drop():
            return replace(step, call=change(step.call))
        case _:
            return step


def _without_dependants(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps without those whose values come from the answer of a step that is not there."""
    known: set[str] = set()
    kept: list[Step] = []
    for step in steps:
        if all(name in known for name in _needs(step)):
            kept.append(step)
            known |= {step.name, *(call.name for call in _calls(step))}
    return tuple(kept)


def _needs(step: Step) -> Iterator[str]:
    for holder in (step, *_calls(step)):
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
