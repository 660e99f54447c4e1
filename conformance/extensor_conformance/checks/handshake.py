"""PROTO-01: how a provider greets, and what it does with requests before it has."""

import re
from collections.abc import Iterator

from extensor.contract import Json, JsonObject, RpcCode, Verb
from extensor.contract.handshake import INITIALIZE, LIST_TYPES, PING
from extensor_conformance.adapters import Feature
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import call_message, greeting, kind_with
from extensor_conformance.verdicts import Problem, Severity

VERSION = "1"
CAPABILITIES = ("cancel", "progress", "batch")
LIMITS = ("maxMessageBytes", "maxConcurrentRequests")
_PART = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMANTIC = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    rf"(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_BEFORE = "before the handshake"
_TOKEN = "wrong token"  # noqa: S105 - a step's name


@check("PROTO-01", features={Feature.HANDSHAKE})
class Handshake(Procedure):
    """The first answer says who is there and what it takes, and a request before it is no accident."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        problems = list(self._greeting(bench))
        problems += self._malformed(bench)
        problems += self._before(bench)
        if Feature.TOKEN in bench.features and bench.settings.subject.owned:
            problems += self._wrong_token(bench)
        return problems

    def _greeting(self, bench: Bench) -> Iterator[Problem]:
        connection = bench.fresh(greet=False)
        try:
            answer = greeting(connection, [VERSION], timeout=bench.settings.start_timeout)
        except (NoAnswer, ConnectionEnded) as error:
            yield Problem(f"{INITIALIZE}: {error}", "$", "greeting")
            return
        if answer.error is not None:
            yield Problem(f"{INITIALIZE} is refused: {answer.error}", "$", "greeting")
        elif not isinstance(answer.result, dict):
            yield Problem(f"{INITIALIZE} is answered with no object", "$", "greeting")
        else:
            yield from _result(answer.result)

    def _malformed(self, bench: Bench) -> Iterator[Problem]:
        """A handshake without versions is refused, and the right one after it is taken."""
        connection = bench.fresh(greet=False)
        try:
            refused = greeting(connection, None)
            after = greeting(connection, [VERSION])
        except (NoAnswer, ConnectionEnded) as error:
            yield Problem(f"{INITIALIZE} without protocolVersions: {error}", "$", "malformed")
            return
        if refused.error is None:
            yield Problem(f"{INITIALIZE} without protocolVersions is accepted", "$.protocolVersions", "malformed")
        elif refused.error.code != RpcCode.INVALID_PARAMS:
            message = f"{INITIALIZE} without protocolVersions is refused with {refused.error.code}, not -32602"
            yield Problem(message, "$.error.code", "malformed")
        if after.error is not None:
            yield Problem(f"the handshake after a malformed one is refused: {after.error}", "$", "malformed")

    def _before(self, bench: Bench) -> Iterator[Problem]:
        """Without a token each request is served as after the handshake; with one it is refused as unauthorized."""
        connection = bench.fresh(greet=False)
        guarded = getattr(getattr(connection, "subject", None), "token", None) is not None
        requests = list(self._requests(bench))
        early: list[Answer] = []
        for method, params in requests:
            try:
                early.append(connection.rpc(method, params))
            except (NoAnswer, ConnectionEnded) as error:
                yield Problem(f"{method} before the handshake: {error}", "$", _BEFORE)
                return
        try:
            hello = greeting(connection, [VERSION])
            late = [connection.rpc(method, params) for method, params in requests]
        except (NoAnswer, ConnectionEnded) as error:
            yield Problem(f"after requests before the handshake: {error}", "$", _BEFORE)
            return
        if hello.error is not None:
            yield Problem(f"after requests before it the handshake is refused: {hello.error}", "$", _BEFORE)
        for (method, _), before, after in zip(requests, early, late, strict=True):
            if guarded and not before.has_code("Unauthorized"):
                message = f"{method} before the handshake is answered with {_told(before)}, not Unauthorized"
                yield Problem(message, "$.error", _BEFORE)
            elif not guarded and _kind_of(before) != _kind_of(after):
                message = (
                    f"{method} before the handshake is answered with {_told(before)}, after it with {_told(after)}"
                )
                yield Problem(message, "$.error", _BEFORE)

    def _requests(self, bench: Bench) -> Iterator[tuple[str, Json]]:
        yield PING, {}
        yield LIST_TYPES, {}
        kind = kind_with(bench, Verb.GET)
        if kind is not None:
            bench.kind = kind
            named = kind.identifiers(bench.valid())
            bench.kind = None
            yield Verb.GET.method, call_message(bench, Verb.GET, kind, named, None)["params"]

    def _wrong_token(self, bench: Bench) -> Iterator[Problem]:
        connection = bench.fresh(greet=False)
        try:
            for token in (None, "not the token"):
                answer = greeting(connection, [VERSION], token=token)
                if not answer.has_code("Unauthorized"):
                    what = "no token" if token is None else "another token"
                    message = f"a handshake with {what} is answered with {_told(answer)}, not Unauthorized"
                    yield Problem(message, "$.token", _TOKEN)
                    return
            after = connection.ping()
        except (NoAnswer, ConnectionEnded) as error:
            yield Problem(f"a handshake with another token: {error}", "$.token", _TOKEN)
            return
        if not after.has_code("Unauthorized"):
            yield Problem("after a handshake with another token calls are served", "$.error", _TOKEN)


def is_semantic(version: str) -> bool:
    """Whether a text is a version of Semantic Versioning 2.0."""
    return _SEMANTIC.fullmatch(version) is not None


def _result(result: JsonObject) -> Iterator[Problem]:
    told = result.get("protocolVersion")
    if told != VERSION:
        message = f"asked for protocol version {VERSION} alone, it answers {told!r}"
        yield Problem(message, "$.protocolVersion", "greeting")
    provider = result.get("provider")
    named: JsonObject = provider if isinstance(provider, dict) else {}
    name, version = named.get("name"), named.get("version")
    if not isinstance(name, str) or not name:
        yield Problem("the provider has no name", "$.provider.name", "greeting")
    if not isinstance(version, str) or not is_semantic(version):
        message = f"the provider's version {version!r} is none of Semantic Versioning"
        yield Problem(message, "$.provider.version", "greeting")
    yield from _members(result, "capabilities", CAPABILITIES)
    yield from _members(result, "limits", LIMITS)


def _members(result: JsonObject, group: str, names: tuple[str, ...]) -> Iterator[Problem]:
    """What is wrong with capabilities or limits; to leave them out is less than to tell them wrongly."""
    told = result.get(group)
    if told is None:
        yield Problem(f"{group} are not told", f"$.{group}", "greeting", severity=Severity.SHOULD)
    elif not isinstance(told, dict):
        yield Problem(f"{group} are no object", f"$.{group}", "greeting")
    else:
        for name in names:
            value = told.get(name)
            if group == "limits" and (not isinstance(value, int) or isinstance(value, bool) or value <= 0):
                message = f"{name} is {value!r}, and no whole number above zero"
                yield Problem(message, f"$.limits.{name}", "greeting")
            elif group == "capabilities" and name in told and not isinstance(value, bool):
                message = f"the capability {name} is {value!r}, neither true nor false"
                yield Problem(message, f"$.capabilities.{name}", "greeting")


def _kind_of(answer: Answer) -> Json:
    return [answer.error.code, sorted(answer.codes)] if answer.error is not None else "served"


def _told(answer: Answer) -> str:
    return str(answer.error) if answer.error is not None else "a result"
