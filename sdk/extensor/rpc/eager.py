"""Tasks whose first step is taken at once: what need not wait for anything costs the loop no turn.

Python 3.12 has this in `asyncio.Task`. For 3.11 it is made of the functions that asyncio documents for task
implementations of others (asyncio, "Extending": `_enter_task` and `_leave_task`).
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any

if sys.version_info >= (3, 12):

    def start(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
        """A task that has run `coroutine` to its first suspension; ``None`` when that was its end, without failure."""
        task = asyncio.Task(coroutine, loop=loop, eager_start=True)
        ended = task.done() and not task.cancelled() and task.exception() is None
        return None if ended else task

else:

    def start(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
        """A task that has run `coroutine` to its first suspension; ``None`` when that was its end, without failure."""
        rest = _Rest(coroutine)
        context = copy_context()
        task = _LateTask.__new__(_LateTask)
        task.born = False
        task.parts = (rest, loop, context)
        outer = asyncio.current_task(loop)
        if outer is not None:
            _leave_task(loop, outer)
        _enter_task(loop, task)
        try:
            if context.run(rest.begin):
                return None
        finally:
            _leave_task(loop, task)
            if outer is not None:
                _enter_task(loop, outer)
        task.initialise()
        return task

    _enter_task, _leave_task = asyncio.tasks._enter_task, asyncio.tasks._leave_task

    class _LateTask(asyncio.Task[None]):
        """A task that is initialised, and by that given to the loop, when its coroutine first suspends.

        Code of the first step that asks for the current task gets this object, and asking it for anything
        initialises it, too.
        """

        __slots__ = ("born", "parts")

        born: bool
        """Whether it is initialised."""
        parts: "tuple[_Rest, asyncio.AbstractEventLoop, Context]"

        def initialise(self) -> None:
            """Give it to the loop."""
            if not self.born:
                self.born = True
                rest, loop, context = self.parts
                super().__init__(rest, loop=loop, context=context)

    def _initialising(name: str) -> Callable[..., Any]:
        inherited = getattr(asyncio.Task, name)

        def method(self: _LateTask, *args: Any, **kwargs: Any) -> Any:
            self.initialise()
            return inherited(self, *args, **kwargs)

        return method

    for _name in dir(asyncio.Task):
        if not _name.startswith("_") and callable(getattr(asyncio.Task, _name)):
            setattr(_LateTask, _name, _initialising(_name))
    for _name in ("__await__", "__iter__", "__repr__"):
        setattr(_LateTask, _name, _initialising(_name))

    class _Rest(Coroutine[Any, Any, None]):
        """What is left of a coroutine after its first step."""

        __slots__ = ("_awaited", "_coroutine", "_failure", "ended")

        def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
            self._coroutine = coroutine
            self._awaited: Any = None
            self._failure: BaseException | None = None
            self.ended = False

        def begin(self) -> bool:
            """Take the first step; whether it was the last."""
            try:
                self._awaited = self._coroutine.send(None)
            except StopIteration:
                self.ended = True
            except BaseException as error:
                self._failure = error
            return self.ended

        def send(self, value: Any, /) -> Any:
            if self.ended:
                raise StopIteration
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            if self._awaited is not None:
                awaited, self._awaited = self._awaited, None
                return awaited
            return self._coroutine.send(value)

        def throw(self, *error: Any) -> Any:
            if self.ended:
                raise StopIteration
            awaited, self._awaited = self._awaited, None
            if awaited is not None and isinstance(error[0], asyncio.CancelledError) and _taken_back(awaited, error[0]):
                # As of any task: what it waits for is cancelled, a child too, and that is what it hears of.
                return awaited
            return self._coroutine.throw(*error)

        def close(self) -> None:
            self._coroutine.close()

        def __await__(self) -> Generator[Any, Any, None]:
            raise TypeError("only its task runs it")

        def __getattr__(self, name: str) -> Any:
            # Who inspects tasks looks for a native coroutine's frame and state.
            return getattr(self._coroutine, name)

    def _taken_back(awaited: Any, error: asyncio.CancelledError) -> bool:
        return asyncio.isfuture(awaited) and awaited.cancel(*error.args)
