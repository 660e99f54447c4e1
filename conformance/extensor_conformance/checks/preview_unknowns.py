"""PRV-06, PRV-07: values that are not known yet are tolerated in every place and accounted for."""

from collections.abc import Iterable, Sequence

from extensor.contract import ErrorCode, Json, JsonObject, Verb
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    UNKNOWN,
    Absent,
    among,
    apart,
    at,
    below,
    flagged,
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
from extensor_conformance.promises import listed, same
from extensor_conformance.steps import Call, Plan, Step
from extensor_conformance.verdicts import NotTested, Problem, Severity

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
        steps, places = preview_steps(found)
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
        for step, where in marked_steps(trial):
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
        steps, places = preview_steps(placements(draw, kind, desired))
        save = Call("save", Verb.SAVE, desired)
        yield Plan((*steps, save), expect={"places": places}, note="of a create")
        yield Plan((save, *window(kind), *steps), expect={"places": places}, note="of an update")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        saved = trial.result("save").properties
        conclusive = False
        for step, where in marked_steps(trial):
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


def preview_steps(found: Sequence[Placement]) -> tuple[list[Step], JsonObject]:
    """A preview of each placement, and their places by the names of the steps."""
    steps: list[Step] = []
    places: JsonObject = {}
    for number, one in enumerate(found):
        steps.append(Call(f"unknown {number}", Verb.PREVIEW_SAVE, one.properties))
        places[f"unknown {number}"] = place(one.path)
    return steps, places


def marked_steps(trial: Trial) -> list[tuple[str, str]]:
    """The steps with a marker that were played, each with the marker's path."""
    places = trial.expect.get("places")
    table = places if isinstance(places, dict) else {}
    found = [(step, str(where)) for step, where in table.items() if step in trial]
    if not found:
        raise NotTested("no step with a marker was played")
    return found
