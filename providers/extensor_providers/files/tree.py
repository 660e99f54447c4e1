"""One root folder: what each verb does below it, in terms of names, bytes and modes."""

import enum
import errno
import os
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from extensor import Conflict, PermissionDenied
from extensor_providers.files import trouble
from extensor_providers.files.paths import is_temporary
from extensor_providers.files.reading import FileSeen, directory_entry, entry, file_entry, holds, read_file
from extensor_providers.files.walk import NotAFolder, listable, made, reached, sync_folder
from extensor_providers.files.writing import Sweeper, change_mode, replace

_RMDIR_PAUSES_SECONDS = (0.0, 0.02, 0.05, 0.1, 0.2)


class Change(enum.Enum):
    """What a write does, or would do."""

    NOTHING = "nothing"
    MODE = "mode"
    CONTENT = "content"
    CREATE = "create"
    UNKNOWN = "unknown"


class Tree:
    """A root folder. Paths are given as the names of `parse_path`; every method may run in many threads at once.

    Methods raise `OperationFailed` and its kinds. A symbolic link at the path, or on the way to it, is refused by all.
    """

    def __init__(self, root: str, sweeper: Sweeper) -> None:
        self._root = root
        self._sweeper = sweeper

    def read_file(self, names: Sequence[str]) -> FileSeen | None:
        """The file, ``None`` when absent."""
        shown = "/".join(names)
        with self._found(names) as folder, trouble.told("read", shown):
            return None if folder is None else read_file(folder, names[-1], shown)

    def mode_of_file(self, names: Sequence[str]) -> int | None:
        """The file's mode, ``None`` when absent."""
        shown = "/".join(names)
        with self._found(names) as folder, trouble.told("read", shown):
            status = None if folder is None else file_entry(folder, names[-1], shown)
            return None if status is None else stat.S_IMODE(status.st_mode)

    def write_file(self, names: Sequence[str], content: bytes, mode: int) -> Change:
        """Brings the file to this content and mode; parents are made. Nothing is written when it is so already."""
        shown = "/".join(names)
        with self._made(names) as folder, trouble.told("write", shown):
            status = file_entry(folder, names[-1], shown)
            if status is not None and holds(folder, names[-1], content):
                return self._bring_to_mode(folder, names[-1], status, mode)
            self._sweeper.sweep(folder)
            owner = None if status is None else (status.st_uid, status.st_gid)
            replace(folder, names[-1], content, mode, owner)
            return Change.CREATE if status is None else Change.CONTENT

    def check_file(self, names: Sequence[str], content: bytes | None, mode: int | None) -> Change:
        """What `write_file` would do, changing nothing; raises what it would raise. ``None`` is not known yet."""
        shown = "/".join(names)
        with self._reached_for_change(names, "write") as folder, trouble.told("write", shown):
            status = None if folder is None else file_entry(folder, names[-1], shown)
            if folder is None or status is None:
                return Change.CREATE
            if content is None:
                return Change.UNKNOWN
            if holds(folder, names[-1], content):
                return _check_mode(status, mode)
            _require_write(folder)
            return Change.CONTENT

    def missing_folders(self, names: Sequence[str]) -> list[str]:
        """The paths of the folders that a write would have to make first, outermost first."""
        try:
            with reached(self._root, names[:-1]) as (_, depth):
                return ["/".join(names[:count]) for count in range(depth + 1, len(names))]
        except NotAFolder:
            return []

    def remove_file(self, names: Sequence[str]) -> None:
        """Removes the file; one that is absent already is fine."""
        shown = "/".join(names)
        with self._found(names) as folder, trouble.told("delete", shown):
            if folder is None or file_entry(folder, names[-1], shown) is None:
                return
            try:
                os.unlink(names[-1], dir_fd=folder)
            except FileNotFoundError:
                return
            sync_folder(folder)

    def read_directory(self, names: Sequence[str]) -> int | None:
        """The directory's mode, ``None`` when absent."""
        shown = "/".join(names)
        with self._found(names) as folder, trouble.told("read", shown):
            status = None if folder is None else directory_entry(folder, names[-1], shown)
            return None if status is None else stat.S_IMODE(status.st_mode)

    def write_directory(self, names: Sequence[str], mode: int) -> Change:
        """Brings the directory to this mode; it and its parents are made where missing."""
        shown = "/".join(names)
        with self._made(names) as folder, trouble.told("make", shown):
            before = directory_entry(folder, names[-1], shown)
            if before is None:
                try:
                    os.mkdir(names[-1], mode & 0o777, dir_fd=folder)  # whole at once, unless the umask forbids
                except FileExistsError:
                    pass  # a file below it was saved at the same time, and made its parent
                else:
                    sync_folder(folder)
            status = directory_entry(folder, names[-1], shown)
            if status is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            change = self._bring_to_mode(folder, names[-1], status, mode)
            return Change.CREATE if before is None else change

    def check_directory(self, names: Sequence[str], mode: int | None) -> Change:
        """What `write_directory` would do, changing nothing; raises what it would raise."""
        shown = "/".join(names)
        with self._reached_for_change(names, "make") as folder, trouble.told("make", shown):
            status = None if folder is None else directory_entry(folder, names[-1], shown)
            return Change.CREATE if status is None else _check_mode(status, mode)

    def remove_directory(self, names: Sequence[str]) -> None:
        """Removes the directory when it is empty; one that is absent already is fine.

        Raises `Conflict` when things are in it, transient when they come or go at this moment.
        """
        shown = "/".join(names)
        with self._found(names) as folder, trouble.told("delete", shown):
            if folder is None or directory_entry(folder, names[-1], shown) is None:
                return
            contents: list[frozenset[str]] = []
            for pause in _RMDIR_PAUSES_SECONDS:
                time.sleep(pause)
                try:
                    os.rmdir(names[-1], dir_fd=folder)
                except FileNotFoundError:
                    return
                except OSError as error:
                    if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                        raise
                    contents.append(self._contents(folder, names[-1]))
                else:
                    sync_folder(folder)
                    return
            raise _not_empty(shown, contents)

    @contextmanager
    def _found(self, names: Sequence[str]) -> Generator[int | None]:
        """The folder that would hold the entry, ``None`` when there is none."""
        try:
            with reached(self._root, names[:-1]) as (folder, depth):
                yield folder if depth == len(names) - 1 else None
        except NotAFolder:  # nothing can be below a file
            yield None

    @contextmanager
    def _made(self, names: Sequence[str]) -> Generator[int]:
        shown = "/".join(names)
        try:
            with trouble.told("make the folders of", shown), made(self._root, names[:-1]) as folder:
                yield folder
        except NotAFolder as error:
            raise trouble.not_a("a directory", error.shown, error.found) from None

    @contextmanager
    def _reached_for_change(self, names: Sequence[str], doing: str) -> Generator[int | None]:
        """Like `_found`, with the refusals of `_made`, and of a folder that may not be written to when one must be."""
        shown = "/".join(names)
        try:
            with reached(self._root, names[:-1]) as (folder, depth):
                complete = folder is not None and depth == len(names) - 1
                if folder is None:
                    _require_root(self._root)
                elif not complete or entry(folder, names[-1]) is None:
                    with trouble.told(doing if complete else "make the folders of", shown):
                        _require_write(folder)
                yield folder if complete else None
        except NotAFolder as error:
            raise trouble.not_a("a directory", error.shown, error.found) from None

    def _bring_to_mode(self, folder: int, name: str, status: os.stat_result, mode: int) -> Change:
        if stat.S_IMODE(status.st_mode) == mode:
            return Change.NOTHING
        change_mode(folder, name, mode)
        return Change.MODE

    def _contents(self, folder: int, name: str) -> frozenset[str]:
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            return frozenset()
        try:
            self._sweeper.sweep(inner, always=True)
            with listable(inner) as again:
                return frozenset(os.listdir(again))  # noqa: PTH208 - by descriptor
        finally:
            os.close(inner)


