"""LIF-01, LIF-02 and LIF-03: calls that are cancelled or out of time."""

import json
import time

from extensor.contract import JsonObject, RpcCode, Verb
from extensor.contract.handshake import CANCEL
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import operable, pause, slow_save, state_problem, usable
from extensor_conformance.connection import Connection, Pending
from extensor_conformance.kind import Kind
from extensor_conformance.verdicts import NotTested, Problem

SLOW_SECONDS = 6.0
"""How long a save is made to take, where that can be told."""
GRACE = 3.0
"""Seconds within which a cancelled or overdue call has to be answered."""
LATE_SECONDS = 0.3
"""How long the kit listens for a second answer."""
DEADLINE = 0.3
STATIC = frozenset({"InvalidRequest", "InvalidProperty", "MissingProperty", "UnknownProperty", "ReadOnlyProperty"})
"""Codes of what the request itself tells, whatever was before."""
MOMENTS = (0.0, 0.001, 0.01, 0.05, 0.2)
"""Seconds between a save and its cancel."""


def _send(bench: Bench, kind: Kind, body: JsonObject, context: JsonObject | None = None) -> Pending:
    bench.calls += 1
    config, config_id = bench.fixture.config, bench.config_id
    return bench.connection().call_verb(Verb.SAVE, kind.name, body, config=config, config_id=config_id, context=context)


def answers_to(bench: Bench, connection: Connection, id_: object) -> int:
    """How many answers came to a request in this case."""
    count = 0
    for entry in bench.watch.transcript.entries():
        if entry.direction != "<" or entry.connection != connection.name:
            continue
        try:
            message = json.loads(entry.text)
        except ValueError:
            continue
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, dict) and "method" not in item and item.get("id") == id_:
                count += 1
    return count


@check("LIF-01", operations={Verb.SAVE}, features={Feature.CANCEL}, scope="type")
class CancelAnswered(Procedure):
    """One answer in time to a cancelled save; cancels that mean nothing are passed over."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE)
        bench.must(bench.save(usable(bench)), "the control")
        problems: list[Problem] = []
        with slow_save(bench, usable(bench), SLOW_SECONDS) as (body, slow):
            pending = _send(bench, kind, body)
            pause(0.1 if slow else 0.0)
            pending.cancel()
            try:
                answer = pending.answer(GRACE)
            except NoAnswer:
                bench.suspect()
                message = f"a cancelled save is not answered within {GRACE:g} s"
                return [Problem(message, "$", "cancel")]
        problems += _canceled(answer)
        connection = bench.connection()
        done = _send(bench, kind, usable(bench))
        done.answer()
        done.cancel()
        for id_ in ("no-such-id", 10**9, None):
            connection.notify(CANCEL, {"id": id_})
        connection.settle(LATE_SECONDS)
        after = connection.ping()
        if after.error is not None:
            problems.append(
                Problem(f"after cancels of nothing ping is refused: {after.error}", "$", "cancel of nothing")
            )
        for step, one in (("cancel", pending), ("cancel of what has ended", done)):
            count = answers_to(bench, connection, one.id)
            if count > 1:
                problems.append(Problem(f"{step}: the request was answered {count} times", "$.id", step))
        return problems


def _canceled(answer: Answer) -> list[Problem]:
    if answer.error is None or answer.error.transient:
        return []
    if answer.codes and STATIC.issuperset(answer.codes):
        raise NotTested(f"the control is refused: {answer.error}")
    if answer.error.code != RpcCode.CANCELED:
        message = f"a cancelled save is answered with {answer.error}, not with -32800 or its result"
        return [Problem(message, "$.error.code", "cancel")]
    if not answer.has_code("Canceled"):
        message = f"a cancelled save carries {', '.join(answer.codes) or 'no code'}, not Canceled"
        return [Problem(message, "$.error.data.errors[0].code", "cancel")]
    return []


@check("LIF-02", operations={Verb.SAVE, Verb.GET}, features={Feature.CANCEL}, scope="type")
class CancelClean(Procedure):
    """Saves cancelled at several moments; then the object is absent or complete, and the next save converges."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        for number, moment in enumerate(MOMENTS):
            body = usable(bench, full=True)
            if number == len(MOMENTS) - 1:
                with slow_save(bench, body, SLOW_SECONDS) as (slow_body, _):
                    found = self._one(bench, kind, slow_body, moment)
            else:
                found = self._one(bench, kind, body, moment)
            if found is not None:
                return [found]
        return []

    def _one(self, bench: Bench, kind: Kind, body: JsonObject, moment: float) -> Problem | None:
        pending = _send(bench, kind, body)
        pause(moment)
        if not pending.answered:
            pending.cancel()
        pending.answer(max(GRACE, bench.connection().timeout))
        return converges(bench, kind, body, f"after a cancel at {moment * 1000:g} ms")


def converges(bench: Bench, kind: Kind, body: JsonObject, when: str) -> Problem | None:
    """What is wrong after a save that was cut short: get has to show nothing or all, the next save all."""
    got = bench.get(body)
    if got.error is not None and not got.has_code("ResourceNotFound"):
        return state_problem(bench, kind, got, None, f"get {when}")
    again = bench.save(body)
    if again.error is not None:
        if again.codes and STATIC.issuperset(again.codes):
            raise NotTested(f"the control is refused: {again.error}")
        return Problem(f"{when}: the next save is refused: {again.error}", "$", f"save {when}")
    found = state_problem(bench, kind, got, again.properties, f"get {when}")
    if found is not None:
        return found
    last = bench.get(body)
    if last.error is not None:
        return Problem(f"{when}: get after the next save fails: {last.error}", "$", f"get again {when}")
    return state_problem(bench, kind, last, again.properties, f"get again {when}")


@check("LIF-03", operations={Verb.SAVE, Verb.GET}, features={Feature.DEADLINE}, scope="type")
class Deadline(Procedure):
    """A save that is out of time: one answer soon after, no second one, and get tells how things stand."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        bench.must(bench.save(usable(bench), context={"deadlineSeconds": 30}), "a save with time enough")
        body = usable(bench)
        with slow_save(bench, body, SLOW_SECONDS) as (sent, slow):
            begun = time.monotonic()
            pending = _send(bench, kind, sent, context={"deadlineSeconds": DEADLINE if slow else 0.001})
            try:
                answer = pending.answer(DEADLINE + GRACE)
            except NoAnswer:
                bench.suspect()
                message = f"{time.monotonic() - begun:.1f} s after a deadline of {DEADLINE:g} s there is no answer"
                return [Problem(message, "$.context.deadlineSeconds", "deadline")]
        problems: list[Problem] = []
        if answer.error is not None and answer.codes and STATIC.issuperset(answer.codes):
            raise NotTested(f"the control is refused: {answer.error}")
        if answer.error is not None and not answer.has_code("DeadlineExceeded") and not answer.error.transient:
            message = f"a save that is out of time is answered with {answer.error}, not DeadlineExceeded"
            problems.append(Problem(message, "$.error.data.errors[0].code", "deadline"))
        connection = bench.connection()
        connection.settle(LATE_SECONDS)
        connection.ping()
        count = answers_to(bench, connection, pending.id)
        if count > 1:
            problems.append(Problem(f"a save that was out of time was answered {count} times", "$.id", "deadline"))
        found = converges(bench, kind, sent, "after the deadline")
        return problems if found is None else [*problems, found]
