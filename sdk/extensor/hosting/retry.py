"""Retry by contract (P-ERROR-04, -05): only what is transient, never sooner than asked, in one budget of time.

A save whose outcome is unclear is looked at with `get` before it is repeated. This lives here and not in the engine
because only the session knows whether the provider's process is gone, and every host needs it in the same way.
"""

import random
import time
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import anyio

from extensor.contract import ErrorCode, Json, JsonObject, ResourceData, ResourceResult, Verb
from extensor.errors import (
    CallTimedOut,
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    OperationFailed,
    StartFailed,
)
from extensor.hosting.notices import OnRetry, RetryNotice
from extensor.hosting.timeouts import LOOK

Next: TypeAlias = Literal["retry", "look"]

MAX_LOSSES = 3
"""How many times one operation may lose its provider before the operation is taken for the cause."""
_LOSSES_TOGETHER = 2
"""From so many losses on, such operations are tried one at a time: those beside the cause get through."""

OUTCOMES = (OperationFailed, ConnectionFailed, StartFailed)
"""Everything a try can raise."""

_NOTHING_TO_SEE = frozenset({ErrorCode.RESOURCE_NOT_FOUND, ErrorCode.OPERATION_NOT_SUPPORTED})
"""What `get` says when it cannot confirm a save, which is then repeated: it is an upsert."""


class Clock(Protocol):
    """Where time comes from, so that a test can own it."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        ...

    def random(self) -> float:
        """A number from 0 up to 1, for jitter."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> float:
        """Seconds on the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        await anyio.sleep(seconds)

    def random(self) -> float:
        """A number from 0 up to 1."""
        return random.random()  # noqa: S311 - spreads retries, protects nothing


@dataclass(frozen=True, slots=True)
class BackOff:
    """Waits where the provider asks for none: doubling from `first` up to `most` seconds, each cut by up to half."""

    first: float = 0.5
    factor: float = 2.0
    most: float = 30.0

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds to wait after the failed try number `attempt` (from 1), `chance` in [0, 1)."""
        return min(self.most, self.first * self.factor ** min(attempt - 1, 64)) * (1 - chance / 2)

    def after(self, asked: float, attempt: int, chance: float) -> float:
        """Seconds to wait when the provider asked for `asked`: that, and up to a tenth more so that callers spread.

        Our own back-off is the least, so that a provider that always asks for a moment is not asked all the time.
        """
        return max(asked * (1 + chance / 10), self.delay(attempt, chance))


class Callee(Protocol):
    """What is retried: a session, or a fake of one."""

    @property
    def name(self) -> str:
        """The provider's name, for notices."""
        ...

    async def call(self, verb: Verb, data: ResourceData, *, timeout: float | None = None) -> ResourceResult:
        """One try; starts the provider first when it is not running."""
        ...

    async def is_shown(self, data: ResourceData, properties: JsonObject) -> bool:
        """Whether a `get` that answers `properties` shows the given ones saved."""
        ...

    @property
    def recovering(self) -> anyio.Lock:
        """Held by an operation that lost its provider twice, so that the one that ends providers is found."""
        ...


