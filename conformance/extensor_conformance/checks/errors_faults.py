"""ERR-04, ERR-06, ERR-07 and ERR-08: what a provider answers when the world behind it fails."""

import json
import re
import time
from collections.abc import Iterator

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.answers import Answer, ConnectionEnded, ErrorAnswer, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import apart, operable, properties_of, shown, usable, with_value
from extensor_conformance.kind import Kind
from extensor_conformance.verdicts import NotTested, Problem

MOST_SECONDS_TO_WAIT = 300
"""Of `retryAfterSeconds`: more is not bounded for a host."""
DEADLINE = 2.0
GRACE = 2.0
_LEAKS = (
    ("a traceback", re.compile(r"Traceback|\bat [\w.$]+\([\w.]+:\d+\)|File \"|line \d+, in ")),
    ("a file path", re.compile(r"(?:^|[\s'\"(=])(?:/[\w.+-]+){2,}|[A-Za-z]:\\[\w.-]+")),
    ("the name of a source file", re.compile(r"\b[\w-]+\.(?:py|js|ts|go|rs|cs|java|rb)\b")),
    ("the name of a class", re.compile(r"\b(?!InternalError\b)[A-Z]\w*(?:Error|Exception)\b")),
    ("the text of an object", re.compile(r"<[\w.]+ (?:object|instance|at 0x)|\b0x[0-9a-f]{6,}")),
)
_ODD_NAMES = ("../../etc/passwd", "a/b", "\0", "x" * 5000, "con", "é" * 200, "%s%n{0}", "'; drop table x; --")


def leak(text: str) -> str | None:
    """What of a machine's inside a message tells, in words."""
    return next((what for what, pattern in _LEAKS if pattern.search(text)), None)


