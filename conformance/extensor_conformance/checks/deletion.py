"""DEL-01 to DEL-06: what a delete removes, what it leaves alone, what it refuses."""

from collections.abc import Iterable

from extensor.contract import ErrorCode, Json, JsonObject, Verb
from extensor.types import model
from extensor_conformance.bench import Bench
from extensor_conformance.bodies import (
    ABSENT,
    Absent,
    apart,
    at,
    named,
    place,
    properties_on,
    provider_names,
    put,
    text_identity,
    window,
    with_identity,
)
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.history import siblings
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.promises import changes, must_be_absent, problem, same_identity
from extensor_conformance.steps import Answered, Call, Plan, ProbeStep, Step
from extensor_conformance.verdicts import NotApplicable, NotTested, Problem

REMOVE = {Verb.SAVE, Verb.DELETE}
MALFORMED = frozenset({ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_PROPERTY, ErrorCode.MISSING_PROPERTY})


@check("DEL-01", operations={*REMOVE, Verb.GET}, examples=3)
class Gone(CaseCheck):
    """After a delete get says ResourceNotFound, and the world agrees."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        name = Answered("save", "$.identifiers")
        made = (Call("save", Verb.SAVE, desired), *window(kind))
        delete = Call("delete", Verb.DELETE, name)
        yield Plan((*made, Call("get", Verb.GET, name), delete, *window(kind), Call("gone", Verb.GET, name)))
        before = ProbeStep("world before", "exists", kind.identifiers(desired))
        yield Plan((before, *made, delete, ProbeStep("world", "exists", name)), note="as the probe sees it")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        trial.result("save")
        if "get" in trial:
            trial.result("get")
        deleted = trial["delete"]
        if deleted.error is not None:
            if deleted.error.transient:
                raise NotTested(f"refused for now: {deleted.error}")
            return [Problem(f"the delete is refused: {deleted.error}", step="delete")]
        if "gone" in trial:
            must_be_absent(trial["gone"], "it is still there after its delete", "gone")
        elif "world" in trial:
            found = trial["world"].result
            if isinstance(found, dict) and found.get("exists") is True:
                return [Problem("it is still there after its delete, as the probe sees it", "$.properties", "world")]
        else:
            raise NotTested("nobody looked after the delete")
        return []


@check("DEL-02", operations=REMOVE)
class Again(CaseCheck):
    """A second and a third delete succeed."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw, full=draw.boolean())
        name = Answered("save", "$.identifiers")
        deletes = tuple(Call(f"delete {number}", Verb.DELETE, name) for number in (1, 2, 3))
        yield Plan((Call("save", Verb.SAVE, desired), *window(kind), *deletes))

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        trial.result("save")
        trial.result("delete 1")
        for step in ("delete 2", "delete 3"):
            if step in trial and trial[step].error is not None:
                answer = trial[step]
                assert answer.error is not None
                if answer.error.transient:
                    raise NotTested(f"refused for now: {answer.error}")
                return [Problem(f"deleting what is gone is refused: {answer.error}", step=step)]
        return []