class Operation:
    """One verb on one resource, with its budget of time and the count of its tries."""

    def __init__(
        self,
        callee: Callee,
        verb: Verb,
        data: ResourceData,
        *,
        budget: float | None,
        on_retry: OnRetry | None = None,
        clock: Clock | None = None,
        back_off: BackOff | None = None,
    ) -> None:
        self._callee = callee
        self._verb = verb
        self._data = data
        self._on_retry = on_retry
        self._clock = clock or SystemClock()
        self._back_off = back_off or BackOff()
        self._end = None if budget is None else self._clock.now() + budget
        self._attempt = 0
        self._losses = 0

    async def perform(self) -> ResourceResult:
        """The answer, after as many tries as the contract and the budget allow; raises the last try's error.

        `is_unclear` tells whether a failed save may have happened nevertheless; the error's text then says so.
        """
        while True:
            try:
                return await self._try(self._verb)
            except OUTCOMES as error:
                failed = error
            if self._verb is Verb.SAVE and is_unclear(failed):
                answer = await self._settle(failed)
                if answer is not None:
                    return answer
            elif not self._may_retry(failed) or not await self._pause(failed, "retry"):
                raise failed

    async def _settle(self, unclear: Exception) -> ResourceResult | None:
        """Ask `get` whether an unclear save happened: its answer when it did, ``None`` when to save again."""
        failed = unclear
        while True:
            last = self._is_spent()
            if last:
                self._tell(failed, "look", 0.0)
            elif not await self._pause(failed, "look"):
                raise _told(unclear, "it is not known whether the save happened, and the time is up")
            try:
                shown = await self._try(Verb.GET, LOOK)
                if await self._is_done(shown):
                    return shown
                seen = "a get shows another state"
            except OUTCOMES as error:
                if isinstance(error, OperationFailed) and error.failure.code in _NOTHING_TO_SEE:
                    seen = f"a get says: {error}"
                elif last or not self._may_retry(error):
                    raise _told(unclear, f"it is not known whether the save happened; a get failed: {error}") from error
                else:
                    failed = error
                    continue
            if last or not await self._pause(unclear, "retry", seen):
                raise _told(unclear, f"{seen}; it was not saved again")
            return None

    async def _try(self, verb: Verb, least: float = 0.0) -> ResourceResult:
        """One try, with what is left of the budget or `least` seconds."""
        self._attempt += 1
        try:
            if self._losses < _LOSSES_TOGETHER:
                return await self._callee.call(verb, self._data, timeout=self._left(least))
            async with self._callee.recovering:
                return await self._callee.call(verb, self._data, timeout=self._left(least))
        except (ConnectionLost, StartFailed) as error:
            if isinstance(error, ConnectionLost) or self._losses:
                self._losses += 1
            raise

    async def _is_done(self, shown: ResourceResult) -> bool:
        return shown.properties is not None and await self._callee.is_shown(self._data, shown.properties)

    def _left(self, least: float = 0.0) -> float | None:
        return None if self._end is None else max(self._end - self._clock.now(), least)

    def _is_spent(self) -> bool:
        """Whether nothing but a last look is left to do."""
        left = self._left()
        return (left is not None and left <= 0) or self._losses >= MAX_LOSSES

    def _may_retry(self, error: Exception) -> bool:
        if isinstance(error, OperationFailed):
            return error.failure.transient
        if isinstance(error, ConnectionLost):
            return self._losses < MAX_LOSSES
        # A provider that ran before may start again; a command that never worked will not.
        return isinstance(error, StartFailed) and 0 < self._losses < MAX_LOSSES

    async def _pause(self, error: Exception, then: Next, seen: str = "") -> bool:
        """Wait before the next step; at once ``False`` when the budget would be spent by waiting."""
        chance = self._clock.random()
        asked = error.failure.retry_after_seconds if isinstance(error, OperationFailed) else None
        if asked is not None:
            delay = self._back_off.after(asked, self._attempt, chance)
        elif self._losses <= 1 if isinstance(error, ConnectionLost) else (then == "look" and self._attempt == 1):
            delay = 0.0  # a provider that starts again gives no reason to wait, unless it does so again
        else:
            delay = self._back_off.delay(self._attempt, chance)
        left = self._left()
        if left is not None and delay >= left:
            return False
        self._tell(error, then, delay, seen)
        if delay > 0:
            await self._clock.sleep(delay)
        return True

    def _tell(self, error: Exception, then: Next, delay: float, seen: str = "") -> None:
        if self._on_retry is not None:
            self._on_retry(
                RetryNotice(
                    provider=self._callee.name,
                    verb=self._verb,
                    type=self._data.type,
                    symbolic_name=self._data.context.symbolic_name,
                    attempt=self._attempt,
                    delay=delay,
                    code=code_of(error),
                    message=f"{error}; {seen}" if seen else str(error),
                    next=then,
                )
            )


def is_unclear(error: Exception) -> bool:
    """Whether a `save` that ended with `error` may have happened nevertheless."""
    return isinstance(error, ConnectionLost | CallTimedOut | DeadlineExceeded)


def code_of(error: Exception) -> str:
    """The word for an error: the first fault's code of a failed operation, else the name of its class."""
    return error.failure.code if isinstance(error, OperationFailed) else type(error).__name__


def shows(given: Json, shown: Json) -> bool:
    """Whether a result holds every value that was given.

    Properties that were not given may have any value; a given null is also shown by absence. Lists must agree in
    length.
    """
    if isinstance(given, dict):
        return isinstance(shown, dict) and all(shows(value, shown.get(name)) for name, value in given.items())
    if isinstance(given, list):
        return (
            isinstance(shown, list)
            and len(given) == len(shown)
            and all(shows(one, other) for one, other in zip(given, shown, strict=True))
        )
    return isinstance(given, bool) == isinstance(shown, bool) and given == shown


def _told(error: Exception, outcome: str) -> Exception:
    error.args = (f"{error}; {outcome}", *error.args[1:])
    return error
