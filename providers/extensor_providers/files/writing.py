"""Writes that are whole or not at all, durable, and never wider open than asked for."""

import errno
import fcntl
import os
import stat
import threading
import time

from extensor_providers.files.paths import TEMP_PREFIX, TEMP_SUFFIX, is_temporary
from extensor_providers.files.walk import listable, sync_folder

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SWEEP_AGAIN_SECONDS = 10.0


def replace(folder: int, name: str, content: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Puts a file in place in one step: whoever looks sees the old one, or the new one with its final mode.

    `owner` is the user and group id to keep, where this process may; ``None`` for its own. The content is on the disk
    when this returns. Raises `OSError`, and then leaves the old file and no remains.
    """
    temporary, file = _temporary(folder, mode)
    try:
        try:
            _write_all(file, content)
            if owner is not None:
                _keep_owner(file, owner)
            _set_mode(file, mode)
            os.fsync(file)
        finally:
            os.close(file)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _forget(folder, temporary)
        raise
    sync_folder(folder)


def change_mode(folder: int, name: str, mode: int) -> None:
    """Changes a file's or a directory's mode in place. Raises `OSError`; never follows a link."""
    try:
        target = os.open(name, _LOOK, dir_fd=folder)
    except PermissionError:
        _change_mode_unread(folder, name, mode)
        return
    try:
        _set_mode(target, mode)
        os.fsync(target)
    finally:
        os.close(target)


class Sweeper:
    """Removes what killed processes left of their writes.

    A write under way holds a lock on its temporary file, which ends with its process, so that the unfinished write of a
    living one, on this machine or in another container, is never taken for a left-over.
    """

    def __init__(self) -> None:
        self._swept: dict[tuple[int, int], float] = {}
        self._lock = threading.Lock()

    def sweep(self, folder: int, *, always: bool = False) -> None:
        """Cleans one folder; a folder that was cleaned a moment ago is left alone unless `always`."""
        status = os.fstat(folder)
        key = (status.st_dev, status.st_ino)
        now = time.monotonic()
        with self._lock:
            if not always and now - self._swept.get(key, -_SWEEP_AGAIN_SECONDS) < _SWEEP_AGAIN_SECONDS:
                return
            self._swept[key] = now
        with listable(folder) as again:
            left = [name for name in os.listdir(again) if is_temporary(name)]  # noqa: PTH208 - by descriptor
        for name in left:
            _remove_if_dead(folder, name)


def _temporary(folder: int, mode: int) -> tuple[str, int]:
    while True:
        name = f"{TEMP_PREFIX}{os.urandom(8).hex()}{TEMP_SUFFIX}"
        # The owner's bits of the final mode at most: an unfinished file is never wider open than the finished one.
        file = os.open(name, _CREATE, mode & 0o600, dir_fd=folder)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in {errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}:
                os.close(file)
                _forget(folder, name)
                raise
        if os.fstat(file).st_nlink:
            return name, file
        os.close(file)  # a sweeper came between creation and lock


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _keep_owner(file: int, owner: tuple[int, int]) -> None:
    status = os.fstat(file)
    if (status.st_uid, status.st_gid) == owner:
        return
    try:
        os.fchown(file, *owner)
    except PermissionError:
        return  # only root may give a file away; the writer owns what it wrote


def _set_mode(file: int, mode: int) -> None:
    os.fchmod(file, mode)
    if stat.S_IMODE(os.fstat(file).st_mode) != mode:  # a set-group bit can be dropped without a word
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def _change_mode_unread(folder: int, name: str, mode: int) -> None:
    """For what its owner may not read. The descriptor names the thing itself, whatever the name stands for by now."""
    flags = getattr(os, "O_PATH", None)
    if flags is None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    target = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if stat.S_ISLNK(os.fstat(target).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        os.chmod(f"/proc/self/fd/{target}", mode)  # noqa: PTH101
    finally:
        os.close(target)


def _remove_if_dead(folder: int, name: str) -> None:
    try:
        file = os.open(name, _LOOK, dir_fd=folder)
    except OSError:
        return  # gone, a link, or another user's: not ours to judge
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _forget(folder, name)
    except OSError:
        return  # its writer lives, or the file system has no locks to tell by
    finally:
        os.close(file)


def _forget(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # a left-over that cannot be removed now is swept later
