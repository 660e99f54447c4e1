"""SEC-01, SEC-03, SEC-04: canaries in results, errors and logs. SEC-02: secrets of the configuration anywhere.

A sensitive property that is not write-only may come back in its own place (P-RESULT-01); nowhere else.
"""

import json
from collections.abc import Iterator

from extensor.contract import Json, JsonObject
from extensor.contract.handshake import LOG
from extensor.contract.redaction import MASK
from extensor_conformance.canary import Canaries, Needles
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.verdicts import Problem

RESULTS, CONFIG, ERRORS, LOGS = "SEC-01", "SEC-02", "SEC-03", "SEC-04"
SHORTEST = 8
"""Shorter secrets of a configuration occur by chance."""


class SecretMonitor(Monitor):
    """Looks for the run's canaries, and for the secrets of the fixture."""

    checks = (RESULTS, CONFIG, ERRORS, LOGS)

    def __init__(self, canaries: Canaries, secrets: tuple[str, ...] = ()) -> None:
        self._canaries = canaries.needles
        self._secrets = Needles(secret for secret in secrets if len(secret) >= SHORTEST)
        self._has_secrets = bool(secrets)
        self._seen: set[tuple[str, str | None]] = set()

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """See `Monitor.answered`."""
        answer = exchange.answer
        if answer is None:
            return
        if self._has_secrets:
            self._seen |= {(CONFIG, None), (LOGS, None)}
        if kind is not None and kind.secretive:
            self._seen |= {(ERRORS if answer.error is not None else RESULTS, kind.name), (LOGS, kind.name)}
        yield from self._config_secret(answer.raw, f"the answer of {exchange.method}")
        if not self._canaries.found_in(answer.raw):
            return
        type_ = kind.name if kind is not None else None
        if answer.error is not None:
            error = {"code": answer.error.code, "message": answer.error.message, "data": answer.error.data}
            for path in _places(error, self._canaries, "$.error"):
                yield Finding(ERRORS, type_, Problem(f"an error of {exchange.method} holds a secret value", path))
            return
        for path in _places(_without_own_places(answer.result, kind), self._canaries, "$"):
            yield Finding(RESULTS, type_, Problem(f"the result of {exchange.method} holds a secret value", path))

    def notified(self, message: JsonObject, raw: bytes, connection: str) -> Iterator[Finding]:
        """See `Monitor.notified`."""
        del connection
        what = f"a notification {message.get('method')}"
        yield from self._config_secret(raw, what)
        if self._canaries.found_in(raw):
            check = LOGS if message.get("method") == LOG else RESULTS
            yield Finding(check, None, Problem(f"{what} holds a secret value"))

    def garbage(self, raw: bytes, reason: str, connection: str) -> Iterator[Finding]:
        """See `Monitor.garbage`."""
        del reason, connection
        yield from self._config_secret(raw, "the provider's output")
        if self._canaries.found_in(raw):
            yield Finding(RESULTS, None, Problem("the provider's output holds a secret value"))

    def logged(self, text: bytes, connection: str) -> Iterator[Finding]:
        """See `Monitor.logged`."""
        del connection
        if self._canaries.found_in(text):
            yield Finding(LOGS, None, Problem("the provider's log on stderr holds a secret value"))
        if self._secrets.found_in(text):
            yield Finding(LOGS, None, Problem("the provider's log on stderr holds a secret of the configuration"))

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset(self._seen)

    def _config_secret(self, raw: bytes, what: str) -> Iterator[Finding]:
        if self._secrets.found_in(raw):
            yield Finding(CONFIG, None, Problem(f"{what} holds a secret of the configuration"))


def _without_own_places(result: Json, kind: Kind | None) -> Json:
    """The result with sensitive properties masked where they belong; write-only ones belong nowhere."""
    if kind is None or not isinstance(result, dict) or not isinstance(result.get("properties"), dict):
        return result
    properties = result["properties"]
    hidden = kind.shape.without_write_only(properties)
    if hidden == properties:
        return {**result, "properties": kind.shape.mask(properties)}
    masked = kind.shape.mask(hidden)
    return {**result, "properties": _overlaid(properties, masked)}


def _overlaid(whole: Json, masked: Json) -> Json:
    """`whole`, with every place that `masked` has taken from there."""
    if isinstance(whole, dict) and isinstance(masked, dict):
        return {key: _overlaid(value, masked[key]) if key in masked else value for key, value in whole.items()}
    if isinstance(whole, list) and isinstance(masked, list) and len(whole) == len(masked):
        return [_overlaid(one, other) for one, other in zip(whole, masked, strict=True)]
    return MASK if masked == MASK else masked


def _places(value: Json, needles: Needles, path: str) -> Iterator[str]:
    """The innermost places that hold a secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}.{key}" if key.isidentifier() else f"{path}['{key}']"
            if needles.found_in(key.encode("utf-8", "surrogatepass")):
                yield path
            yield from _places(item, needles, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, needles, f"{path}[{index}]")
    elif (isinstance(value, str) and needles.found_in(value.encode("utf-8", "surrogatepass"))) or (
        isinstance(value, int | float) and needles.found_in(json.dumps(value).encode())
    ):
        yield path
