"""PRV-01, PRV-11: a preview changes nothing, and what it says about its own paths is sound."""

import re
from collections.abc import Iterable, Iterator

from extensor.contract import Json, JsonObject, Verb, format_path
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    Absent,
    apart,
    at,
    changed,
    place,
    properties_on,
    provider_names,
    read_only,
    read_path,
    window,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import differences
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import changes, listed, must_be_absent, problem
from extensor_conformance.steps import Answered, Call, Plan, ProbeStep, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem

REPEATS = 5
CLASSES = ("readOnly", "immutable", "calculated", "unknown")


@check("PRV-01", operations={Verb.PREVIEW_SAVE, Verb.SAVE, Verb.GET}, examples=3)
class NoEffect(CaseCheck):
    """The world is the same after previews of creates, updates and refused inputs."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        target, neighbour = kind.valid(draw), kind.valid(draw, full=True)
        wrong = next(iter(kind.mutations(draw, target)), None)
        if not provider_names(kind):
            yield self._of_create(kind, target, neighbour, wrong.properties if wrong else None)
        update = changed(draw, kind, neighbour)
        if update is not None:
            yield self._of_update(kind, neighbour, update, wrong.properties if wrong else None)
        yield self._numbers([kind.valid(draw) for _ in range(4)])
        named = kind.identifiers(target)
        yield Plan(
            (
                ProbeStep("world before", "exists", named),
                *_previews(target, REPEATS),
                ProbeStep("world", "exists", named),
            ),
            note="as the probe sees it",
        )

    def _of_create(self, kind: Kind, target: JsonObject, neighbour: JsonObject, wrong: JsonObject | None) -> Plan:
        looks = (Call("get neighbour 1", Verb.GET, kind.identifiers(neighbour)),)
        named = kind.identifiers(target)
        steps: list[Step] = [
            Call("save neighbour", Verb.SAVE, neighbour),
            *window(kind),
            Call("get absent 0", Verb.GET, named),
            *_previews(target, 1),
            Call("get absent 1", Verb.GET, named),
            *_previews(target, REPEATS - 1, 2),
        ]
        if wrong is not None:
            steps += [Call("refused", Verb.PREVIEW_SAVE, wrong)]
        return Plan((*steps, *window(kind), Call("get absent 2", Verb.GET, named), *looks), note="creates")

    def _of_update(self, kind: Kind, there: JsonObject, update: JsonObject, wrong: JsonObject | None) -> Plan:
        named = Answered("save neighbour", "$.identifiers")
        steps: list[Step] = [
            Call("save neighbour", Verb.SAVE, there),
            *window(kind),
            *_previews(update, 1),
            Call("get neighbour 1", Verb.GET, named),
            *_previews(update, REPEATS - 1, 2),
        ]
        if wrong is not None:
            steps += [Call("refused", Verb.PREVIEW_SAVE, {**wrong, **kind.identifiers(there)})]
        return Plan((*steps, *window(kind), Call("get neighbour 2", Verb.GET, named)), note="updates")

    def _numbers(self, bodies: list[JsonObject]) -> Plan:
        """Saves with none, one and five previews between them: a sequence that previews take from shows it."""
        steps: list[Step] = [Call("save 1", Verb.SAVE, bodies[0]), Call("save 2", Verb.SAVE, bodies[1])]
        steps += [*_previews(bodies[2], 1), Call("save 3", Verb.SAVE, bodies[2])]
        steps += [*_previews(bodies[3], REPEATS, 2), Call("save 4", Verb.SAVE, bodies[3])]
        return Plan(tuple(steps), note="numbers")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        if "world" in trial:
            return self._probed(trial)
        if not any(answer.ok for answer in trial.answers("preview")):
            raise NotTested("no preview gave a result")
        if "save 4" in trial:
            return list(_taken_numbers(trial, kind))
        if "get absent 0" in trial:
            must_be_there = trial["get absent 0"]
            if must_be_there.ok:
                raise NotTested("the object is there before it was made")
        for step in ("get absent 1", "get absent 2"):
            if step in trial:
                must_be_absent(trial[step], "a preview made the object", step)
        saved = trial.result("save neighbour").properties
        for step in ("get neighbour 1", "get neighbour 2"):
            if step in trial:
                rows = changes(saved, trial.result(step).properties, kind)
                if rows:
                    return problem("previews changed an object", rows, step, "before", "after")
        return []

    def _probed(self, trial: Trial) -> list[Problem]:
        before, after = trial["world before"].result, trial["world"].result
        if not isinstance(before, dict) or before.get("exists") is True:
            raise NotTested("the object is there before it was made")
        if isinstance(after, dict) and after.get("exists") is True:
            return [Problem("a preview made the object, as the probe sees it", "$.properties", "world")]
        return []


def _previews(body: JsonObject, count: int, start: int = 1) -> tuple[Call, ...]:
    return tuple(Call(f"preview {number}", Verb.PREVIEW_SAVE, body) for number in range(start, start + count))


_NUMBER = re.compile(r"\d+")


def _taken_numbers(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """Read-only numbers that grow by one step for each save, and by one more for each preview."""
    saved = [trial.result(f"save {number}").properties for number in range(1, 5)]
    for path in read_only(kind, saved[0]):
        found = [at(body, path) for body in saved]
        for column in zip(*(_numbers_in(value) for value in found), strict=False):
            one, two, three, four = column
            step = two - one
            if step > 0 and three - two == 2 * step and four - three == (REPEATS + 1) * step:
                row = DiffRow(place(path), tuple(str(number) for number in column))
                heads = ("save 1", "save 2", "after 1 preview", f"after {REPEATS} previews")
                message = "previews take numbers from the sequence that saves take theirs from"
                yield Problem(message, place(path), "save 4", heads, (row,))
                return


def _numbers_in(value: Json | Absent) -> list[int]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    return [int(word) for word in _NUMBER.findall(value)] if isinstance(value, str) else []


@check("PRV-11", operations={Verb.PREVIEW_SAVE})
class Metadata(CaseCheck):
    """The metadata's paths can be read, lead somewhere, stand in one class, fit the type; two previews are equal."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        bodies = [desired, *(one.properties for one in list(kind.placements(desired))[:3])]
        again = changed(draw, kind, desired)
        for number, body in enumerate(bodies):
            first = Call("preview 1", Verb.PREVIEW_SAVE, body)
            yield Plan((first, Call("preview 2", Verb.PREVIEW_SAVE, body)), note="unknown" if number else "create")
        if again is not None and kind.has(Verb.SAVE):
            pair = (Call("preview 1", Verb.PREVIEW_SAVE, again), Call("preview 2", Verb.PREVIEW_SAVE, again))
            yield Plan((Call("save", Verb.SAVE, desired), *window(kind), *pair), note="update")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        first = trial.result("preview 1")
        found = list(_unsound(first, kind))
        if not found and "preview 2" in trial:
            found = list(_unequal(first, trial.result("preview 2"), kind))
        return found[:1]


