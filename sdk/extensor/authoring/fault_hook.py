"""A test hook: handlers fail as a file says, so that tests can see what a provider answers when the world fails it.

`serve` imports and installs this only when ``EXTENSOR_TEST_FAULTS`` is set; no host passes that variable on. The file
is read at the start of each operation and holds ``{}`` or one fault::

    {"fault": "throttle", "verb": "save", "times": 1, "seconds": 5}

``verb`` is spelled as on the wire; without it each verb fails. ``times`` is how many operations fail: the provider
writes back how many are left, and ``{}`` after the last. Without it they fail until the file says something else.
"""

import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel

from extensor.authoring import log
from extensor.authoring.context import Context, SaveContext
from extensor.authoring.dump import dump
from extensor.authoring.operation import Operation
from extensor.authoring.provider import Provider
from extensor.contract.json import Json, JsonObject
from extensor.contract.verbs import Verb
from extensor.errors import Canceled, PermissionDenied, Throttled, Unavailable
from extensor.rpc.runtime import current_runtime
from extensor.types.shape import shape_of

KINDS = {
    "throttle": frozenset(Verb),
    "transient": frozenset(Verb),
    "denied": frozenset(Verb),
    "raise": frozenset(Verb),
    "slow": frozenset(Verb),
    "half-create": frozenset({Verb.SAVE}),
    "delete-fails": frozenset({Verb.DELETE}),
}
"""The kinds of faults, each with the verbs that can fail so."""

RETRY_AFTER_SECONDS = 1.0
SLOW_SECONDS = 2.0
"""How long ``slow`` takes when the file does not say it."""
_LOOK_SECONDS = 0.02

Identify = Callable[[BaseModel], JsonObject]
"""From what a save returned to the resource's identifiers."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What the next operation does instead, or before."""

    kind: str
    verb: Verb | None = None
    times: int | None = None
    seconds: float = SLOW_SECONDS

    @classmethod
    def read(cls, text: str) -> "Fault | None":
        """From the file's text, ``None`` when it asks for no fault. Raises `ValueError` that says what is wrong."""
        told: Json = json.loads(text or "{}")
        if not isinstance(told, dict):
            raise ValueError("expected an object")
        if not told:
            return None
        kind, verb, times = told.get("fault"), told.get("verb"), told.get("times")
        seconds = told.get("seconds", SLOW_SECONDS)
        verbs = {item.wire: item for item in Verb}
        strange = told.keys() - {"fault", "verb", "times", "seconds"}
        if strange:
            raise ValueError(f"unknown members: {', '.join(sorted(strange))}")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ValueError(f"fault is {kind!r}, expected one of {', '.join(KINDS)}")
        if verb is not None and verb not in verbs:
            raise ValueError(f"verb is {verb!r}, expected one of {', '.join(verbs)}")
        if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
            raise ValueError(f"times is {times!r}, expected a whole number from 1")
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds <= 86_400:
            raise ValueError(f"seconds is {seconds!r}, expected a number from 0 to 86400")
        return cls(kind, None if verb is None else verbs[verb], times, seconds)

    def write(self) -> str:
        """The file's text."""
        told: JsonObject = {"fault": self.kind, "seconds": self.seconds}
        if self.verb is not None:
            told["verb"] = self.verb.wire
        if self.times is not None:
            told["times"] = self.times
        return json.dumps(told)

    def hits(self, verb: Verb) -> bool:
        """Whether an operation of this verb fails so."""
        return verb in KINDS[self.kind] and self.verb in (None, verb)


