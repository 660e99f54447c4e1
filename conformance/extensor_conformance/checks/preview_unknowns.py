"""PRV-06 to PRV-10: values that are not known yet, in every place."""

from collections.abc import Iterable, Iterator, Sequence

from extensor.contract import ErrorCode, Json, JsonObject, Verb
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    ABSENT,
    UNKNOWN,
    Absent,
    among,
    apart,
    at,
    below,
    flagged,
    is_secret,
    place,
    put,
    read_path,
    some,
    window,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.generate import Placement
from extensor_conformance.kind import Kind
from extensor_conformance.promises import broken_between, broken_promises, listed, same, shown
from extensor_conformance.steps import Answered, Call, Plan, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem, Severity

TRUTH = {Verb.PREVIEW_SAVE, Verb.SAVE}
MOST = 12
"""Placements of an example, where a type has more places."""
CONFIG = "$.import.config"
EXPRESSION: JsonObject = {"$unknown": {"expression": "[reference('elsewhere').value]"}}


def placements(draw: Draw, kind: Kind, body: JsonObject, *, identifiers: bool = False) -> list[Placement]:
    """The body with a marker in each place in turn, at most `MOST` of them; some markers tell where they come from."""
    found = some(draw, list(kind.placements(body, identifiers=identifiers)), MOST)
    made: list[Placement] = []
    for number, one in enumerate(found):
        properties = put(one.properties, one.path, EXPRESSION) if number % 3 == 2 else one.properties
        assert isinstance(properties, dict)
        made.append(Placement(properties, one.path, one.replaced))
    return made


def everything_unknown(kind: Kind, body: JsonObject) -> JsonObject:
    """The body with a marker in place of every property that does not name the resource."""
    named = {path[0] for path in kind.identity}
    return {name: value if name in named else UNKNOWN for name, value in body.items()}


def unsupported(answer: Answer) -> bool:
    """Whether a preview says that it cannot say anything."""
    return answer.has_code(ErrorCode.PREVIEW_NOT_SUPPORTED)


def useful(trial: Trial, step: str) -> Answer:
    """A preview's result. Raises `NotTested` for a refusal."""
    answer = trial[step]
    if answer.error is not None:
        raise NotTested(f"{step} was refused: {answer.error}")
    return answer


@check("PRV-06", operations={Verb.PREVIEW_SAVE})
class Tolerated(CaseCheck):
    """A marker in any place gives a result or PreviewNotSupported."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        found = placements(draw, kind, desired, identifiers=True)
        steps, places = _previews(found)
        extra = Call(f"unknown {len(found)}", Verb.PREVIEW_SAVE, everything_unknown(kind, desired))
        places[extra.name] = "$.properties"
        control = Call("known", Verb.PREVIEW_SAVE, desired)
        yield Plan((control, *steps, extra), expect={"places": places}, note="of a create")
        if kind.has(Verb.SAVE):
            first = (Call("save", Verb.SAVE, desired), *window(kind))
            yield Plan((*first, control, *steps, extra), expect={"places": places}, note="of an update")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        if "save" in trial:
            trial.result("save")
        trial.result("known")
        for step, where in _places(trial):
            answer = trial[step]
            if answer.error is None or unsupported(answer) or answer.error.transient:
                continue
            return [Problem(f"a value that is not known yet is refused: {answer.error}", where, step)]
        return []


@check("PRV-07", operations=TRUTH)
class AccountedFor(CaseCheck):
    """Each marker is echoed, or its place is listed, or holds what the save then makes it."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        steps, places = _previews(placements(draw, kind, desired))
        save = Call("save", Verb.SAVE, desired)
        yield Plan((*steps, save), expect={"places": places}, note="of a create")
        yield Plan((save, *window(kind), *steps), expect={"places": places}, note="of an update")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        saved = trial.result("save").properties
        conclusive = False
        for step, where in _places(trial):
            answer = trial[step]
            if answer.error is not None:
                continue
            conclusive = True
            path = (read_path(where) or ())[1:]
            lost = _unaccounted(answer, trial.sent(step), path, saved, kind)
            if lost is not None:
                return [Problem(lost[0], where, step, severity=lost[1])]
        if not conclusive:
            raise NotTested("no preview with an unknown value gave a result")
        return []


