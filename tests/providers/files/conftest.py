"""A root to work in, and a look at a tree that misses nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from extensor_providers.files.tree import Tree
from extensor_providers.files.writing import Sweeper

Snapshot = dict[str, tuple[object, ...]]


def snapshot_of(place: Path) -> Snapshot:
    """Everything about a tree that a change could touch: kinds, modes, owners, links, all three times, bytes."""
    found: Snapshot = {}
    for path in (place, *sorted(place.rglob("*"))):
        status = path.lstat()
        times = (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns)
        kind = (status.st_mode, status.st_uid, status.st_gid, status.st_ino, status.st_nlink, status.st_size)
        target = str(path.readlink()) if path.is_symlink() else None
        found[str(path.relative_to(place))] = (*kind, *times, target)
    return found


@pytest.fixture
def snapshot() -> Callable[[Path], Snapshot]:
    """`snapshot_of`, for tests. Its own listing of folders changes their access times: take one and drop it first."""
    return snapshot_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty root folder with an outside beside it."""
    place = tmp_path / "root"
    place.mkdir()
    return place


@pytest.fixture
def tree(root: Path) -> Tree:
    """The tree of that root."""
    return Tree(str(root), Sweeper())
