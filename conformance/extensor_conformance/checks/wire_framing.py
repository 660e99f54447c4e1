"""PROTO-04: the same session in other pieces gives the same answers. PROTO-08: messages that are too long."""

from collections.abc import Iterator, Sequence

from extensor.contract import Json, JsonObject, RpcCode, Verb
from extensor.contract.handshake import GET_TYPE_FILES, PING
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import call_message, first_of, kind_with, line, pause
from extensor_conformance.compare import differences
from extensor_conformance.connection import Connection
from extensor_conformance.kind import Kind
from extensor_conformance.verdicts import NotTested, Problem

NOTE = "é 😀 \u2028 \u2029 \u0085 \r ende"
"""Characters of two to four bytes, and those at which careless readers end a line."""
LARGEST_SENT = 64 * 1024 * 1024
LONG_ANSWER = 768
"""Bytes that the answer with the types must have, so that an error in its place is shorter by enough."""
MARGIN = 128
"""Bytes between the limit and an answer that is just below or above it."""
_PIECE_SECONDS = 0.002


@check("PROTO-04", features={Feature.RAW_FRAMES})
class Pieces(Procedure):
    """One session, cut and joined in different ways, in both framings."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        kind = kind_with(bench, Verb.PREVIEW_SAVE)
        messages = [*self._session(bench, kind)]
        connection = bench.fresh()
        usual: list[Answer] = []
        for message in messages:
            try:
                usual += self._ask(connection, [line(message)], [message["id"]])
            except (NoAnswer, ConnectionEnded) as error:
                return [Problem(f"one message alone, with {NOTE!r} in it: {error}", "$.params", "one by one")]
        problems: list[Problem] = []
        whole = b"".join(line(message) for message in messages)
        ids = [message["id"] for message in messages]
        small = line(messages[0])
        ways: list[tuple[str, list[bytes], list[Json], list[Answer]]] = [
            ("all at once", [whole], ids, usual),
            ("cut inside characters", list(_inside_characters(whole)), ids, usual),
            ("byte by byte", [bytes([byte]) for byte in small], ids[:1], usual[:1]),
            ("blank lines between", [b"\n", b" \n", small], ids[:1], usual[:1]),
        ]
        for name, pieces, wanted, expected in ways:
            problems += self._compare(name, connection, pieces, wanted, expected, kind)
            if problems:
                return problems
        if Feature.HEADERS in bench.features:
            problems += self._headers(bench, messages, usual, kind)
        return problems

    def _headers(
        self, bench: Bench, messages: list[JsonObject], usual: list[Answer], kind: Kind | None
    ) -> list[Problem]:
        ids = [message["id"] for message in messages]
        connection = bench.fresh(greet=False, framing="headers")
        try:
            connection.greet(timeout=connection.timeout)
        except NoAnswer as error:
            return [Problem(f"a session with headers is not answered: {error}", step="headers")]
        plain = b"".join(_headed(message, "Content-Length: %d\r\n") for message in messages)
        odd = b"".join(
            _headed(message, "X-Other: a: b\r\ncontent-LENGTH:   %d  \r\nContent-Type: application/json\r\n")
            for message in messages
        )
        cuts = list(_inside_characters(plain))
        problems: list[Problem] = []
        for name, pieces in (("headers", [plain]), ("headers, cut", cuts), ("headers with others", [odd])):
            problems += problems or self._compare(name, connection, pieces, ids, usual, kind)
        return problems

    def _session(self, bench: Bench, kind: Kind | None) -> Iterator[JsonObject]:
        yield {"jsonrpc": "2.0", "id": "a1", "method": "provider/ping", "params": {"note": NOTE}}
        yield {"jsonrpc": "2.0", "id": "a2", "method": "provider/listTypes", "params": {}}
        if kind is not None:
            bench.kind = kind
            yield call_message(bench, Verb.PREVIEW_SAVE, kind, bench.valid(full=True), "a3")
            bench.kind = None
        yield {"jsonrpc": "2.0", "id": "a4", "method": f"noSuch/{NOTE}", "params": {}}

    def _ask(self, connection: Connection, pieces: Sequence[bytes], ids: Sequence[Json]) -> list[Answer]:
        for index, piece in enumerate(pieces):
            if index:
                pause(_PIECE_SECONDS)
            connection.send_raw(piece)
        return [connection.expect(id_).answer() for id_ in ids]

    def _compare(
        self,
        name: str,
        connection: Connection,
        pieces: Sequence[bytes],
        ids: Sequence[Json],
        usual: Sequence[Answer],
        kind: Kind | None,
    ) -> list[Problem]:
        try:
            answers = self._ask(connection, pieces, ids)
        except (NoAnswer, ConnectionEnded) as error:
            return [Problem(f"a session sent {name} is not answered: {error}", step=name)]
        for id_, answer, expected in zip(ids, answers, usual, strict=True):
            if _same(answer, expected, kind):
                continue
            message = f"sent {name}, request {id_} is answered with {answer}, and with {expected} when sent alone"
            return [Problem(message, "$.result", name)]
        return []


def _same(answer: Answer, expected: Answer, kind: Kind | None) -> bool:
    if answer.error is not None or expected.error is not None:
        one, other = answer.error, expected.error
        return one is not None and other is not None and (one.code, one.codes) == (other.code, other.codes)
    ignore = kind.ignored() if kind is not None else ()
    return not differences(answer.properties, expected.properties, ignore=ignore)


def _headed(message: JsonObject, head: str) -> bytes:
    body = line(message)[:-1]
    return (head % len(body)).encode() + b"\r\n" + body


def _inside_characters(data: bytes) -> Iterator[bytes]:
    """Pieces whose ends lie within a character of several bytes, as often as there is one (up to forty)."""
    start = 0
    cuts = [index for index, byte in enumerate(data) if byte & 0xC0 == 0x80]
    for cut in cuts[:: max(1, len(cuts) // 40)]:
        if cut > start:
            yield data[start:cut]
            start = cut
    yield data[start:]


@check("PROTO-08", features={Feature.RAW_FRAMES})
class SizeLimit(Procedure):
    """A message above the declared limit is refused, one just below it is served; an answer above it is not sent.

    What makes an answer as long as one likes is its id: any text, and it comes back.
    """

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        assert bench.provider is not None
        limit = bench.provider.limits.max_message_bytes
        if limit > LARGEST_SENT:
            raise NotTested(f"the declared limit of {limit} bytes is more than the kit sends")
        connection = bench.fresh()
        connection.timeout = max(connection.timeout, 30.0)
        bench.must(self._padded(connection, "below", limit - 1024), "a message just below the limit")
        try:
            refused = self._padded(connection, "above", limit + 1024)
        except ConnectionEnded as error:
            return [Problem(f"a message above the limit ends the connection: {error}", "$", "above")]
        problems: list[Problem] = []
        if refused.error is None:
            problems.append(Problem(f"a message above the declared limit of {limit} bytes is served", "$", "above"))
        elif refused.error.code != RpcCode.MESSAGE_TOO_LARGE:
            message = f"a message above the limit is refused with {refused.error.code}, not -32011"
            problems.append(Problem(message, "$.error.code", "above"))
        after = self._after(connection, "after", "a message above the limit")
        return [*problems, *after] if problems or after else self._answers(bench, connection, limit)

    def _answers(self, bench: Bench, connection: Connection, limit: int) -> list[Problem]:
        usual = len(bench.must(connection.type_files(), GET_TYPE_FILES).raw)
        if usual < LONG_ANSWER:
            raise NotTested(
                f"the longest answer that can be asked for has {usual} bytes: none above the limit can be had"
            )
        control = self._named(connection, "b" * (limit - usual - MARGIN))
        bench.must(control, "an answer just below the limit")
        try:
            answer = self._named(connection, "a" * (limit - usual + MARGIN))
        except (NoAnswer, ConnectionEnded) as error:
            return [Problem(f"an answer above the limit: {error}", "$", "answer above")]
        problems: list[Problem] = []
        if answer.error is None:
            message = f"an answer of {len(answer.raw)} bytes is sent, above the declared limit of {limit}"
            problems.append(Problem(message, "$.result", "answer above"))
        elif answer.error.code != RpcCode.MESSAGE_TOO_LARGE:
            message = f"in place of an answer above the limit there is {answer.error.code}, not -32011"
            problems.append(Problem(message, "$.error.code", "answer above"))
        return [*problems, *self._after(connection, "after the answer", "an answer above the limit")]

    def _after(self, connection: Connection, step: str, what: str) -> list[Problem]:
        try:
            after = connection.ping()
        except (NoAnswer, ConnectionEnded) as error:
            return [Problem(f"after {what}: {error}", "$", step)]
        return [Problem(f"the request after {what} is refused: {after.error}", "$", step)] if after.error else []

    def _padded(self, connection: Connection, name: str, size: int) -> Answer:
        frame = line({"jsonrpc": "2.0", "id": name, "method": PING, "params": {"pad": ""}})
        connection.send_raw(frame[:-4] + b"x" * (size - len(frame)) + frame[-4:])
        awaited = [connection.expect(name)]
        if name == "above":
            awaited.append(connection.expect(None))  # its id may not have been read
        return first_of(awaited, connection.timeout)

    def _named(self, connection: Connection, name: str) -> Answer:
        return connection.request(GET_TYPE_FILES, {}, id=name).answer(connection.timeout)
