"""From an error of the operating system to a typed one that tells no path of this machine."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

from extensor import errors

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


def explain(error: OSError, doing: str, shown: str) -> errors.OperationFailed:
    """The typed error for one of the operating system's."""
    number = error.errno or errno.EIO
    message = f"cannot {doing} {shown!r}: {os.strerror(number)}"
    path = "$.properties.path"
    if number == errno.EROFS:
        return errors.PermissionDenied(f"{message}; the root lies on a file system mounted for reading only", path=path)
    if number in {errno.EACCES, errno.EPERM}:
        return errors.PermissionDenied(message, path=path)
    if number in {errno.ENOSPC, errno.EDQUOT}:
        return errors.OperationFailed(f"{message}; free some and deploy again", code=NO_SPACE, path=path)
    if number == errno.EFBIG:
        return errors.OperationFailed(
            f"{message}; the limit is the file system's or the process's", code=NO_SPACE, path=path
        )
    if number == errno.ENAMETOOLONG:
        return errors.InvalidProperty("path", message)
    if number in {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ELOOP}:
        return errors.Conflict(
            f"{message}; something else changes that folder at this moment", path=path, transient=True
        )
    if number in _MOMENTARY:
        return errors.Unavailable(message, path=path)
    return errors.OperationFailed(message, code=FILE_SYSTEM, path=path)


def symbolic_link(shown: str) -> errors.Conflict:
    """The refusal of a link, the same for every verb."""
    return errors.Conflict(
        f"{shown!r} is a symbolic link, which this provider neither follows nor replaces; "
        "remove the link, or use the path that it leads to",
        path="$.properties.path",
    )


def not_a(kind: str, shown: str, found: str) -> errors.Conflict:
    """The refusal of what stands at a path and is of another kind."""
    return errors.Conflict(
        f"{shown!r} is {found}, not {kind}; remove it or choose another path", path="$.properties.path"
    )