@check("DEL-03", operations={Verb.DELETE}, examples=2)
class AbsentOrMalformed(CaseCheck):
    """Deleting what never was succeeds; missing or malformed identifiers are refused at their path."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        if provider_names(kind):
            raise NotApplicable("the provider gives resources their names, so none can be made up")
        name = kind.identifiers(kind.valid(draw))
        control = Call("absent", Verb.DELETE, name)
        yield Plan((control,), note="what never was")
        for path in kind.shape.required_identifiers or kind.identity:
            if isinstance(at(name, path), Absent):
                continue
            for note, value in (("without", ABSENT), ("a wrong value as", _wrong(kind, name, path))):
                bad = put(name, path, value)
                wrong = Call("wrong", Verb.DELETE, bad)
                where = [place(path[:length]) for length in range(len(path) + 1)]
                yield Plan((control, wrong), expect={"places": where}, note=f"{note} {place(path)}")

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        del kind
        absent = trial["absent"]
        if "wrong" not in trial:
            if absent.error is not None:
                if absent.error.transient:
                    raise NotTested(f"refused for now: {absent.error}")
                return [Problem(f"deleting what never was is refused: {absent.error}", step="absent")]
            return []
        trial.result("absent")
        places = trial.expect.get("places")
        told = [str(item) for item in places] if isinstance(places, list) else []
        wrong, where = trial["wrong"], told[-1] if told else None
        if wrong.error is None:
            return [Problem("identifiers of a wrong form count as deleted", where, "wrong")]
        if not wrong.has_code(*MALFORMED):
            return [Problem(f"expected {', '.join(sorted(MALFORMED))}, got {wrong.error}", where, "wrong")]
        if not any(path in told for path in wrong.error.paths):
            paths = ", ".join(str(path) for path in wrong.error.paths)
            return [Problem(f"the refusal names {paths} and not {where}", where, "wrong")]
        return []


def _wrong(kind: Kind, name: JsonObject, path: tuple[str | int, ...]) -> Json:
    """A value that is of no form that the identifier can have."""
    found = properties_on(kind, path, name)
    text = found and isinstance(found[-1].type, model.StringType | model.StringLiteralType)
    return 17 if text else {"of": "a wrong form"}


@check("DEL-04", operations={*REMOVE, Verb.GET})
class NeighboursSpared(CaseCheck):
    """Other objects, those with a name that begins alike among them, are unchanged after a delete."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        target, stranger, last = (kind.valid(draw, full=draw.boolean()) for _ in range(3))
        alike = [] if provider_names(kind) else self._alike(kind, target, last)
        bodies = [("stranger", stranger), *alike]
        name = Answered("save", "$.identifiers")
        steps: list[Step] = [Call(f"save {word}", Verb.SAVE, body) for word, body in bodies]
        steps += [Call("save", Verb.SAVE, target), *window(kind), Call("delete", Verb.DELETE, name), *window(kind)]
        steps.append(Call("get stranger", Verb.GET, Answered("save stranger", "$.identifiers")))
        steps += [Call(f"get {word}", Verb.GET, kind.identifiers(body)) for word, body in alike]
        yield Plan(tuple(steps), expect={"words": [word for word, _ in bodies]})

    def _alike(self, kind: Kind, target: JsonObject, last: JsonObject) -> list[tuple[str, JsonObject]]:
        path = text_identity(kind, target)
        text = at(target, path) if path is not None else ABSENT
        found: list[tuple[str, JsonObject]] = []
        if path is not None and isinstance(text, str):
            for word, longer in (("longer", f"{text}1"), ("with a dash", f"{text}-a"), ("before", f"a{text}")):
                body = named(kind, with_identity(kind, last, target), path, longer)
                if body is not None:
                    found.append((word, body))
        return found + [(f"part {number}", body) for number, body in enumerate(siblings(kind, target, last))]

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        trial.result("delete")
        words = trial.expect.get("words")
        looked = False
        for word in words if isinstance(words, list) else []:
            save, get = f"save {word}", f"get {word}"
            if save not in trial or get not in trial or trial[save].error is not None:
                continue
            looked = True
            if trial[get].error is not None:
                return [Problem(f"a neighbour went with the deleted one: {trial[get].error}", "$.identifiers", get)]
            rows = changes(trial[save].properties, trial[get].properties, kind)
            if rows:
                return problem("the delete changed a neighbour", rows, get, "before", "after")
        if not looked:
            raise NotTested("no neighbour could be made")
        return []


@check("DEL-05", operations={*REMOVE, Verb.GET}, examples=3)
class ConfigurationGuard(CaseCheck):
    """A delete with another configId is refused with ConfigMismatch and the object is still there."""

    @apart
    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        desired = kind.valid(draw)
        name = Answered("save", "$.identifiers")
        other = f"another-{draw.names.token()}"
        yield Plan(
            (
                Call("save", Verb.SAVE, desired),
                *window(kind),
                Call("wrong", Verb.DELETE, name, config_id=other),
                *window(kind),
                Call("get", Verb.GET, name),
                Call("right", Verb.DELETE, name),
            )
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        saved = trial.result("save")
        if saved.config_id is None:
            raise NotApplicable("its answers carry no configId")
        wrong = trial["wrong"]
        if "right" in trial:
            trial.result("right")
        if wrong.error is None:
            return [Problem("a delete with another configId is taken", "$.import.configId", "wrong")]
        if not wrong.has_code(ErrorCode.CONFIG_MISMATCH):
            return [Problem(f"expected ConfigMismatch, got {wrong.error}", "$.import.configId", "wrong")]
        if "get" in trial:
            if trial["get"].error is not None:
                message = f"the delete was refused and still removed it: {trial['get'].error}"
                return [Problem(message, "$.properties", "get")]
            rows = changes(saved.properties, trial["get"].properties, kind)
            return problem("the delete was refused and still changed it", rows, "get", "before", "after")
        return []


@check("DEL-06", operations={*REMOVE, Verb.GET}, faults=("delete-fails",), scope="type")
class FailedDelete(Procedure):
    """A delete that fails is an error, get still finds the object, and a later delete succeeds."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        desired = bench.valid()
        with bench.faults.inject("delete-fails", desired, verb=Verb.DELETE.wire, times=1) as body:
            saved = bench.must(bench.save(body), "the save")
            failed = bench.delete(body)
        there = bench.get(body)
        if failed.error is None:
            if there.ok:
                return [Problem("the delete failed and its answer does not say so", "$.properties", "delete")]
            raise NotTested("the fault did not come: the delete succeeded")
        if there.error is not None:
            message = f"the delete failed, and the object cannot be found any more: {there.error}"
            return [Problem(message, "$.properties", "get")]
        renamed = same_identity(saved, there, "get")
        if renamed:
            return renamed
        if "delete-fails" in bench.faults.triggers:
            return []  # the name makes every delete of it fail
        later = bench.delete(body)
        if later.error is not None:
            return [Problem(f"a later delete is refused: {later.error}", step="delete again")]
        gone = bench.get(body)
        must_be_absent(gone, "it is still there after its second delete", "get again")
        return []
