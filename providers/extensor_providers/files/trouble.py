"""From an error of the operating system to a typed one that tells no path of this machine."""

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, overload

from extensor import Conflict, InvalidProperty, OperationFailed, PermissionDenied, Unavailable

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

NO_SPACE = "NoSpace"
FILE_SYSTEM = "FileSystemError"

_MOMENTARY = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ESTALE, errno.EINTR}


@contextmanager
def told(doing: str, shown: str) -> Generator[None]:
    """Turns an `OSError` of the block into an `OperationFailed`.

    `doing` is what was tried, "write"; `shown` is the resource's own path, the only one that the message holds.
    """
    try:
        yield
    except OSError as error:
        raise explain(error, doing, shown) from None


def explain(error: OSError, doing: str, shown: str) -> OperationFailed:
    """The typed error for one of the operating system's."""
    number = error.errno or errno.EIO
    message = f"cannot {doing} {shown!r}: {os.strerror(number)}"
    path = "$.properties.path"
    if number == errno.EROFS:
        return PermissionDenied(f"{message}; the root lies on a file system mounted for reading only", path=path)
    if number in {errno.EACCES, errno.EPERM}:
        return PermissionDenied(message, path=path)
    if number in {errno.ENOSPC, errno.EDQUOT}:
        return OperationFailed(f"{message}; free some and deploy again", code=NO_SPACE, path=path)
    if number == errno.EFBIG:
        return OperationFailed(f"{message}; the limit is the file system's or the process's", code=NO_SPACE, path=path)
    if number == errno.ENAMETOOLONG:
        return InvalidProperty("path", message)
    if number in {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ELOOP}:
        return Conflict(f"{message}; something else changes that folder at this moment", path=path, transient=True)
    if number in _MOMENTARY:
        return Unavailable(message, path=path)
    return OperationFailed(message, code=FILE_SYSTEM, path=path)


def symbolic_link(shown: str) -> Conflict:
    """The refusal of a link, the same for every verb."""
    return Conflict(
        f"{shown!r} is a symbolic link, which this provider neither follows nor replaces; "
        "remove the link, or use the path that it leads to",
        path="$.properties.path",
    )


def not_a(kind: str, shown: str, found: str) -> Conflict:
    """The refusal of what stands at a path and is of another kind."""
    return Conflict(f"{shown!r} is {found}, not {kind}; remove it or choose another path", path="$.properties.path")


@overload
def all_of(one: Callable[[], A], two: Callable[[], B], /) -> tuple[A, B]: ...
@overload
def all_of(one: Callable[[], A], two: Callable[[], B], three: Callable[[], C], /) -> tuple[A, B, C]: ...
def all_of(*parts: Callable[[], object]) -> tuple[object, ...]:
    """What the functions return; raises one `OperationFailed` with the faults of all that fail, not of the first."""
    values: list[object] = []
    faults: list[OperationFailed] = []
    for part in parts:
        try:
            values.append(part())
        except OperationFailed as error:
            faults.append(error)
    if faults:
        raise OperationFailed.many(fault for error in faults for fault in error.failure.faults)
    return tuple(values)
