"""LIF-04 to LIF-07: how a process ends, is ended, and what is still known afterwards."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from extensor.contract import JsonObject, Verb
from extensor.errors import StartFailed
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.case import Trial
from extensor_conformance.check import CaseCheck, Procedure, check
from extensor_conformance.checks.common import about, kind_with, operable, pause, slow_save, usable
from extensor_conformance.checks.lifecycle_calls import converges
from extensor_conformance.compare import differences
from extensor_conformance.connection import Connection
from extensor_conformance.draw import Draw
from extensor_conformance.kind import Kind
from extensor_conformance.steps import Call, Plan, Restart
from extensor_conformance.verdicts import NotApplicable, Problem

END_SECONDS = 5.0
"""Within which a process has to end (P-LIFE-05)."""
TERM_SECONDS = 10.0
KILLS = 4
"""Moments at which a save, and a delete, is cut short by the end of the process."""
LATEST_KILL = 0.02


def _ended(connection: Connection, step: str, seconds: float) -> Iterator[Problem]:
    """How the process ended and what it left."""
    code = connection.wait_exit(seconds)
    if code is None:
        yield Problem(f"the process still runs {seconds:g} s after {step}", "$", step)
        return
    if code != 0:
        told = f"signal {-code}" if code < 0 else f"exit code {code}"
        yield Problem(f"after {step} the process ended with {told}, not with 0", "$", step)
    left = connection.children()
    if left:
        yield Problem(f"after {step} it leaves {len(left)} process(es) behind", "$", step)
    place = _socket_file(connection)
    if place is not None and place.exists():
        yield Problem(f"after {step} its socket file is still there", "$", step)


def _socket_file(connection: Connection) -> Path | None:
    address = getattr(getattr(connection, "subject", None), "address", None)
    return Path(address.partition(":")[2]) if isinstance(address, str) and address.startswith("unix:") else None


@check("LIF-04", features={Feature.SHUTDOWN}, process=True)
class EndAndShutdown(Procedure):
    """The end of input, with a request under way, and a shutdown."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        problems: list[Problem] = []
        if Feature.STDOUT in bench.features:
            problems += self._end_of_input(bench)
        connection = bench.fresh()
        shutdown = connection.shutdown()
        if shutdown.error is not None:
            return [*problems, Problem(f"shutdown is refused: {shutdown.error}", "$", "shutdown")]
        late = self._after_shutdown(bench, connection)
        if late is not None:
            problems.append(late)
        connection.close_input()
        if Feature.STDOUT not in bench.features and connection.wait_exit(0.5) is None:
            connection.signal("TERM")  # it may have other clients, for whom this one's end is nothing (P-CONN-10)
        return [*problems, *_ended(connection, "shutdown", END_SECONDS)]

    def _end_of_input(self, bench: Bench) -> Iterator[Problem]:
        connection = bench.fresh()
        pending = connection.request("provider/listTypes", {})
        connection.close_input()
        try:
            pending.answer()
        except (NoAnswer, ConnectionEnded) as error:
            message = f"a request that was read before the end of input is not answered: {error}"
            yield Problem(message, "$", "end of input")
        yield from _ended(connection, "end of input", END_SECONDS)

    def _after_shutdown(self, bench: Bench, connection: Connection) -> Problem | None:
        kind = kind_with(bench, Verb.GET)
        if kind is None:
            return None
        bench.kind = kind
        named = kind.identifiers(bench.valid())
        bench.kind = None
        try:
            answer = connection.call(Verb.GET, kind.name, named, config=bench.fixture.config)
        except (NoAnswer, ConnectionEnded):
            return None  # it has gone at once, which is an end too
        if answer.has_code("Unavailable"):
            return None
        message = f"a call after shutdown is answered with {answer}, not Unavailable"
        return Problem(message, "$.error.data.errors[0].code", "after shutdown")


