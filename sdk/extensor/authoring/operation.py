"""One verb of one handler, async or not."""

import inspect
import os
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from extensor.authoring import log
from extensor.authoring.context import Context
from extensor.authoring.locks import IdentityLocks
from extensor.authoring.loop import Post
from extensor.authoring.threads import Threads
from extensor.rpc.runtime import Runtime, Slot


class _Process:
    """Counts how often this process was copied on its way from the first: asking the system each time costs a call."""

    copies = 0

    @classmethod
    def note(cls) -> None:
        cls.copies += 1


os.register_at_fork(after_in_child=_Process.note)


class Operation:
    """A handler's method, ready to be awaited."""

    __slots__ = ("function", "is_async", "title")

    def __init__(self, function: Callable[..., Any], title: str) -> None:
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        self.title = title
        """``NoteHandler.save``, for messages."""


class Caller:
    """Calls operations on one event loop."""

    def __init__(self, runtime: Runtime, post: Post) -> None:
        self.locks = IdentityLocks(runtime)
        self.post = post
        self._runtime = runtime
        self._threads = Threads()
        self._process = _Process.copies

    async def call(
        self,
        operation: Operation,
        ctx: Context[Any],
        model: Any,
        identity: Hashable | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> Any:
        """What the handler returns, called alone on its identity when one is given, after `before`.

        A plain function runs in a worker thread, which cannot be interrupted: when the call is canceled this ends at
        once, and the identity stays locked until the thread has come to its end.
        """
        if identity is not None:
            await self.locks.acquire(identity)
        if before is not None:
            try:
                await before()
            except BaseException:
                if identity is not None:
                    self.locks.release(identity)
                raise
        if not operation.is_async:
            slot = self._in_thread(operation, ctx, model, identity)
            return await self._runtime.wait(slot)
        try:
            return await operation.function(ctx, model)
        finally:
            self._leave_if_forked()
            if identity is not None:
                self.locks.release(identity)

    def _in_thread(self, operation: Operation, ctx: Context[Any], model: Any, identity: Hashable | None) -> Slot:
        slot = self._runtime.slot()

        def done(result: Any, error: BaseException | None) -> None:
            self._leave_if_forked()

            def settle() -> None:
                if identity is not None:
                    self.locks.release(identity)
                if ctx.canceled and error is not None:
                    ctx.log("warning", f"{operation.title} failed after its call had ended: {error!r}")
                if slot.done():  # the call was canceled
                    return
                if error is None:
                    slot.set_result(result)
                else:
                    slot.set_exception(_as_exception(error))

            try:
                self.post(settle)
            except RuntimeError:  # the loop has ended, and with it whoever waited
                return

        self._threads.run(lambda: operation.function(ctx, model), done)
        return slot

    def _leave_if_forked(self) -> None:
        """End the process when it is a copy that a handler forked and let return: one answer is enough."""
        if _Process.copies != self._process:
            log.write("error", "a process that a handler forked came back from it; it ends here")
            os._exit(70)


def _as_exception(error: BaseException) -> Exception:
    """The error itself, or what stands for one that would end the loop or that no future takes, and shows it."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    made = RuntimeError(f"the handler raised {error!r}")
    made.__cause__ = error
    return made
