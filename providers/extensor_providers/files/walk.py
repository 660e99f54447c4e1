"""Reaching a folder below the root without ever leaving it.

Every step opens one name relative to the descriptor of the folder before, and refuses symbolic links. A folder that is
swapped for a link while the walk is under way is refused, or the walk stays in the folder that it holds already: no
check of a path's text, which a later change could make untrue, is relied upon.
"""

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from extensor import Conflict, PermissionDenied
from extensor_providers.files import trouble

PARENT_MODE = 0o755

# O_PATH (Linux) needs no right to list the folders on the way, and leaves their access times alone.
_STEP = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_LIST = os.O_DIRECTORY | os.O_RDONLY | os.O_CLOEXEC
_TRIES = 20


class NotAFolder(Exception):
    """A name on the way stands for a file or the like: `shown` is the path up to it, `found` what it is."""

    def __init__(self, shown: str, found: str) -> None:
        self.shown = shown
        self.found = found
        super().__init__(shown)


class Reached(NamedTuple):
    """How far a walk came."""

    folder: int | None
    """A descriptor of the last folder there is; ``None`` when there is no root."""
    depth: int
    """How many of the names exist."""


@contextmanager
def reached(root: str, names: Sequence[str]) -> Generator[Reached]:
    """Walks as far as folders exist, changing nothing.

    Raises `Conflict` for a symbolic link on the way, `NotAFolder` for another kind, `PermissionDenied`.
    """
    here = _open_root(root)
    depth = 0
    try:
        while here is not None and depth < len(names):
            there = _step(here, names, depth)
            if there is None:
                break
            os.close(here)
            here = there
            depth += 1
        yield Reached(here, depth)
    finally:
        if here is not None:
            os.close(here)


@contextmanager
def made(root: str, names: Sequence[str]) -> Generator[int]:
    """A descriptor of the folder, with it, its parents and the root made where they are missing.

    Any number of callers may do this at once. Raises like `reached`, and `OSError`.
    """
    here = _open_root(root)
    if here is None:
        _make_root(os.path.abspath(root))  # noqa: PTH100 - resolving links is the walk's own work
        here = _open_root(root)
        if here is None:
            raise Conflict("something removes the root folder while it is made", transient=True)
    try:
        for depth in range(len(names)):
            there = _make_step(here, names, depth)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


@contextmanager
def listable(folder: int) -> Generator[int]:
    """A second descriptor of a folder, good for listing it and for fsync."""
    again = os.open(".", _LIST, dir_fd=folder)
    try:
        yield again
    finally:
        os.close(again)


def sync_folder(folder: int) -> None:
    """Makes the names in a folder durable, so that a rename or removal outlives a power cut."""
    with listable(folder) as again:
        os.fsync(again)


def kind_of(mode: int) -> str:
    """What a file mode stands for, with its article: ``"a file"``, ``"a directory"``, ``"a named pipe"``."""
    for test, words in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return words
    return "a device"


def _open_root(root: str) -> int | None:
    # The root itself may be reached through links: it is the configuration's word, not a resource's.
    try:
        return os.open(root, _STEP & ~os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PermissionDenied(
            f"the root folder cannot be used: {os.strerror(error.errno or 0)}", path="$.import.config.root"
        ) from None


def _step(here: int, names: Sequence[str], depth: int) -> int | None:
    shown = "/".join(names[: depth + 1])
    with trouble.told("enter", shown):
        try:
            return os.open(names[depth], _STEP, dir_fd=here)
        except FileNotFoundError:
            return None
        except OSError:
            mode = os.stat(names[depth], dir_fd=here, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                raise trouble.symbolic_link(shown) from None
            if not stat.S_ISDIR(mode):
                raise NotAFolder(shown, kind_of(mode)) from None
            raise


def _make_step(here: int, names: Sequence[str], depth: int) -> int:
    for _ in range(_TRIES):
        if (there := _step(here, names, depth)) is not None:
            return there
        try:
            os.mkdir(names[depth], PARENT_MODE, dir_fd=here)
        except FileExistsError:
            continue  # another call made it first
        sync_folder(here)
    shown = "/".join(names[: depth + 1])
    raise Conflict(f"something removes {shown!r} while it is made", path="$.properties.path", transient=True)


def _make_root(place: str) -> None:
    parent = os.path.dirname(place)  # noqa: PTH120
    if not os.path.isdir(parent):  # noqa: PTH112
        _make_root(parent)
    try:
        os.mkdir(place, PARENT_MODE)  # noqa: PTH102
    except FileExistsError:
        return
    except OSError as error:
        raise PermissionDenied(
            f"the root folder cannot be made: {os.strerror(error.errno or 0)}", path="$.import.config.root"
        ) from None
    holder = os.open(parent, _LIST)
    try:
        os.fsync(holder)
    finally:
        os.close(holder)