def _texts(value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("path", "correlationId", "code"):
                yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")


def _leaks(error: ErrorAnswer, step: str) -> Iterator[Problem]:
    for path, text in (("$.error.message", error.message), *_texts(error.data, "$.error.data")):
        what = leak(text)
        if what is not None:
            yield Problem(f"the error of {step} tells {what}", path, step)


@check("ERR-04", operations={Verb.SAVE}, scope="type")
class UnexpectedError(Procedure):
    """A forced exception where there is a way, and inputs that provoke accidents; nothing of the inside is told."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE)
        problems: list[Problem] = []
        if bench.faults.offers("raise"):
            body = usable(bench, full=True)
            with bench.faults.inject("raise", body, verb="save", times=1) as sent:
                answer = bench.save(sent)
            problems += self._forced(answer)
            if kind.has(Verb.GET) and "raise" in bench.faults.hook_kinds:
                bench.must(bench.save(body), "the same save without the fault")
                with bench.faults.inject("raise", body, verb="get", times=1):
                    problems += self._forced(bench.get(body), "get")
        for step, sent in self._provocations(bench, kind):
            try:
                answer = bench.save(sent)
                if kind.has(Verb.GET):
                    got = bench.call(Verb.GET, kind.identifiers(sent) or sent)
                    problems += _leaks(got.error, step) if got.error is not None else ()
            except ConnectionEnded as error:
                return [*problems, Problem(f"a request ends the provider: {error}", "$.properties", step)]
            if answer.error is not None:
                problems += _leaks(answer.error, step)
        after = bench.connection().ping()
        if after.error is not None:
            problems.append(Problem(f"after an accident ping is refused: {after.error}", "$", "ping"))
        last = bench.save(usable(bench))
        if last.error is not None and not problems:
            raise NotTested(f"the control is refused: {last.error}")
        return problems

    def _forced(self, answer: Answer, step: str = "raise") -> list[Problem]:
        error = answer.error
        if error is None:
            raise NotTested("the forced exception did not come up")
        problems = list(_leaks(error, step))
        if not answer.has_code("InternalError"):
            message = f"an exception that nobody expected in {step} is {error}, not InternalError"
            problems.append(Problem(message, "$.error.data.errors[0].code", step))
        told = error.data.get("correlationId") if isinstance(error.data, dict) else None
        if not isinstance(told, str) or not told:
            message = "an unexpected error carries no correlationId to find it in the log by"
            problems.append(Problem(message, "$.error.data.correlationId", step))
        return problems

    def _provocations(self, bench: Bench, kind: Kind) -> Iterator[tuple[str, JsonObject]]:
        """Bodies at the edge of the type, or beyond it: names that mean something elsewhere, huge numbers."""
        for name in _ODD_NAMES:
            body = bench.valid()
            for path in kind.shape.identifiers[:1]:
                yield f"odd name {name[:20]!r}", with_value(body, path, name)
        body = bench.valid(full=True)
        for path, item in list(properties_of(kind, body))[:20]:
            if item.read_only or item.identifier or (path[:-1] and len(path) > 3):
                continue
            for value in (10**400, "\0", {"": [None]}):
                yield f"odd value at {shown(path)}", _placed(body, path, value)


def _placed(body: JsonObject, path: tuple[str | int, ...], value: Json) -> JsonObject:
    made = with_value(body, path, value)
    assert isinstance(made, dict)
    return made


@check("ERR-06", operations={Verb.SAVE, Verb.GET}, faults=("throttle",), scope="type")
class Throttled(Procedure):
    """A busy backend: a transient error in time, nothing half made, and a repeat that succeeds."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        problems: list[Problem] = []
        for fault in ("throttle", "transient"):
            if bench.faults.offers(fault):
                problems += self._one(bench, kind, fault)
        return problems

    def _one(self, bench: Bench, kind: Kind, fault: str) -> list[Problem]:
        body = usable(bench)
        begun = time.monotonic()
        try:
            with bench.faults.inject(fault, body, verb="save") as sent:
                answer = bench.save(sent, context={"deadlineSeconds": DEADLINE}, timeout=DEADLINE + GRACE)
        except NoAnswer:
            message = f"{fault}: within {DEADLINE:g} s of time there is no answer, it tries on and on"
            return [Problem(message, "$.context.deadlineSeconds", fault)]
        seconds = time.monotonic() - begun
        if answer.error is None:
            if seconds < DEADLINE:
                raise NotTested("the injected fault did not come up")
            return [Problem(f"{fault}: its own retries went past the deadline", "$.context.deadlineSeconds", fault)]
        problems: list[Problem] = []
        if not answer.error.transient and not answer.has_code("DeadlineExceeded"):
            message = f"{fault}: a busy backend is told as {answer.error}, without transient"
            problems.append(Problem(message, "$.error.data.transient", fault))
        wait = answer.error.data.get("retryAfterSeconds") if isinstance(answer.error.data, dict) else None
        if wait is not None and (not isinstance(wait, int | float) or not 0 <= wait <= MOST_SECONDS_TO_WAIT):
            message = f"{fault}: retryAfterSeconds is {json.dumps(wait)}, not a time from 0 to {MOST_SECONDS_TO_WAIT} s"
            problems.append(Problem(message, "$.error.data.retryAfterSeconds", fault))
        got = bench.get(body)
        again = bench.save(body)
        if again.error is not None:
            problems.append(Problem(f"{fault}: the plain repeat is refused: {again.error}", "$", "repeat"))
        elif got.ok and (apart(kind, got.properties, again.properties) or bench.faults.hook is not None):
            message = f"{fault}: a save that was refused has left an object"
            problems.append(Problem(message, "$.properties", f"get after {fault}"))
        return problems


@check("ERR-07", operations={Verb.SAVE}, faults=("denied",), scope="type")
class Denied(Procedure):
    """A backend that refuses access, at each verb."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE)
        body = usable(bench)
        if "denied" in bench.faults.triggers:
            with bench.faults.inject("denied", body) as sent:
                return self._judge(bench.save(sent), "save")
        bench.must(bench.save(body), "the control")
        problems: list[Problem] = []
        for verb in (Verb.GET, Verb.SAVE, Verb.DELETE):
            if kind.has(verb):
                sent = body if verb is Verb.SAVE else kind.identifiers(body)
                with bench.faults.inject("denied", body, verb=verb.wire, times=1):
                    problems += self._judge(bench.call(verb, sent), verb.wire)
        return problems

    def _judge(self, answer: Answer, step: str) -> list[Problem]:
        if answer.has_code("Unauthorized", "PermissionDenied"):
            return []
        message = f"{step} with access refused is answered with {answer}, not Unauthorized or PermissionDenied"
        return [Problem(message, "$.error.data.errors[0].code", step)]


@check("ERR-08", operations={Verb.SAVE, Verb.GET}, faults=("half-create",), scope="type")
class NoOrphan(Procedure):
    """The second step of a create fails: what was made is told or found, a repeat converges, a delete clears."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        body = usable(bench)
        with bench.faults.inject("half-create", body, verb="save", times=1) as sent:
            failed = bench.save(sent)
        if failed.error is None:
            raise NotTested("the injected fault did not come up")
        told = failed.error.data.get("resource") if isinstance(failed.error.data, dict) else None
        identifiers = told.get("identifiers") if isinstance(told, dict) else None
        problems: list[Problem] = []
        found = bench.get(body)
        if not identifiers and not found.ok:
            message = "a create that failed half-way tells no identifiers, and get does not find what it made"
            problems.append(Problem(message, "$.error.data.resource", "half-create"))
        again = bench.save(body)
        if again.error is not None:
            return [*problems, Problem(f"a save after half a failure is refused: {again.error}", "$", "save again")]
        got = bench.get(body)
        if got.error is not None or apart(kind, got.properties, again.properties):
            problems.append(Problem("a save after half a failure does not converge", "$.properties", "get"))
        if kind.has(Verb.DELETE):
            gone = bench.delete(body)
            if gone.error is not None or bench.get(body).ok:
                problems.append(Problem("a delete after half a failure does not clear", "$.properties", "delete"))
        return problems