def _unsound(answer: Answer, kind: Kind) -> Iterator[Problem]:
    seen: dict[Path, str] = {}
    for name in CLASSES:
        paths = answer.metadata.get(name)
        for text in paths if isinstance(paths, list) else []:
            path = read_path(text)
            if path is None:
                yield Problem(f"metadata.{name} holds {text!r}, which is no path", f"$.metadata.{name}", "preview 1")
                continue
            where = format_path(path)
            if path in seen:
                yield Problem(f"the path stands in {seen[path]} and in {name}", where, "preview 1")
            seen[path] = name
            yield from _misplaced(answer, kind, name, path, where)


def _misplaced(answer: Answer, kind: Kind, name: str, path: Path, where: str) -> Iterator[Problem]:
    if path == ("configId",):
        return
    if path[:1] not in (("properties",), ("identifiers",)) or len(path) < 2:
        yield Problem(f"metadata.{name} names a place that no result has", where, "preview 1")
        return
    declared = properties_on(kind, path[1:], answer.properties)
    if declared is None:
        if isinstance(at(answer.result, path), Absent):
            message = f"metadata.{name} names a place that is neither in the answer nor in the type"
            yield Problem(message, where, "preview 1")
        return
    if name == "readOnly" and declared and not any(item.read_only for item in declared):
        yield Problem("metadata.readOnly names a property that the type lets be set", where, "preview 1")
    if name == "calculated" and declared and declared[-1].identifier:
        yield Problem("metadata.calculated names an identifier, which cannot differ each time", where, "preview 1")
    if name == "immutable" and declared and declared[-1].calculated:
        yield Problem("metadata.immutable names a calculated property, which differs each time", where, "preview 1")


def _unequal(one: Answer, other: Answer, kind: Kind) -> Iterator[Problem]:
    ignored = [*listed(one.metadata, "calculated"), *listed(other.metadata, "calculated")]
    rows = changes(one.properties, other.properties, kind, ignore=ignored)
    yield from problem("two previews of the same differ", rows, "preview 2", "first", "second")
    rows = differences(one.identifiers, other.identifiers, root=("identifiers",))
    yield from problem("two previews of the same name the resource differently", rows, "preview 2", "first", "second")
    for name in CLASSES:
        lists = [sorted(map(str, _list(answer.metadata.get(name)))) for answer in (one, other)]
        if lists[0] != lists[1]:
            message = f"two previews of the same list other paths in metadata.{name}"
            yield Problem(message, f"$.metadata.{name}", "preview 2")


def _list(value: Json | Absent) -> list[Json]:
    return value if isinstance(value, list) else []