@check("LIF-05", operations={Verb.SAVE, Verb.GET}, process=True, scope="type")
class Terminated(Procedure):
    """SIGTERM while nothing runs, and in the midst of a save."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        idle = bench.fresh()
        idle.ping()
        idle.signal("TERM")
        problems = list(_ended(idle, "SIGTERM", END_SECONDS))
        if problems:
            return problems
        body = usable(bench)
        busy = bench.fresh()
        busy.ping()
        with slow_save(bench, body, 1.0) as (sent, slow):
            pending = busy.call_verb(Verb.SAVE, kind.name, sent, config=bench.fixture.config)
            pause(0.1 if slow else 0.0)
            busy.signal("TERM")
            problems += _ended(busy, "SIGTERM in a save", TERM_SECONDS)
        with suppress(NoAnswer, ConnectionEnded):  # undone or ended: the next process tells
            pending.answer(0.1)
        if not problems and not kind.fixture.ephemeral:
            found = converges(bench, kind, sent, "after SIGTERM")
            problems += [] if found is None else [found]
        return problems


@check("LIF-06", operations={Verb.SAVE, Verb.GET, Verb.DELETE}, kill=True, scope="type")
class Killed(Procedure):
    """SIGKILL within save and delete; a new process answers, converges and has no double."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET, Verb.DELETE)
        if kind.fixture.ephemeral:
            raise NotApplicable("objects of the type live as long as the process")
        for number in range(KILLS):
            body = usable(bench, full=True)
            for verb in (Verb.SAVE, Verb.DELETE):
                moment = bench.random.uniform(0, LATEST_KILL) if number else 0.001
                found = self._one(bench, kind, body, verb, moment)
                if found is not None:
                    return [found]
        return []

    def _one(self, bench: Bench, kind: Kind, body: JsonObject, verb: Verb, moment: float) -> Problem | None:
        doomed = bench.connection()
        doomed.ping()
        sent = body if verb is Verb.SAVE else kind.identifiers(body)
        doomed.call_verb(verb, kind.name, sent, config=bench.fixture.config, config_id=bench.config_id)
        pause(moment)
        when = f"after SIGKILL in a {verb.wire}"
        bench.restart("kill")
        try:
            found = converges(bench, kind, body, when)
        except (NoAnswer, ConnectionEnded, StartFailed) as error:
            return Problem(f"{when} a new process does not work: {error}", "$", f"get {when}")
        if found is not None or verb is Verb.SAVE:
            return found
        gone = bench.delete(body)
        if gone.error is not None:
            return Problem(f"{when} the object cannot be deleted: {gone.error}", "$", f"delete {when}")
        if bench.get(body).ok:
            return Problem(f"{when} one delete leaves an object: there were two", "$.properties", f"delete {when}")
        return None


@check("LIF-07", operations={Verb.SAVE, Verb.GET}, process=True, examples=2)
class NotInMemoryAlone(CaseCheck):
    """A new process knows what the old one saved."""

    def plan(self, draw: Draw, kind: Kind) -> Iterable[Plan]:
        """See `CaseCheck.plan`."""
        if kind.fixture.ephemeral:
            raise NotApplicable("objects of the type live as long as the process")
        desired = kind.valid(draw, full=True)
        named = kind.identifiers(desired)
        yield Plan(
            (
                Call("save", Verb.SAVE, desired),
                Call("control", Verb.GET, named),
                Restart("eof" if draw.boolean() else "shutdown"),
                Call("get", Verb.GET, named),
                Call("save again", Verb.SAVE, desired),
            )
        )

    def judge(self, trial: Trial, kind: Kind) -> list[Problem]:
        """See `CaseCheck.judge`."""
        trial.result("save")
        control = trial.result("control")
        problems: list[Problem] = []
        for step in ("get", "save again"):
            answer = trial[step]
            if answer.error is not None:
                return [Problem(f"a new process answers {step} with {answer.error}", "$", step)]
            ignore = kind.ignored() if step == "get" else about(kind)
            rows = differences(control.properties, answer.properties, ignore=ignore, unordered=kind.fixture.unordered)
            if rows:
                message = f"{step} in a new process shows other values than before"
                problems.append(Problem(message, rows[0].path, step, ("before", "after"), tuple(rows)))
            elif answer.identifiers != control.identifiers:
                problems.append(Problem(f"{step} in a new process has other identifiers", "$.identifiers", step))
        return problems
