"""Keeps the ledger in step with what goes over the wire, for one worker."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from extensor.contract import ErrorCode, Json, JsonObject, Verb
from extensor_conformance.kind import Kind
from extensor_conformance.ledger import Ledger, Made
from extensor_conformance.monitors.base import Exchange, Finding, Monitor

UNTOUCHED = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_PROPERTY,
        ErrorCode.MISSING_PROPERTY,
        ErrorCode.UNKNOWN_PROPERTY,
        ErrorCode.READ_ONLY_PROPERTY,
        ErrorCode.IMMUTABLE_PROPERTY,
        ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED,
        ErrorCode.UNKNOWN_RESOURCE_TYPE,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.OPERATION_NOT_SUPPORTED,
        ErrorCode.UNAUTHORIZED,
        ErrorCode.CONFLICT,
        ErrorCode.CONFIG_MISMATCH,
    }
)
"""Codes of a save that was refused before it touched anything."""


class Tracker(Monitor):
    """Sees saves leave and answers come."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[str, Made] = {}
        self._saved_at: dict[str, float] = {}
        self._told: dict[str, tuple[Made, float]] = {}
        """What a delete was answered for and nobody has looked at since, with the time of the answer."""
        self._lock = threading.Lock()

    def before_save(self, kind: Kind | None, params: JsonObject) -> None:
        """A save is about to leave."""
        identifiers = identifiers_in(kind, params)
        if kind is None or identifiers is None:
            return
        made = self._ledger.before_save(kind.name, identifiers)
        with self._lock:
            self._open.setdefault(made.key, made)
            self._saved_at[made.key] = float("inf")
            self._told.pop(made.key, None)

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """A save or delete was answered."""
        identifiers = identifiers_in(kind, exchange.params)
        answer = exchange.answer
        if kind is not None and identifiers is not None and answer is not None:
            if exchange.verb is Verb.SAVE:
                self._save_answered(kind, identifiers, exchange)
            elif exchange.verb is Verb.DELETE and answer.ok:
                self._deleted(kind, identifiers, exchange.sent_at)
            elif exchange.verb is Verb.GET and answer.has_code(ErrorCode.RESOURCE_NOT_FOUND):
                self._absent(kind, identifiers, exchange.sent_at)
        yield from ()

    def mine(self) -> list[Made]:
        """What this worker made and may still exist, newest first."""
        with self._lock:
            return sorted(self._open.values(), key=lambda made: -made.number)

    def forget(self, made: Made) -> None:
        """It is gone, or will be tried again at the end of the run."""
        with self._lock:
            self._open.pop(made.key, None)
            self._saved_at.pop(made.key, None)

    def doubtful(self) -> list[Made]:
        """What a delete was answered for and nobody has looked at since, newest first."""
        with self._lock:
            return sorted((made for made, _ in self._told.values()), key=lambda made: -made.number)

    @property
    def doubts(self) -> int:
        """How many `doubtful` names."""
        return len(self._told)

    def told_deleted(self, made: Made) -> None:
        """Its delete was answered with success."""
        self.forget(made)
        known = self._ledger.told_deleted(made.type, made.identifiers)
        if known is not None:
            with self._lock:
                self._told[made.key] = (known, time.monotonic())

    def settled(self, made: Made, unverified: str | None) -> None:
        """It is gone; `unverified` says why nobody could look."""
        with self._lock:
            self._told.pop(made.key, None)
        self._ledger.deleted(made.type, made.identifiers, unverified)

    def survived(self, made: Made) -> None:
        """It is still there after all."""
        with self._lock:
            self._told.pop(made.key, None)
        self._ledger.saved(made, made.config_id)

    def _save_answered(self, kind: Kind, identifiers: JsonObject, exchange: Exchange) -> None:
        key = Made(0, kind.name, identifiers).key
        answer = exchange.answer
        assert answer is not None
        with self._lock:
            made = self._open.get(key)
            if made is None:
                return
            self._saved_at[key] = time.monotonic()
        if answer.ok:
            self._ledger.saved(made, answer.config_id)
            with self._lock:
                self._open[key] = replace(made, config_id=answer.config_id or made.config_id, certain=True)
        elif (
            answer.codes
            and UNTOUCHED.issuperset(answer.codes)
            and not _has_resource(answer.error)
            and self._ledger.refused(made)
        ):
            self.forget(made)

    def _deleted(self, kind: Kind, identifiers: JsonObject, sent_at: float) -> None:
        key = Made(0, kind.name, identifiers).key
        with self._lock:
            if self._saved_at.get(key, 0.0) > sent_at:
                return  # a save ran beside the delete: nobody knows which came last
        self.told_deleted(Made(0, kind.name, identifiers))

    def _absent(self, kind: Kind, identifiers: JsonObject, sent_at: float) -> None:
        """A get did not find it. Where reads may be old that says nothing: it may be the time before the save."""
        if kind.fixture.consistency_window > 0:
            return
        with self._lock:
            made, since = self._told.get(Made(0, kind.name, identifiers).key, (None, 0.0))
        if made is not None and since <= sent_at:
            self.settled(made, None)


def _has_resource(error: object) -> bool:
    data = getattr(error, "data", None)
    return isinstance(data, dict) and data.get("resource") is not None


def identifiers_in(kind: Kind | None, params: Json) -> JsonObject | None:
    """What names the object in the params of a verb; `None` when nothing does."""
    if kind is None or not isinstance(params, dict):
        return None
    properties = params.get("properties")
    if not isinstance(properties, dict):
        return None
    found = kind.identifiers(properties)
    return found or None