class FaultFile:
    """The file that says how to fail; safe from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._lock = threading.Lock()
        self._complained = ""

    def take(self, verb: Verb) -> Fault | None:
        """The fault for an operation that begins now, counted down. A file that cannot be read asks for none."""
        with self._lock:
            try:
                text = self._path.read_text("utf-8")
                fault = Fault.read(text)
                if fault is None or not fault.hits(verb):
                    return None
                if fault.times is not None:
                    self._count(text, fault, fault.times - 1)
            except FileNotFoundError:  # whoever wrote it is done
                return None
            except (OSError, ValueError) as error:
                self._complain(f"test faults: {self._path}: {error}")
                return None
            return fault

    def _count(self, text: str, fault: Fault, left: int) -> None:
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        new.write_text(Fault(fault.kind, fault.verb, left, fault.seconds).write() if left else "{}", "utf-8")
        if self._path.read_text("utf-8") == text:  # else somebody has said something else meanwhile
            new.replace(self._path)
        else:
            new.unlink()

    def _complain(self, message: str) -> None:
        if message != self._complained:
            self._complained = message
            log.write("error", message)


def install(provider: Provider, path: str) -> None:
    """Let the operations of a provider's handlers fail as the file at `path` says, and tell so on stderr."""
    file = FaultFile(Path(path))
    log.write("warning", f"test faults are on: EXTENSOR_TEST_FAULTS is set, so operations fail as {path} says")
    for registration in provider.resources.values():
        try:
            operations = registration.operations
        except Exception as error:  # the handler's own constructor; calls of this type will tell it too
            log.write("error", f"test faults: {registration.handler_class.__name__} cannot be made: {error!r}")
            continue
        identify = partial(_identify, provider, str(registration.name))
        for verb, operation in operations.items():
            _wrap(operation, verb, file, identify)


def _wrap(operation: Operation, verb: Verb, file: FaultFile, identify: Identify) -> None:
    function: Callable[..., Any] = operation.function

    async def rehearsed(ctx: Context[Any], model: BaseModel) -> Any:
        fault = file.take(verb)
        if fault is None:
            return await function(ctx, model)
        if fault.kind == "slow":
            await _wait(fault.seconds)
            return await function(ctx, model)
        if fault.kind == "half-create":
            _fail_half_way(ctx, await function(ctx, model), identify)
        _fail(fault, ctx, model)

    def rehearsed_in_thread(ctx: Context[Any], model: BaseModel) -> Any:
        fault = file.take(verb)
        if fault is None:
            return function(ctx, model)
        if fault.kind == "slow":
            _wait_in_thread(ctx, fault.seconds)
            return function(ctx, model)
        if fault.kind == "half-create":
            _fail_half_way(ctx, function(ctx, model), identify)
        _fail(fault, ctx, model)

    made: Callable[..., Any] = rehearsed if operation.is_async else rehearsed_in_thread
    operation.function = made


def _fail(fault: Fault, ctx: Context[Any], model: BaseModel) -> NoReturn:
    if fault.kind == "throttle":
        raise Throttled("test fault: the backend asks for fewer calls", retry_after=RETRY_AFTER_SECONDS)
    if fault.kind == "transient":
        raise Unavailable("test fault: the backend is down for now")
    if fault.kind == "denied":
        raise PermissionDenied("test fault: the backend refuses access")
    if fault.kind == "delete-fails":
        raise Unavailable("test fault: the backend could not delete it")
    # What careless code puts into its errors: no host may see it, and no log the secrets among it.
    config: object = getattr(ctx.config, "__dict__", None)
    raise RuntimeError(
        f'test fault: KeyError in File "/srv/backend/client.py", line 7, in send: password=hunter2-of-the-test-hook, '
        f"request {model.__dict__}, configuration {config}"
    )


def _fail_half_way(ctx: SaveContext[Any] | Context[Any], made: Any, identify: Identify) -> NoReturn:
    """What was saved is told, unless the handler has done so, and the save fails all the same."""
    if isinstance(ctx, SaveContext) and ctx.recorded is None and isinstance(made, BaseModel):
        ctx.record(identify(made))
    raise Unavailable("test fault: the second step of the save failed")


def _identify(provider: Provider, type_name: str, made: BaseModel) -> JsonObject:
    return shape_of(provider.types.resource(type_name)).identifiers_of(dump(made))


async def _wait(seconds: float) -> None:
    runtime = current_runtime()
    waiting: Awaitable[Any] = runtime.wait(runtime.slot(), seconds)
    with suppress(TimeoutError):
        await waiting


def _wait_in_thread(ctx: Context[Any], seconds: float) -> None:
    """Plain functions are not interrupted; this looks whether the call has ended."""
    never = threading.Event()
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        never.wait(min(_LOOK_SECONDS, left))
        if ctx.canceled:
            raise Canceled("the call has ended while a test fault made it slow")
