"""LIF-08: several clients, one that breaks off or shuts down, a second instance, a socket file that nobody serves."""

import socket
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from extensor.contract import JsonObject, Verb
from extensor.contract.handshake import LIST_TYPES, PING
from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.adapters import Feature
from extensor_conformance.adapters.process import Process
from extensor_conformance.answers import ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import kind_with, pause, slow_save, usable
from extensor_conformance.connection import Connection
from extensor_conformance.subject import Subject
from extensor_conformance.verdicts import Failed, NotApplicable, Problem

REFUSE_SECONDS = 5.0
NOTICE_SECONDS = 1.0
"""Within which a provider sees that a client is gone, and would end of it."""
SLOW_SECONDS = 1.0
ROUNDS = 10
NOT_SERVED = (NoAnswer, ConnectionEnded, ConnectionFailed, StartFailed, Failed)
"""Ways in which it shows that a client is not served; `Failed` when its greeting is refused."""


@check("LIF-08", features={Feature.SOCKET}, process=True)
class Reconnect(Procedure):
    """On a socket; a provider on standard input has one client for life."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        if bench.settings.subject.address is None:
            raise NotApplicable("on standard input there is one client for life")
        first = bench.fresh()
        problems = self._several_clients(bench, first)
        problems += problems or self._second_instance(bench, first)
        problems += problems or self._shut_down_by_one(bench)
        if bench.settings.subject.address == "unix:":
            with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
                problems += self._stale_file(bench, Path(folder))
        return problems

    def _several_clients(self, bench: Bench, first: Connection) -> list[Problem]:
        try:
            second, third = bench.second(first), bench.second(first)
            for number in range(ROUNDS):
                id_ = f"same {number}"
                pings = [(first, first.request(PING, {}, id=id_)), (third, third.request(PING, {}, id=id_))]
                types = second.request(LIST_TYPES, {}, id=id_)
                told = types.answer()
                if told.error is not None or not isinstance(told.result, dict) or "types" not in told.result:
                    message = f"with the same id from three clients one gets another's answer: {told.result}"
                    return [Problem(message, "$.id", "several clients")]
                for _, ping in pings:
                    if ping.answer().result != {}:
                        message = "with the same id from three clients one gets another's answer"
                        return [Problem(message, "$.id", "several clients")]
        except NOT_SERVED as error:
            return [Problem(f"with several clients: {error}", "$", "several clients")]
        return self._breaking_off(bench, first, second, third)

    def _breaking_off(self, bench: Bench, first: Connection, second: Connection, third: Connection) -> list[Problem]:
        """One client leaves before its answer, one in the middle of a message; the first and a new one are served."""
        try:
            second.request(LIST_TYPES, {})
            second.drop()
            third.send_raw(b'{"jsonrpc": "2.0", "id": 5, "meth')
            third.drop()
            code = first.wait_exit(NOTICE_SECONDS)
            if code is not None:
                message = f"after a client broke off the process ended with exit code {code}"
                return [Problem(message, "$", "client breaks off")]
            after = first.ping()
            again = bench.second(first).ping()
        except NOT_SERVED as error:
            return [Problem(f"after a client broke off: {error}", "$", "client breaks off")]
        if after.error is not None or again.error is not None:
            message = f"after a client broke off ping is refused: {after.error or again.error}"
            return [Problem(message, "$", "client breaks off")]
        return []

    def _shut_down_by_one(self, bench: Bench) -> list[Problem]:
        """It is for the whole provider: others' work under way is answered, and nobody is served after it."""
        step = "shutdown by another"
        bench.kind = kind = kind_with(bench, Verb.SAVE)
        if kind is None:
            return []
        about: JsonObject = {"config": bench.fixture.config, "config_id": bench.config_id}
        try:
            owner = bench.fresh()
            guest = bench.second(owner)
            with slow_save(bench, usable(bench), SLOW_SECONDS) as (body, slow):
                pending = guest.call_verb(Verb.SAVE, kind.name, body, **about)
                guest.ping()  # the save was read before
                pause(0.1 if slow else 0.0)
                shutdown = owner.shutdown()
                pending.answer()
        except NOT_SERVED as error:
            message = f"a save under way when another client shuts the provider down: {error}"
            return [Problem(message, "$", step)]
        if shutdown.error is not None:
            return [Problem(f"shutdown is refused: {shutdown.error}", "$", step)]
        with suppress(*NOT_SERVED):  # to be gone is an end too
            for client in (guest, owner, bench.second(owner)):
                answer = client.call(Verb.SAVE, kind.name, body, **about)
                if not answer.has_code("Unavailable"):
                    what = answer.error or "a result"
                    message = f"after the shutdown a save of another client is answered with {what}, not Unavailable"
                    return [Problem(message, "$.error.data.errors[0].code", step)]
        return []

    def _second_instance(self, bench: Bench, first: Connection) -> list[Problem]:
        subject = getattr(first, "subject", None)
        if not isinstance(subject, Subject):
            return []
        with Path("/dev/null").open("r+b") as null:
            try:
                process = Process.start(subject, stdin=null.fileno(), stdout=null.fileno(), stderr=null.fileno())
            except StartFailed:
                return []
            try:
                code = process.wait(REFUSE_SECONDS)
            finally:
                process.close(patient=False)
        problems: list[Problem] = []
        if code is None:
            message = f"a second instance on an address that is served still runs after {REFUSE_SECONDS:g} s"
            problems.append(Problem(message, "$", "second instance"))
        elif code == 0:
            message = "a second instance on an address that is served ends with 0, as if all were well"
            problems.append(Problem(message, "$", "second instance"))
        try:
            served = first.ping().ok and bench.second(first).ping().ok
        except NOT_SERVED as error:
            return [*problems, Problem(f"after a second instance: {error}", "$", "second instance")]
        if not served:
            problems.append(Problem("after a second instance ping is refused", "$", "second instance"))
        return problems

    def _stale_file(self, bench: Bench, folder: Path) -> list[Problem]:
        subject = bench.settings.subject.placed(lambda: folder)
        place = Path(str(subject.address).partition(":")[2])
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(place))
        left.close()
        added = {**subject.env, **bench.fixture.env}
        opened = None
        try:
            opened = bench.adapter.open(
                replace(subject, env=added), bench.watch, name="stale", start_timeout=bench.settings.start_timeout
            )
            opened.timeout = bench.settings.timeout
            opened.greet(timeout=bench.settings.start_timeout)
        except NOT_SERVED as error:
            message = f"with a socket file that nobody serves the provider does not start: {error}"
            return [Problem(message, "$", "stale socket file")]
        finally:
            if opened is not None:
                opened.close(patient=False)
        return []
