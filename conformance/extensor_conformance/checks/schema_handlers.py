"""SCH-02: what is listed is served, and nothing else. SCH-04: identifiers are the same in every answer."""

from collections.abc import Iterable

from extensor.contract import RpcCode, Verb
from extensor_conformance.answers import Answer
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, check
from extensor_conformance.compare import differences, is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan
from extensor_conformance.verdicts import Problem

_UNSERVED = ("OperationNotSupported", "UnknownResourceType", "UnsupportedVersion")


@check("SCH-02", examples=1)
class TypesMatchHandlers(CaseCheck):
    """Each listed verb is tried, each that is not is refused; so are types and versions that are not there."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw)
        named = kind.identifiers(desired)
        order = (Verb.PREVIEW_SAVE, Verb.SAVE, Verb.GET, Verb.DELETE)
        calls = [Call(verb.wire, verb, desired if "ave" in verb.wire else named) for verb in order]
        yield Plan(tuple(calls), note="each verb")
        stem, _, version = kind.name.rpartition("@")
        verb = next((verb for verb in (Verb.GET, *order) if verb in kind.operations), Verb.GET)
        asked = desired if "ave" in verb.wire else named
        yield Plan(
            (
                Call("control", verb, asked),
                Call("other type", verb, asked, type=f"{stem}NoSuchType@{version}"),
                Call("other version of the type", verb, asked, type=f"{stem}@9999-12-31"),
                Call("other provider's type", verb, asked, type=f"no-such-provider:{kind.name}"),
                Call("other version of the provider", verb, asked, version="999.0.0"),
                Call("other case", verb, asked, type=f"{stem.swapcase()}@{version}"),
            ),
            note="what is not there",
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        if trial.case.plan.note == "each verb":
            return self._verbs(trial, kind)
        control = trial["control"]
        problems: list[Problem] = []
        if _unserved(control):
            return [Problem(f"the type is listed and not served: {control}", "$.type", "control")]
        wanted: dict[str, tuple[tuple[str, ...], str]] = {
            "other type": (("UnknownResourceType",), "$.type"),
            "other version of the type": (("UnknownResourceType", "UnsupportedVersion"), "$.type"),
            "other version of the provider": (("UnsupportedVersion",), "$.import.version"),
        }
        for step, (codes, path) in wanted.items():
            if step not in trial:
                continue
            answer = trial[step]
            if answer.error is None or not answer.has_code(*codes):
                message = f"a call with {step} is answered with {answer}, not {' or '.join(codes)}"
                problems.append(Problem(message, path, step))
            elif path not in answer.error.paths:
                told = ", ".join(str(item) for item in answer.error.paths)
                problems.append(Problem(f"the refusal of {step} names {told}, not {path}", path, step))
        if "other provider's type" in trial and _served_alike(control, trial["other provider's type"]):
            message = "a type with another provider's prefix is served"
            problems.append(Problem(message, "$.type", "other provider's type"))
        if "other case" in trial and not _served_alike(control, trial["other case"]):
            message = f"type names compare without case, and one is refused: {trial['other case']}"
            problems.append(Problem(message, "$.type", "other case"))
        return problems

    def _verbs(self, trial: Trial, kind: Kind) -> list[Problem]:
        problems: list[Problem] = []
        for verb in Verb:
            if verb.wire not in trial:
                continue
            answer = trial[verb.wire]
            if verb in kind.operations:
                if _unserved(answer):
                    message = f"{verb.wire} is listed for the type and not served: {answer}"
                    problems.append(Problem(message, "$.types", verb.wire))
            elif not answer.has_code("OperationNotSupported"):
                message = (
                    f"{verb.wire} is not listed for the type and answered with {answer}, not OperationNotSupported"
                )
                problems.append(Problem(message, "$.types", verb.wire))
        return problems


def _unserved(answer: Answer) -> bool:
    error = answer.error
    return error is not None and (answer.has_code(*_UNSERVED) or error.code == RpcCode.METHOD_NOT_FOUND)


def _served_alike(one: Answer, other: Answer) -> bool:
    return (one.ok, one.codes) == (other.ok, other.codes)


@check("SCH-04", operations={Verb.SAVE})
class Identifiers(CaseCheck):
    """One object through its life, and its identifiers in each answer."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        named = kind.identifiers(desired)
        calls = (
            Call("preview", Verb.PREVIEW_SAVE, desired),
            Call("save", Verb.SAVE, desired),
            Call("get", Verb.GET, named),
            Call("preview again", Verb.PREVIEW_SAVE, desired),
            Call("save again", Verb.SAVE, desired),
            Call("delete", Verb.DELETE, named),
        )
        yield Plan(tuple(call for call in calls if call.verb in kind.operations))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        save = trial.result("save")
        if not save.identifiers:
            return [Problem("a save answers no identifiers", "$.identifiers", "save")]
        problems = [
            Problem("an identifier is not known after the save", f"$.identifiers.{name}", "save")
            for name, value in save.identifiers.items()
            if is_marker(value)
        ]
        own = kind.identifiers(save.properties)
        if own and own != save.identifiers:
            rows = differences(save.identifiers, own, root=("identifiers",))
            message = "the identifiers are not the identifier properties of the same answer"
            problems.append(Problem(message, rows[0].path, "save", ("identifiers", "properties"), tuple(rows)))
        for step in ("get", "save again", "delete", "preview", "preview again"):
            if step not in trial or trial[step].error is not None:
                continue
            found = trial[step].identifiers
            if step.startswith("preview"):
                found = {key: value for key, value in found.items() if not is_marker(value)}
                rows = [
                    row
                    for row in differences(save.identifiers, found, root=("identifiers",))
                    if row.cells[1] != "(absent)"
                ]
            else:
                rows = differences(save.identifiers, found, root=("identifiers",))
            if rows:
                message = f"{step} answers other identifiers than the save"
                problems.append(Problem(message, rows[0].path, step, ("save", step), tuple(rows)))
        return problems
