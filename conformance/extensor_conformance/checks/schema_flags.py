"""SCH-07: the flags of properties are kept. SCH-08: so are documented defaults."""

import json
import re
from collections.abc import Iterable, Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor.contract.paths import Path, format_path, parse_path
from extensor.types import model
from extensor_conformance.answers import Answer
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.checks.common import ABSENT, properties_of, sample, shown, value_at, with_value
from extensor_conformance.compare import differences, is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import NotTested, Problem

PLACES = 6
"""Properties of each flag that are tried in one instance."""


@check("SCH-07", operations={Verb.SAVE}, examples=2)
class FlagsHonoured(CaseCheck):
    """Read-only is refused, write-only is not shown, immutable does not change."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        named = kind.identifiers(desired)
        listed = list(properties_of(kind, desired))
        for path, item in [(path, item) for path, item in listed if item.read_only][:PLACES]:
            if value_at(desired, path[:-1]) is ABSENT:
                continue
            wrong = with_value(desired, path, sample(item.type))
            yield self._plan(kind, "read-only", path, desired, wrong, ())
        if any(item.write_only for _, item in listed):
            calls = (
                Call("preview", Verb.PREVIEW_SAVE, desired),
                Call("save", Verb.SAVE, desired),
                Call("get", Verb.GET, named),
                Call("save again", Verb.SAVE, desired),
            )
            able = tuple(call for call in calls if kind.has(call.verb))
            yield Plan(able, expect={"flag": "write-only"}, note="write-only")
        immutable = [(path, item) for path, item in listed if item.immutable and not item.read_only]
        for path, item in immutable[:PLACES]:
            value = _other(kind, draw, desired, path, item)
            if value is not ABSENT:
                wrong = with_value(desired, path, value)
                yield self._plan(kind, "immutable", path, desired, wrong, (Call("get", Verb.GET, named),))

    def _plan(
        self, kind: Kind, flag: str, path: Path, desired: JsonObject, wrong: JsonObject, after: tuple[Call, ...]
    ) -> Plan:
        calls = (
            Call("control", Verb.SAVE, desired),
            Call("preview", Verb.PREVIEW_SAVE, wrong),
            Call("save", Verb.SAVE, wrong),
            *after,
        )
        able = tuple(call for call in calls if kind.has(call.verb))
        return Plan(able, expect={"flag": flag, "path": shown(path)}, note=f"{flag} {shown(path)}")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        flag = trial.expect["flag"]
        if flag == "write-only":
            steps = ("preview", "save", "get", "save again")
            return [problem for step in steps if step in trial for problem in _hidden(trial[step], kind, step)]
        control = trial.result("control")
        place = str(trial.expect["path"])
        path = parse_path(place)[1:]
        problems: list[Problem] = []
        codes = ("ReadOnlyProperty",) if flag == "read-only" else ("ImmutableProperty", "Conflict")
        for step in ("preview", "save"):
            if step not in trial:
                continue
            if value_at(trial.sent(step), path) in (ABSENT, value_at(control.properties, path)):
                raise NotTested("the value is not in the case any more")
            answer = trial[step]
            if answer.error is None:
                message = f"{step} takes a value for a read-only property"
                if flag == "immutable":
                    message = f"{step} takes another value for an immutable property"
                problems.append(Problem(message, place, step))
            elif not answer.has_code(*codes, "PreviewNotSupported"):
                message = f"{step} refuses it with {answer.error}, not with {' or '.join(codes)}"
                problems.append(Problem(message, place, step))
            elif flag == "read-only" and place not in answer.error.paths:
                message = f"{step} refuses a read-only property, but not at its path: {answer.error}"
                problems.append(Problem(message, place, step))
        if flag == "immutable" and "get" in trial and not problems:
            rows = differences(control.properties, trial.result("get").properties, ignore=kind.ignored())
            if rows:
                message = "a change that was refused has changed the object"
                problems.append(Problem(message, rows[0].path, "get", ("before", "after"), tuple(rows)))
        return problems


def _hidden(answer: Answer, kind: Kind, step: str) -> Iterator[Problem]:
    if answer.error is not None:
        return
    properties = answer.properties
    for row in differences(properties, kind.shape.without_write_only(properties)):
        yield Problem(f"{step} shows a write-only property", row.path, step)


def _other(kind: Kind, draw: Draw, desired: JsonObject, path: Path, item: model.Property) -> object:
    """Another valid value for a place."""
    now = value_at(desired, path)
    if now is ABSENT:
        return ABSENT
    for _ in range(5):
        found = value_at(kind.valid(draw, full=True), path)
        if found is not ABSENT and found != now:
            return found
    inner = item.type
    if isinstance(inner, model.StringType) and isinstance(now, str) and inner.pattern is None:
        return now[:-1] if len(now) > (inner.min_length or 0) and now else f"{now}x"
    return ABSENT


_DEFAULT = re.compile(
    r"(?:^|[\s(;,.])defaults?(?:\s+(?:is|to|value(?:\s+is)?))?\s*[:=]?\s*"
    r"(`[^`]+`|\"[^\"]*\"|'[^']*'|-?\d+(?:\.\d+)?|true|false|null|[A-Za-z][\w-]*)\s*(?:[.,;)]|$)",
    re.IGNORECASE,
)


def documented_default(item: model.Property) -> object:
    """The default that a property's description names, as a value of its type; `ABSENT` when it names none."""
    match = _DEFAULT.search(item.description or "")
    if match is None:
        return ABSENT
    text = match.group(1).strip("`")
    if text[:1] == text[-1:] and text[:1] in ("'", '"'):
        text = text[1:-1]
    return _read(text, item.type)


