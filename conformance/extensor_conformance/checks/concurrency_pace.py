"""CON-06: a slow save holds nobody up."""

import time

from extensor.contract import JsonObject, Verb
from extensor.contract.handshake import PING
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import operable, pause, slow_save, usable
from extensor_conformance.kind import Kind
from extensor_conformance.verdicts import Problem

SLOW_SECONDS = 1.5
SOON = 0.5
"""Share of the slow save's time within which others have to be answered."""
QUEUED = 200
BURST = 16


@check("CON-06", operations={Verb.SAVE, Verb.GET}, features={Feature.CONCURRENCY}, scope="type")
class NobodyWaits(Procedure):
    """Get of another object and ping beside a slow save (or many quick ones), and two hundred requests at once."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = operable(bench.kind, Verb.SAVE, Verb.GET)
        other = usable(bench)
        bench.must(bench.save(other), "the control")
        with slow_save(bench, usable(bench), SLOW_SECONDS) as (body, slow):
            problems = self._beside_slow(bench, kind, body, other) if slow else self._beside_many(bench, kind, other)
        return [*problems, *self._queue(bench, kind, other)]

    def _beside_slow(self, bench: Bench, kind: Kind, body: JsonObject, other: JsonObject) -> list[Problem]:
        connection = bench.connection()
        begun = time.monotonic()
        save = connection.call_verb(Verb.SAVE, kind.name, body, config=bench.fixture.config, config_id=bench.config_id)
        pause(0.1)
        ping = connection.request(PING, {})
        get = connection.call_verb(
            Verb.GET, kind.name, kind.identifiers(other), config=bench.fixture.config, config_id=bench.config_id
        )
        seen: list[tuple[str, Answer]] = []
        for step, pending in (("ping", ping), ("get", get)):
            try:
                seen.append((step, pending.answer(connection.timeout)))
            except NoAnswer:
                return [Problem(f"{step} is not answered while a save runs", "$", step)]
        save.answer(connection.timeout)
        whole = time.monotonic() - begun
        if whole < SOON:  # it was not slow after all
            return []
        return [
            Problem(
                f"{step} took {answer.seconds:.2f} s, beside a save of another object that took {whole:.2f} s",
                "$",
                step,
            )
            for step, answer in seen
            if answer.seconds > whole * SOON
        ]

    def _beside_many(self, bench: Bench, kind: Kind, other: JsonObject) -> list[Problem]:
        connection = bench.connection()
        saves = [
            connection.call_verb(
                Verb.SAVE, kind.name, usable(bench), config=bench.fixture.config, config_id=bench.config_id
            )
            for _ in range(BURST)
        ]
        bench.calls += BURST
        problems: list[Problem] = []
        for step in ("ping", "get"):
            answer = connection.ping() if step == "ping" else bench.get(other)
            if answer.error is not None and not answer.error.transient:
                problems.append(Problem(f"{step} beside {BURST} saves fails: {answer.error}", "$", step))
        for save in saves:
            save.answer(connection.timeout)
        return problems

    def _queue(self, bench: Bench, kind: Kind, other: JsonObject) -> list[Problem]:
        connection = bench.connection()
        named = kind.identifiers(other)
        waiting = [
            connection.call_verb(Verb.GET, kind.name, named, config=bench.fixture.config, config_id=bench.config_id)
            if index % 2
            else connection.request(PING, {})
            for index in range(QUEUED)
        ]
        end = time.monotonic() + connection.timeout
        for number, pending in enumerate(waiting):
            try:
                answer = pending.answer(max(0.01, end - time.monotonic()))
            except NoAnswer:
                bench.suspect()
                message = f"of {QUEUED} requests at once, {number} were answered within {connection.timeout:g} s"
                return [Problem(message, "$", "queue")]
            if answer.error is not None and not answer.error.transient:
                return [Problem(f"one of {QUEUED} requests at once fails: {answer.error}", "$", "queue")]
        return []