def _not_empty(shown: str, contents: Sequence[frozenset[str]]) -> Conflict:
    first, last = contents[0], contents[-1]
    if len(set(contents)) > 1 or any(is_temporary(name) for name in first | last):
        return Conflict(
            f"{shown!r} cannot be deleted while things in it come and go", path="$.properties.path", transient=True
        )
    named = ", ".join(repr(name) for name in sorted(last)[:3])
    more = f" and {len(last) - 3} more" if len(last) > 3 else ""
    return Conflict(
        f"{shown!r} is not empty: it holds {named}{more}, which this resource did not make; move or delete them first",
        path="$.properties.path",
    )


def _check_mode(status: os.stat_result, mode: int | None) -> Change:
    if mode is None:
        return Change.UNKNOWN
    if stat.S_IMODE(status.st_mode) == mode:
        return Change.NOTHING
    if os.geteuid() not in {0, status.st_uid}:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    return Change.MODE


def _require_write(folder: int) -> None:
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=True):
        number = errno.EROFS if os.fstatvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(number, os.strerror(number))


def _require_root(root: str) -> None:
    place = os.path.abspath(root)  # noqa: PTH100 - links are not to be resolved
    while not os.path.exists(place):  # noqa: PTH110
        place = os.path.dirname(place)  # noqa: PTH120
    if not os.access(place, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionDenied("the root folder cannot be made", path="$.import.config.root")
