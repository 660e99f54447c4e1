"""What a handler is told about a call, and what it may ask of its host."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Literal, Protocol

from typing_extensions import TypeVar

from extensor.contract.data import CallContext
from extensor.contract.json import JsonObject

C = TypeVar("C", default=None)
R = TypeVar("R")
Level = Literal["debug", "info", "warning", "error"]


class Line(Protocol):
    """The way back to the host for one call; masked and safe from any thread."""

    def progress(self, message: str, percent: float | None) -> None:
        """Tell how far the call is."""
        ...

    def log(self, level: str, message: str) -> None:
        """Add a line to the log."""
        ...

    async def token(self, scopes: Sequence[str], claims: str | None, force_refresh: bool) -> str:
        """Ask the host for an access token."""
        ...

    def record(self, resource: JsonObject) -> None:
        """Keep what exists by now for the answer of a call that is canceled."""
        ...

    def post(self, callback: Callable[[], object], /) -> object:
        """Run a callback on the event loop."""
        ...


class Context(Generic[C]):
    """One call. Nothing here changes the world, so a preview may use all of it."""

    def __init__(
        self,
        *,
        config: C,
        line: Line,
        type_name: str,
        call: CallContext,
        deadline: float | None,
    ) -> None:
        self.config = config
        self.type_name = type_name
        """The type asked for, ``name@version``."""
        self._call = call
        self._line = line
        self._deadline = deadline
        self._canceled = False

    config: C
    """The validated configuration, ``None`` when the provider declares none."""

    @property
    def request_id(self) -> str | None:
        """The host's name for the call, for correlation."""
        return self._call.request_id

    @property
    def deployment_id(self) -> str | None:
        """The host's name for the deployment the call belongs to."""
        return self._call.deployment_id

    @property
    def symbolic_name(self) -> str | None:
        """The resource's name in the template."""
        return self._call.symbolic_name

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the call is ended, never negative; ``None`` when the host set no deadline."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def canceled(self) -> bool:
        """Whether the call was taken back or its time ran out.

        For plain functions in long loops: an ``async def`` handler is interrupted at its next ``await`` instead.
        """
        return self._canceled

    def progress(self, message: str, percent: float | None = None) -> None:
        """Tell the host how far the call is; `percent` from 0 to 100. Secrets are masked."""
        self._line.progress(message, percent)

    def log(self, level: Level, message: str) -> None:
        """Add a line to the host's log, or to stderr when the host takes none. Secrets are masked."""
        self._line.log(level, message)

    async def token(self, scopes: Sequence[str], claims: str | None = None, force_refresh: bool = False) -> str:
        """An access token for `scopes`, from the host. `claims` and `force_refresh` after the service refused the
        last one.

        Raises `Unauthorized` when the host has none to give. From a plain function: ``ctx.wait(ctx.token(scopes))``.
        """
        return await self._line.token(scopes, claims, force_refresh)

    def wait(self, awaitable: Awaitable[R]) -> R:
        """From a plain function, which runs in a thread: run an awaitable on the event loop and wait for its result."""
        from extensor.authoring.loop import wait_from_thread

        return wait_from_thread(awaitable, self._line.post)


class SaveContext(Context[C]):
    """The context of `save` and `delete`: it can also take down what exists by now."""

    recorded: JsonObject | None = None
    """What `record` was last told, as it goes to the host."""

    def record(self, identifiers: JsonObject, properties: JsonObject | None = None) -> None:
        """Tell what exists from here on, so that a later failure of this call does not orphan it.

        `identifiers` maps identifier properties, as the type spells them, to values. Call it again when more is known.
        """
        self.recorded = {"identifiers": dict(identifiers)}
        if properties is not None:
            self.recorded["properties"] = dict(properties)
        self._line.record(self.recorded)


def cancel(context: Context[Any]) -> None:
    """Let the handler see that its call has ended."""
    context._canceled = True  # pyright: ignore[reportPrivateUsage] - the runtime's own switch
