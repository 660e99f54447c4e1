"""Which answer belongs to which request, and which belongs to none."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeVar

from extensor.contract import Json
from extensor_conformance.answers import Answer, ConnectionEnded, NoAnswer
from extensor_conformance.connection import Pending
from extensor_conformance.monitors.base import Exchange

V = TypeVar("V")
_REMEMBERED = 1000
"""Answered ids, unclaimed raw requests and early answers without id that are kept."""


class RpcPending(Pending):
    """A request that was sent, or an answer that is awaited after raw bytes."""

    def __init__(self, exchange: Exchange, patience: Callable[[], float], cancel: Callable[[Json], None]) -> None:
        self.id = exchange.id
        self.exchange = exchange
        self._patience = patience
        self._cancel = cancel
        self._done = threading.Event()
        self._ended: str | None = None

    def deliver(self, answer: Answer) -> None:
        """The answer came."""
        self.exchange.answer = answer
        self._done.set()

    def end(self, reason: str) -> None:
        """It will never come."""
        self._ended = reason
        self._done.set()

    @property
    def answered(self) -> bool:
        """See `Pending.answered`."""
        return self._done.is_set() and self.exchange.answer is not None

    def answer(self, timeout: float | None = None) -> Answer:
        """See `Pending.answer`."""
        patience = self._patience() if timeout is None else timeout
        if not self._done.wait(patience):
            raise NoAnswer(f"{self.exchange.method or 'the message'} was not answered within {patience:g} s")
        if self.exchange.answer is None:
            raise ConnectionEnded(self._ended or "the connection ended")
        return self.exchange.answer

    def cancel(self) -> None:
        """See `Pending.cancel`."""
        self._cancel(self.id)


class Correlator:
    """The open requests of one connection. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[str, Json], RpcPending] = {}
        self._unclaimed: OrderedDict[tuple[str, Json], RpcPending] = OrderedDict()
        self._nameless: deque[RpcPending] = deque()
        self._early: deque[Answer] = deque(maxlen=_REMEMBERED)
        self._answered: OrderedDict[tuple[str, Json], None] = OrderedDict()
        self._ended: str | None = None
        self.wild = False
        """Whether raw bytes were sent, so that answers without an id are in order."""

    def register(self, pending: RpcPending) -> None:
        """A request is about to be sent."""
        with self._lock:
            if pending.id is None:
                self._nameless.append(pending)
            else:
                self._open[_key(pending.id)] = pending
                if pending.exchange.wild:
                    _remember(self._unclaimed, _key(pending.id), pending)
            self._end_if_over(pending)

    def claim(self, wanted: RpcPending) -> RpcPending:
        """The pending of a raw request with the id of `wanted`; `wanted` itself when there is none yet.

        Without an id: the next answer that has none, or one that came already.
        """
        with self._lock:
            if wanted.id is not None:
                key = _key(wanted.id)
                found = self._unclaimed.pop(key, None) or self._open.get(key)
                if found is not None:
                    return found
                self._open[key] = wanted
            elif self._early:
                wanted.deliver(self._early.popleft())
            else:
                self._nameless.append(wanted)
            self._end_if_over(wanted)
            return wanted

    def match(self, answer: Answer) -> tuple[RpcPending | None, str | None]:
        """The request that an answer belongs to, no longer open then; and what is wrong with that, if anything."""
        with self._lock:
            if answer.id is None:
                if self._nameless:
                    return self._nameless.popleft(), None
                if not self.wild:
                    return None, "it has no id, and no request was sent without one"
                self._early.append(answer)
                return None, None
            if not isinstance(answer.id, int | float | str):
                return None, "its id is neither a number nor a text"
            key = _key(answer.id)
            pending = self._open.pop(key, None)
            if pending is not None:
                _remember(self._answered, key, None)
                return pending, None
            if key in self._answered:
                return None, "the request was answered already"
            return self._nearly(answer.id)

    def end(self, reason: str) -> None:
        """The connection is over: everything open ends with this reason."""
        with self._lock:
            self._ended = reason
            left = [*self._open.values(), *self._nameless]
            self._open.clear()
            self._nameless.clear()
        for pending in left:
            pending.end(reason)

    def _nearly(self, id_: Json) -> tuple[RpcPending | None, str]:
        """The request whose id has the same value in another JSON type."""
        for key, pending in self._open.items():
            if str(key[1]) == str(id_) or (not isinstance(id_, str) and key[1] == id_):
                del self._open[key]
                return pending, f"its id went out as {_kind(key[1])} and came back as {_kind(id_)}"
        return None, "no request with this id was sent"

    def _end_if_over(self, pending: RpcPending) -> None:
        if self._ended is not None:
            pending.end(self._ended)


def _key(id_: Json) -> tuple[str, Json]:
    return type(id_).__name__, id_


def _kind(id_: Json) -> str:
    names = {"str": "a text", "int": "a whole number", "float": "a number with a fraction", "bool": "a boolean"}
    return names.get(type(id_).__name__, "null")


def _remember(table: OrderedDict[tuple[str, Json], V], key: tuple[str, Json], value: V) -> None:
    table[key] = value
    if len(table) > _REMEMBERED:
        table.popitem(last=False)