def _unaccounted(
    answer: Answer, sent: JsonObject, path: Path, saved: JsonObject, kind: Kind
) -> tuple[str, Severity | None] | None:
    """What is wrong about a marker that was sent at a place."""
    marker = at(sent, path)
    if isinstance(marker, Absent) or not is_marker(marker):
        return None  # shrinking took it away
    writes = (*kind.shape.write_only, *flagged(kind, lambda item: item.write_only, sent))
    if below(path, writes) or below(path, listed(answer.metadata, "unknown", "calculated")):
        return None
    for length in range(len(path) + 1):
        value = at(answer.properties, path[:length])
        if not isinstance(value, Absent) and is_marker(value):
            if length == len(path) and not same(value, marker):
                return "the marker is echoed without its expression", Severity.SHOULD
            return None
        if isinstance(value, list) and length < len(path):
            lost = _lost_element(value, at(saved, path[:length]), path, length, kind)
            if lost is not None:
                return (lost, None) if lost else None
    value, came = at(answer.properties, path), at(saved, path)
    if isinstance(value, Absent):
        return None if isinstance(came, Absent) else ("the unknown value disappears from the preview", None)
    if isinstance(came, Absent) or not same(value, came):
        return "the unknown value is replaced by one that the save does not keep", None
    return None


def _lost_element(value: list[Json], came: Json | Absent, path: Path, length: int, kind: Kind) -> str | None:
    """What is wrong about an array on the way to a marker; empty when the marker is in it, ``None`` to look deeper."""
    if among(path[:length], kind.fixture.unordered) and any(_holds_marker(item) for item in value):
        return ""
    if isinstance(came, list) and len(came) != len(value):
        return f"the array has {len(value)} elements in the preview and {len(came)} in the save"
    return None


def _holds_marker(value: Json) -> bool:
    if is_marker(value):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds_marker(item) for item in inner)


@check("PRV-08", operations=TRUTH, examples=4)
class Refinement(CaseCheck):
    """What a preview with an unknown value shows as known holds for two different fillings."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        for one in some(draw, list(kind.placements(desired)), MOST):
            other = _second(draw, kind, one)
            yield self._of_create(kind, desired, other, one)
        free = [one for one in kind.placements(desired) if not below(one.path, kind.shape.immutable)]
        for one in some(draw, free, MOST // 2):
            other = _second(draw, kind, one)
            if other is not None:
                yield self._of_update(kind, desired, other, one)

    def _of_create(self, kind: Kind, desired: JsonObject, other: JsonObject | None, one: Placement) -> Plan:
        steps: list[Step] = [
            Call("unknown", Verb.PREVIEW_SAVE, one.properties),
            Call("preview 1", Verb.PREVIEW_SAVE, desired),
            Call("save 1", Verb.SAVE, desired),
        ]
        if other is not None:
            steps.insert(2, Call("preview 2", Verb.PREVIEW_SAVE, other))
            if kind.has(Verb.DELETE):
                steps += [Call("delete", Verb.DELETE, Answered("save 1", "$.identifiers")), *window(kind)]
                steps.append(Call("save 2", Verb.SAVE, other))
        return Plan(tuple(steps), expect={"place": place(one.path)}, note=f"{place(one.path)} is unknown")

    def _of_update(self, kind: Kind, desired: JsonObject, other: JsonObject, one: Placement) -> Plan:
        steps = (
            Call("first", Verb.SAVE, desired),
            *window(kind),
            Call("unknown", Verb.PREVIEW_SAVE, one.properties),
            Call("preview 1", Verb.PREVIEW_SAVE, desired),
            Call("preview 2", Verb.PREVIEW_SAVE, other),
            Call("save 2", Verb.SAVE, other),
        )
        note = f"{place(one.path)} is unknown, of an update"
        return Plan(steps, expect={"place": place(one.path)}, note=note)

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        unknown = useful(trial, "unknown")
        update = trial.case.plan.note.endswith("of an update")
        if update:
            trial.result("first")
        fillings = ("save 1", "save 2", "preview 1", "preview 2")
        tried = [(step, trial[step]) for step in fillings if step in trial and trial[step].ok and _fills(trial, step)]
        if not any(step.startswith("save") for step, _ in tried):
            raise NotTested("no filling could be saved")
        broken = {step: self._broken(unknown, answer, step, kind) for step, answer in tried}
        first = next((step for step, rows in broken.items() if rows), None)
        if first is None:
            return []
        paths = list(dict.fromkeys(row.path for rows in broken.values() for row in rows))
        columns = ("unknown", *(step for step, _ in tried))
        rows = tuple(DiffRow(path, _cells(path, unknown, tried, kind)) for path in paths)
        where = trial.expect.get("place")
        message = f"a preview with {where} unknown promised a value that does not hold for every filling"
        return [Problem(message, paths[0], first, columns, rows)]

    def _broken(self, unknown: Answer, answer: Answer, step: str, kind: Kind) -> list[DiffRow]:
        if step.startswith("save"):
            return broken_promises(unknown, answer.properties, kind)
        return broken_between(unknown, answer, kind)


def _second(draw: Draw, kind: Kind, one: Placement) -> JsonObject | None:
    """The body with another filling than its own for the unknown value."""
    found = kind.fillings(draw, one)
    return found[1] if found is not None else None


def _fills(trial: Trial, step: str) -> bool:
    """Whether a step's body is the unknown one with every marker filled; shrinking may make it another."""
    return _filled(trial.sent("unknown"), trial.sent(step))


