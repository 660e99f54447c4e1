"""PROTO-05: ids of every kind, many at once, and notifications; `monitors.correlation` sees what belongs to nothing."""

from collections.abc import Sequence

from extensor.contract import Json, Verb
from extensor.contract.handshake import PING
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.connection import Connection, Pending
from extensor_conformance.verdicts import Problem

IDS: tuple[Json, ...] = (0, 7, "7", -1, "", "seven", "ключ ☃", 2**53 + 1, 2**63, 10**30, -(10**30))
"""Ids that a careless provider mixes up, rounds or folds."""
CROWD = 100
QUIET_SECONDS = 0.3
"""After which no answer comes that should not."""


@check("PROTO-05", features={Feature.IDS, Feature.NOTIFICATIONS})
class Correlation(Procedure):
    """Each request is answered once with its own id; notifications are not answered."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        connection = bench.fresh()
        problems = _answers([(id_, connection.request(PING, {}, id=id_)) for id_ in IDS], "ids")
        failing = [(id_, connection.request("provider/noSuchMethod", {}, id=id_)) for id_ in ("failing", 10**20 + 1)]
        problems += _answers(failing, "failing")
        crowd = [(f"crowd-{number}", connection.request(PING, {}, id=f"crowd-{number}")) for number in range(CROWD)]
        problems += _answers(crowd, "crowd")
        problems += _notifications(connection)
        if Feature.BATCH in bench.features and not problems:
            problems += _batch(connection)
        connection.settle(QUIET_SECONDS)
        return problems


def _answers(sent: Sequence[tuple[Json, Pending]], step: str) -> list[Problem]:
    problems: list[Problem] = []
    for id_, pending in sent:
        try:
            came = pending.answer().id
        except NoAnswer:
            problems.append(Problem(f"the request with id {id_!r} was not answered", "$.id", step))
            break
        if type(came) is not type(id_) or came != id_:
            problems.append(Problem(f"the id {id_!r} came back as {came!r}", "$.id", step))
    return problems


def _notifications(connection: Connection) -> list[Problem]:
    """Known, unknown and failing ones; answers to them are the monitor's to see."""
    for method in ("$/noSuchNotification", PING, "provider/noSuchMethod", Verb.GET.method):
        connection.notify(method, {})
    answer = connection.ping()
    connection.settle(QUIET_SECONDS)
    if answer.error is not None:
        return [Problem(f"after notifications ping is answered with {answer.error}", "$.id", "notifications")]
    return []


def _batch(connection: Connection) -> list[Problem]:
    members = [{"method": PING, "id": "one"}, {"method": PING}, {"method": PING, "id": 2}]
    pending = connection.batch(members)
    return _answers([(item.id, item) for item in pending], "batch")
