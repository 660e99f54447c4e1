"""PRV-09, PRV-10: what is not known is not guessed, and not taken for a value."""

from collections.abc import Iterable, Iterator

from extensor.contract import ErrorCode, Json, JsonObject, Verb
from extensor.contract.paths import Path
from extensor_conformance.answers import Answer
from extensor_conformance.bodies import (
    ABSENT,
    UNKNOWN,
    Absent,
    apart,
    at,
    is_secret,
    place,
    put,
    read_path,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.preview_unknowns import CONFIG, EXPRESSION, marked_steps, placements, unsupported
from extensor_conformance.compare import is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import shown
from extensor_conformance.steps import Call, Plan, Step
from extensor_conformance.verdicts import DiffRow, NotTested, Problem


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
        for step, where in marked_steps(trial):
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