def _filled(one: Json, other: Json) -> bool:
    if is_marker(one):
        return not is_marker(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_filled(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_filled(left, right) for left, right in zip(one, other, strict=True))
    return same(one, other)


def _cells(path: str, unknown: Answer, tried: Sequence[tuple[str, Answer]], kind: Kind) -> tuple[str, ...]:
    parts = (read_path(path) or ())[1:]
    secret = is_secret(kind, parts)
    values = (unknown.properties, *(answer.properties for _, answer in tried))
    return tuple(shown(at(value, parts), secret) for value in values)


@check("PRV-09", operations={Verb.PREVIEW_SAVE}, examples=3)
class UnknownIdentity(CaseCheck):
    """Identifiers that cannot be told are shown as unknown or the preview is refused; they are never guessed."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        named = [one for one in kind.placements(desired, identifiers=True) if _names(kind, one.path)]
        for number, one in enumerate(named):
            marker = EXPRESSION if number % 2 else UNKNOWN
            body = put(one.properties, one.path, marker)
            yield Plan(
                (Call("known", Verb.PREVIEW_SAVE, desired), Call("unknown", Verb.PREVIEW_SAVE, body)),
                expect={"place": place(one.path)},
                note=f"{place(one.path)} is unknown",
            )

        hidden = Call("unknown", Verb.PREVIEW_SAVE, desired, config_unknown=True, config_id=None)
        note = "the configuration is unknown"
        yield Plan((Call("known", Verb.PREVIEW_SAVE, desired), hidden), expect={"place": CONFIG}, note=note)

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        known = trial.result("known")
        answer = trial["unknown"]
        where = str(trial.expect.get("place"))
        if answer.error is not None:
            if unsupported(answer):
                return []
            if answer.error.transient:
                raise NotTested(f"refused for now: {answer.error}")
            message = f"expected an unknown identity or PreviewNotSupported, got {answer.error}"
            return [Problem(message, where, "unknown")]
        if where == CONFIG:
            return self._guessed_config(known, answer)
        return list(self._guesses(answer, trial.sent("unknown"), kind))

    def _guessed_config(self, known: Answer, answer: Answer) -> list[Problem]:
        """A configId that is shown must be the one that comes, whatever the configuration turns out to be."""
        shown_id = answer.config_id
        if shown_id is None or shown_id == known.config_id or ("configId",) in _listed_anywhere(answer):
            return []
        row = DiffRow("$.configId", (str(known.config_id), shown_id))
        message = "the configuration is not known yet, and the preview guesses the configId"
        return [Problem(message, "$.configId", "unknown", ("known", "previewed"), (row,))]

    def _guesses(self, answer: Answer, sent: JsonObject, kind: Kind) -> Iterator[Problem]:
        open_ = _listed_anywhere(answer)
        for path in kind.identity:
            asked = at(sent, path)
            if isinstance(asked, Absent) or not is_marker(asked):
                continue
            for root, value in (("identifiers", at(answer.identifiers, path)), ("properties", _seen(answer, path))):
                if isinstance(value, Absent) or value is None or is_marker(value) or (root, *path) in open_:
                    continue
                text = place(path).replace("$.properties", f"$.{root}", 1)
                row = DiffRow(text, (shown(value, is_secret(kind, path)),))
                message = "the name is not known yet, and the preview guesses it"
                yield Problem(message, text, "unknown", ("previewed",), (row,))
                return


def _seen(answer: Answer, path: Path) -> Json | Absent:
    for length in range(len(path)):
        value = at(answer.properties, path[:length])
        if not isinstance(value, Absent) and is_marker(value):
            return ABSENT
    return at(answer.properties, path)


def _listed_anywhere(answer: Answer) -> set[Path]:
    found: set[Path] = set()
    for name in ("unknown", "calculated"):
        paths = answer.metadata.get(name)
        for text in paths if isinstance(paths, list) else []:
            path = read_path(text)
            if path is not None:
                found.add(path)
    return found


def _names(kind: Kind, path: Path) -> bool:
    """Whether a place is an identifier, holds one, or is inside one."""
    return any(path[: len(item)] == item or item[: len(path)] == path for item in kind.identity)


@check("PRV-10", operations={Verb.SAVE}, examples=4)
class OutOfReality(CaseCheck):
    """A save, get or delete with a marker is refused with UnknownValueNotAllowed at its path."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        found = placements(draw, kind, desired)
        steps: list[Step] = []
        places: JsonObject = {}
        for number, one in enumerate(found):
            steps.append(Call(f"unknown {number}", Verb.SAVE, one.properties))
            places[f"unknown {number}"] = place(one.path)
        yield Plan((*steps, Call("save", Verb.SAVE, desired)), expect={"places": places}, note="saves")
        yield self._identities(kind, desired)

    def _identities(self, kind: Kind, desired: JsonObject) -> Plan:
        steps: list[Step] = [Call("save", Verb.SAVE, desired)]
        places: JsonObject = {}
        for path in kind.identity:
            marked = put(kind.identifiers(desired), path, UNKNOWN)
            if isinstance(at(marked, path), Absent):
                continue
            for verb in (Verb.GET, Verb.DELETE):
                if kind.has(verb):
                    name = f"unknown {len(steps)}"
                    steps.append(Call(name, verb, marked))
                    places[name] = place(path)
        return Plan(tuple(steps), expect={"places": places}, note="gets and deletes")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        trial.result("save")
        for step, where in _places(trial):
            sent = trial.sent(step)
            marker = at(sent, (read_path(where) or ())[1:])
            if isinstance(marker, Absent) or not is_marker(marker):
                continue
            answer = trial[step]
            if answer.error is None:
                return [Problem("a value that is not known is taken", where, step)]
            if answer.error.transient:
                continue
            told = {fault.path for fault in answer.error.faults if fault.code == ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED}
            if not told:
                return [Problem(f"expected UnknownValueNotAllowed, got {answer.error}", where, step)]
            if where not in told:
                paths = ", ".join(sorted(str(path) for path in told))
                return [Problem(f"the refusal names {paths} and not the marker's place", where, step)]
        return []


def _previews(found: Sequence[Placement]) -> tuple[list[Step], JsonObject]:
    """A preview of each placement, and their places by the names of the steps."""
    steps: list[Step] = []
    places: JsonObject = {}
    for number, one in enumerate(found):
        steps.append(Call(f"unknown {number}", Verb.PREVIEW_SAVE, one.properties))
        places[f"unknown {number}"] = place(one.path)
    return steps, places


def _places(trial: Trial) -> list[tuple[str, str]]:
    """The steps with a marker that were played, each with the marker's path."""
    places = trial.expect.get("places")
    table = places if isinstance(places, dict) else {}
    found = [(step, str(where)) for step, where in table.items() if step in trial]
    if not found:
        raise NotTested("no step with a marker was played")
    return found
