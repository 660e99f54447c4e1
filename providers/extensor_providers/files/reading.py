"""What stands at a path, read without leaving a trace, access times included."""

import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from extensor_providers.files import trouble
from extensor_providers.files.walk import kind_of

SHOWN_BYTES = 1024 * 1024
"""The size up to which a file's content is part of an answer; above it there are only `sha256` and `size`."""

_BLOCK = 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_TRACE = getattr(os, "O_NOATIME", 0)


class FileSeen(NamedTuple):
    """A regular file as it was when read."""

    mode: int
    """Permission bits, with set-id and sticky bits."""
    size: int
    sha256: str
    content: bytes | None
    """``None`` above `SHOWN_BYTES`."""


def entry(folder: int, name: str) -> os.stat_result | None:
    """The status of a directory entry, a link's own when it is one; ``None`` when there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def file_entry(folder: int, name: str, shown: str) -> os.stat_result | None:
    """Like `entry`; raises `Conflict` when it is no regular file."""
    status = entry(folder, name)
    if status is not None and not stat.S_ISREG(status.st_mode):
        _refuse(status.st_mode, "a file", shown)
    return status


def directory_entry(folder: int, name: str, shown: str) -> os.stat_result | None:
    """Like `entry`; raises `Conflict` when it is no directory."""
    status = entry(folder, name)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        _refuse(status.st_mode, "a directory", shown)
    return status


def read_file(folder: int, name: str, shown: str) -> FileSeen | None:
    """The file of that name, ``None`` when absent. Raises `Conflict` for another kind, and `OSError`."""
    if file_entry(folder, name, shown) is None:
        return None
    try:
        with _open(folder, name) as file:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                _refuse(status.st_mode, "a file", shown)
            digest = hashlib.sha256()
            kept: list[bytes] = []
            size = 0
            while block := os.read(file, _BLOCK):
                digest.update(block)
                size += len(block)
                if size <= SHOWN_BYTES:
                    kept.append(block)
            content = b"".join(kept) if size <= SHOWN_BYTES else None
            return FileSeen(stat.S_IMODE(status.st_mode), size, digest.hexdigest(), content)
    except FileNotFoundError:
        return None


def holds(folder: int, name: str, wanted: bytes) -> bool:
    """Whether the file of that name consists of these bytes; false when it is absent or cannot be read."""
    try:
        with _open(folder, name) as file:
            if os.fstat(file).st_size != len(wanted):
                return False
            offset = 0
            while block := os.read(file, _BLOCK):
                if wanted[offset : offset + len(block)] != block:
                    return False
                offset += len(block)
            return offset == len(wanted)
    except (FileNotFoundError, PermissionError):
        return False


@contextmanager
def _open(folder: int, name: str) -> Generator[int]:
    try:
        file = os.open(name, _READ | _NO_TRACE, dir_fd=folder)
    except PermissionError:  # only a file's owner may leave its access time alone
        file = os.open(name, _READ, dir_fd=folder)
    try:
        yield file
    finally:
        os.close(file)


def _refuse(mode: int, wanted: str, shown: str) -> None:
    if stat.S_ISLNK(mode):
        raise trouble.symbolic_link(shown)
    raise trouble.not_a(wanted, shown, kind_of(mode))