def _read(text: str, type_: model.Type) -> object:
    match type_:
        case model.StringType():
            return text
        case model.StringLiteralType():
            return text if text == type_.value else ABSENT
        case model.BooleanType() | model.IntegerType() | model.NumberType():
            try:
                value: Json = json.loads(text.lower())
            except ValueError:
                return ABSENT
            wanted = bool if isinstance(type_, model.BooleanType) else (int, float)
            fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
            return value if fits else ABSENT
        case model.UnionType():
            return next((found for one in type_.elements if (found := _read(text, one)) is not ABSENT), ABSENT)
        case _:
            return ABSENT


@check("SCH-08", operations={Verb.SAVE}, examples=2)
class DefaultsTrue(CaseCheck):
    """What is left out shows the documented default in each answer."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=True)
        expected: dict[str, Json] = {}
        for path, item in list(properties_of(kind, desired)):
            default = documented_default(item)
            if default is ABSENT or item.required or item.read_only or item.write_only:
                continue
            if any(isinstance(part, int) for part in path) or value_at(desired, path[:-1]) is ABSENT:
                continue
            desired = with_value(desired, path, ABSENT)
            expected[shown(path)] = default
        if expected:
            calls = (
                Call("preview", Verb.PREVIEW_SAVE, desired),
                Call("save", Verb.SAVE, desired),
                Call("get", Verb.GET, kind.identifiers(desired)),
            )
            yield Plan(tuple(call for call in calls if kind.has(call.verb)), expect={"defaults": expected})

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        problems: list[Problem] = []
        for step in ("preview", "save", "get"):
            if step not in trial or trial[step].error is not None:
                continue
            for place, default in trial.expect["defaults"].items():
                path = parse_path(place)[1:]
                if (
                    value_at(trial.sent("save"), path[:-1]) is ABSENT
                    or value_at(trial.sent("save"), path) is not ABSENT
                ):
                    continue
                found = value_at(trial[step].properties, path)
                if found == default or (step == "preview" and (found is ABSENT or is_marker(found))):
                    continue
                told = "nothing" if found is ABSENT else json.dumps(found)
                message = f"the documented default is {json.dumps(default)}, and {step} shows {told}"
                problems.append(Problem(message, format_path(("properties", *path)), step))
        return problems
