"""PROTO-06: messages that are none, each with its number, and the connection lives on."""

from dataclasses import dataclass

from extensor.contract import Json
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import line
from extensor_conformance.connection import Connection
from extensor_conformance.verdicts import Problem


@dataclass(frozen=True)
class Bad:
    """A message and how it has to be refused."""

    name: str
    data: bytes
    code: int
    echo: Json = None


def _nested(levels: int) -> bytes:
    head = b'{"jsonrpc":"2.0","id":"deep","method":"provider/ping","params":{"x":'
    return head + b"[" * levels + b"]" * levels + b"}}\n"


BAD: tuple[Bad, ...] = (
    Bad("half a message", b'{"jsonrpc": "2.0", "id": 1, "method"\n', -32700),
    Bad("no JSON", b"hello?\n", -32700),
    Bad("no UTF-8", b'{"jsonrpc":"2.0","id":2,"method":"provider/ping","params":{"x":"\xff\xfe"}}\n', -32700),
    Bad("not a number", b'{"jsonrpc":"2.0","id":3,"method":"provider/ping","params":{"x":NaN}}\n', -32700),
    Bad("infinity", b'{"jsonrpc":"2.0","id":3,"method":"provider/ping","params":{"x":-Infinity}}\n', -32700),
    Bad("nested too deeply", _nested(140), -32700),
    Bad("a number", b"42\n", -32600),
    Bad("a text", b'"provider/ping"\n', -32600),
    Bad("null", b"null\n", -32600),
    Bad("wrong version", line({"jsonrpc": "1.0", "id": "e1", "method": "provider/ping"}), -32600, "e1"),
    Bad("no version", line({"id": "e2", "method": "provider/ping"}), -32600, "e2"),
    Bad("no method", line({"jsonrpc": "2.0", "id": "e3"}), -32600, "e3"),
    Bad("method is a number", line({"jsonrpc": "2.0", "id": "e4", "method": 1}), -32600, "e4"),
    Bad("id is an object", line({"jsonrpc": "2.0", "id": {}, "method": "provider/ping"}), -32600),
    Bad("unknown method", line({"jsonrpc": "2.0", "id": "e5", "method": "provider/noSuchMethod"}), -32601, "e5"),
    Bad(
        "params is an array",
        line({"jsonrpc": "2.0", "id": "e6", "method": "provider/ping", "params": [1]}),
        -32602,
        "e6",
    ),
    Bad(
        "params is a text", line({"jsonrpc": "2.0", "id": "e7", "method": "resource/get", "params": "x"}), -32602, "e7"
    ),
    Bad(
        "params are missing", line({"jsonrpc": "2.0", "id": "e8", "method": "resource/get", "params": {}}), -32602, "e8"
    ),
)
ENOUGH = 4
"""Problems after which the rest is not tried."""
EMPTY_BATCH = Bad("empty batch", b"[]\n", -32600)


@check("PROTO-06", features={Feature.RAW_FRAMES})
class BadEnvelope(Procedure):
    """Each is sent between two good requests."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        connection = bench.fresh()
        bench.must(connection.ping(), "ping")
        problems: list[Problem] = []
        for bad in BAD:
            found = self._try(connection, bad)
            if found is not None:
                problems.append(found)
            if len(problems) >= ENOUGH:
                return problems
            if not connection.alive:
                connection = bench.fresh()
        if Feature.BATCH in bench.features and connection.hello and connection.hello.capabilities.get("batch") is True:
            problems += self._batches(connection)
        return problems

    def _try(self, connection: Connection, bad: Bad) -> Problem | None:
        try:
            connection.send_raw(bad.data)
            answer = self._answer(connection, bad)
            after = connection.ping()
        except (NoAnswer, ConnectionEnded) as error:
            return Problem(f"after {bad.name}: {error}", "$", bad.name)
        if answer.error is None:
            return Problem(f"{bad.name} is answered with a result", "$.result", bad.name)
        if answer.error.code != bad.code:
            message = f"{bad.name} is refused with {answer.error.code}, not {bad.code}"
            return Problem(message, "$.error.code", bad.name)
        if answer.id != bad.echo:
            return Problem(f"{bad.name} is refused with the id {answer.id!r}, not {bad.echo!r}", "$.id", bad.name)
        if after.error is not None:
            return Problem(f"the request after {bad.name} is refused: {after.error}", "$", bad.name)
        return None

    def _answer(self, connection: Connection, bad: Bad) -> Answer:
        patience = min(connection.timeout, 3.0)
        if bad.echo is None:
            return connection.expect(None).answer(patience)
        try:
            return connection.expect(bad.echo).answer(patience)
        except NoAnswer:
            return connection.expect(None).answer(0.05)

    def _batches(self, connection: Connection) -> list[Problem]:
        empty = self._try(connection, EMPTY_BATCH)
        if empty is not None:
            return [empty]
        name = "batch with a number in it"
        ping = {"jsonrpc": "2.0", "id": "b1", "method": "provider/ping", "params": {}}
        note = {"jsonrpc": "2.0", "method": "$/noSuchThing"}
        try:
            connection.send_raw(line([1, ping, note]))
            good, bad = connection.expect("b1").answer(), connection.expect(None).answer()
            connection.send_raw(line([note, note]))
            connection.settle(0.1)
            connection.ping()
        except (NoAnswer, ConnectionEnded) as error:
            return [Problem(f"{name}: {error}", "$", name)]
        problems: list[Problem] = []
        if good.error is not None:
            problems.append(Problem(f"the request of a {name} is refused: {good.error}", "$", name))
        elif not good.raw.lstrip().startswith(b"["):
            problems.append(Problem(f"a {name} is not answered with one array", "$", name))
        if bad.error is None or bad.error.code != -32600:
            problems.append(Problem(f"the number of a {name} is answered with {bad}, not -32600", "$[0]", name))
        return problems
