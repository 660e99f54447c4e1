"""Plays the steps of a case on a bench."""

import threading
import time
from typing import TYPE_CHECKING

from extensor.contract import Json, JsonObject, Verb
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer
from extensor_conformance.case import Case, Seen, Trial
from extensor_conformance.connection import Connection, Pending
from extensor_conformance.kind import Kind
from extensor_conformance.patience import READS
from extensor_conformance.steps import (
    LAST,
    Answered,
    Call,
    Drop,
    Notify,
    Parallel,
    ProbeStep,
    Raw,
    Request,
    Restart,
    Step,
    Value,
    Wait,
    pick,
    without,
)
from extensor_conformance.verdicts import NotTested

if TYPE_CHECKING:
    from extensor_conformance.bench import Bench


def play(bench: "Bench", case: Case) -> Trial:
    """Send the steps in order.

    A step whose connection ended is recorded as broken, and the next one is played on a new connection. After a step
    that was not answered in time nothing more is played. Raises `NotTested` for a value that comes from an answer which
    is not there.
    """
    trial = Trial(case)
    player = _Player(bench, trial)
    for step in case.steps:
        if trial.silent:
            break
        player.play(step)
    return trial


class _Player:
    def __init__(self, bench: "Bench", trial: Trial) -> None:
        self._bench = bench
        self._trial = trial
        self._clients: dict[str, Connection] = {}

    def play(self, step: Step) -> None:
        match step:
            case Call():
                self._call(step)
            case Request():
                self._request(step)
            case Notify():
                self._bench.connection().notify(step.method, self._value(step.params))
            case Raw():
                self._raw(step)
            case Parallel():
                self._parallel(step)
            case Restart():
                _pause(step.after)
                self._bench.restart(step.how)
            case Drop():
                self._drop(step)
            case Wait():
                _pause(step.seconds)
            case ProbeStep():
                self._probe(step)

    def _call(self, step: Call) -> None:
        sent = self._value(step.properties)
        self._bench.settle(step.verb, sent)
        try:
            pending = self._send(step, sent)
            answer = _finish(step, pending)
        except (NoAnswer, ConnectionEnded) as error:
            self._broken(step.name, step, error, sent)
            return
        if answer.config_id is not None:
            self._bench.config_id = answer.config_id
        self._trial.seen[step.name] = Seen(step, answer, None, _object(sent))

    def _send(self, step: Call, properties: Json) -> Pending:
        bench = self._bench
        kind = self._kind()
        config = self._value(step.config)
        if step.config_unknown:
            if not bench.fixture.config:
                raise NotTested("the provider is given no configuration: [config]")
            config = {name: {"$unknown": {}} for name in bench.fixture.config}
        config_id = bench.config_id if step.config_id == LAST else self._value(step.config_id)
        bench.pace()
        return self._client(step.connection).call_verb(
            step.verb,
            step.type or kind.name,
            properties,
            config=config if config is not None else bench.fixture.config,
            config_id=config_id,
            context=step.context,
            provider=step.provider,
            version=step.version,
        )

    def _request(self, step: Request) -> None:
        try:
            answer = self._bench.connection().request(step.method, self._value(step.params)).answer(step.timeout)
        except (NoAnswer, ConnectionEnded) as error:
            self._broken(step.name, step, error, None)
        else:
            self._trial.seen[step.name] = Seen(step, answer)

    def _raw(self, step: Raw) -> None:
        connection = self._bench.connection()
        try:
            connection.send_raw(step.data)
        except (NoAnswer, ConnectionEnded) as error:
            self._broken(f"{step.name}[0]", step, error, None)
            return
        for index, id_ in enumerate(step.ids):
            name = f"{step.name}[{index}]"
            try:
                self._trial.seen[name] = Seen(step, connection.expect(id_).answer())
            except (NoAnswer, ConnectionEnded) as error:
                self._broken(name, step, error, None)

    def _parallel(self, step: Parallel) -> None:
        for call in step.calls:
            if call.verb in READS:
                self._bench.settle(call.verb, self._value(call.properties))
        began = time.monotonic()
        sent: list[tuple[Call, Json, Pending | Exception]] = []
        for call in sorted(step.calls, key=lambda item: item.delay):
            _pause(began + call.delay - time.monotonic())
            properties = self._value(call.properties)
            try:
                sent.append((call, properties, self._send(call, properties)))
            except (NoAnswer, ConnectionEnded) as error:
                sent.append((call, properties, error))
        for call, properties, pending in sent:
            try:
                if isinstance(pending, Exception):
                    raise pending
                answer = _finish(call, pending)
                self._trial.seen[call.name] = Seen(call, answer, None, _object(properties))
                if answer.config_id is not None:
                    self._bench.config_id = answer.config_id
            except (NoAnswer, ConnectionEnded) as error:
                self._broken(call.name, call, error, properties)

    def _drop(self, step: Drop) -> None:
        bench = self._bench
        call = step.call
        properties = self._value(call.properties)
        pending = self._send(call, properties)
        _pause(step.after)
        answer = pending.answer(0) if pending.answered else None
        broken = None if answer is not None else "the kit dropped the link"
        self._trial.seen[call.name] = Seen(call, answer, broken, _object(properties), dropped=True)
        bench.break_link()

    def _probe(self, step: ProbeStep) -> None:
        identifiers = self._value(step.identifiers)
        if step.verb in ("mutate", "remove"):
            self._bench.patience.changing(self._bench.kind, {"properties": identifiers})
        elif step.verb == "exists":
            self._bench.settle(Verb.GET, identifiers)
        found = self._bench.probe.ask(step.verb, self._kind().name, identifiers, step.change)
        self._trial.seen[step.name] = Seen(step, Answer(found))

    def _client(self, name: str) -> Connection:
        if name == "main":
            return self._bench.connection()
        found = self._clients.get(name)
        if found is None or not found.alive:
            found = self._clients[name] = self._bench.second()
        return found

    def _kind(self) -> Kind:
        kind = self._bench.kind
        if kind is None:
            raise NotTested("the case is about no type")
        return kind

    def _value(self, value: Value) -> Json:
        if not isinstance(value, Answered):
            return value
        answer = self._trial.result(value.step)
        try:
            return without(pick(answer.result, value.path), value.without)
        except LookupError:
            raise NotTested(f"the answer of {value.step} has no {value.path}") from None

    def _broken(self, name: str, step: Step, error: Exception, sent: Json) -> None:
        self._bench.suspect()
        self._trial.silent = self._trial.silent or isinstance(error, NoAnswer)
        self._trial.seen[name] = Seen(step, None, str(error), _object(sent))


def _finish(step: Call, pending: Pending) -> Answer:
    if step.cancel_after is not None:
        _pause(step.cancel_after)
        if not pending.answered:
            pending.cancel()
    return pending.answer(step.timeout)


def _object(value: Json) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _pause(seconds: float) -> None:
    if seconds > 0:
        threading.Event().wait(seconds)
