"""What the verbs do below one root."""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from extensor import errors
from extensor_providers.files import writing
from extensor_providers.files.reading import SHOWN_BYTES
from extensor_providers.files.tree import Change, Tree
from extensor_providers.files.writing import Sweeper

Snapshot = Callable[[Path], dict[str, tuple[object, ...]]]


@pytest.fixture
def umask() -> Iterator[Callable[[int], None]]:
    """Sets the process's umask for one test."""
    before = os.umask(0o022)
    yield lambda mask: os.umask(mask) and None
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.reported("F12")
@pytest.mark.parametrize(
    "content", [b"a\n", b"a", b"a\r\nb", b"", "\ufeffx".encode(), b"\xff\0\xfe", bytes(range(256)) * 9000]
)
def test_content_is_kept_byte_for_byte_and_a_second_save_changes_nothing(
    tree: Tree, root: Path, content: bytes
) -> None:
    assert tree.write_file(("f",), content, 0o644) is Change.CREATE
    assert (root / "f").read_bytes() == content
    before = (root / "f").stat()
    assert tree.check_file(("f",), content, 0o644) is Change.NOTHING
    assert tree.write_file(("f",), content, 0o644) is Change.NOTHING
    after = (root / "f").stat()
    assert (after.st_mtime_ns, after.st_ctime_ns, after.st_ino) == (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_ino,
    )
    seen = tree.read_file(("f",))
    assert seen is not None
    assert (seen.size, seen.content) == (len(content), content if len(content) <= SHOWN_BYTES else None)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_the_mode_is_the_one_asked_for_whatever_the_umask(
    tree: Tree, root: Path, umask: Callable[[int], None], mask: int
) -> None:
    umask(mask)
    tree.write_file(("f",), b"x", 0o644)
    tree.write_directory(("d",), 0o775)
    assert (mode_of(root / "f"), mode_of(root / "d")) == (0o644, 0o775)


def test_a_directory_has_its_mode_from_the_first_moment_where_the_umask_lets_it(
    tree: Tree, root: Path, umask: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    umask(0o022)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("extensor_providers.files.tree.Tree._bring_to_mode", killed)
    with pytest.raises(KeyboardInterrupt):
        tree.write_directory(("d",), 0o755)
    assert mode_of(root / "d") == 0o755


@pytest.mark.reported("D11")
def test_a_change_of_mode_alone_is_made_in_place(tree: Tree, root: Path) -> None:
    tree.write_file(("f",), b"x", 0o644)
    before = (root / "f").stat()
    assert tree.check_file(("f",), b"x", 0o600) is Change.MODE
    assert tree.write_file(("f",), b"x", 0o600) is Change.MODE
    after = (root / "f").stat()
    assert (after.st_ino, after.st_mtime_ns, mode_of(root / "f")) == (before.st_ino, before.st_mtime_ns, 0o600)


@pytest.mark.reported("I01")
def test_a_mode_changed_by_hand_is_seen_and_restored(tree: Tree, root: Path) -> None:
    tree.write_file(("f",), b"x", 0o644)
    (root / "f").chmod(0o755)
    seen = tree.read_file(("f",))
    assert seen is not None
    assert seen.mode == 0o755
    tree.write_file(("f",), b"x", 0o644)
    assert mode_of(root / "f") == 0o644


def test_a_file_that_is_overwritten_is_never_absent_nor_half_written(tree: Tree, root: Path) -> None:
    contents = [bytes([65 + i]) * 200_000 for i in range(2)]
    tree.write_file(("f",), contents[0], 0o644)
    done = threading.Event()
    seen: set[bytes] = set()

    def watch() -> None:
        while not done.is_set():
            seen.add((root / "f").read_bytes())

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        for turn in range(60):
            tree.write_file(("f",), contents[turn % 2], 0o644)
        done.set()
        watching.result(10)
    assert seen <= set(contents)


@pytest.mark.reported("F06")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400])
def test_no_file_in_the_folder_is_ever_wider_open_than_the_final_mode(
    tree: Tree, root: Path, umask: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    umask(0)
    seen: list[int] = []

    def looking(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **named: object) -> object:
            result = call(*arguments, **named)
            seen.extend(mode_of(path) for path in root.iterdir() if path.is_file())
            return result

        return wrapped

    for name in ("open", "write", "fchmod", "fsync", "rename", "close"):
        monkeypatch.setattr(writing.os, name, looking(getattr(os, name)))
    tree.write_file(("secret",), b"s3cret", mode)
    monkeypatch.undo()
    assert mode_of(root / "secret") == mode
    assert len(seen) >= 5
    assert [oct(one) for one in seen if one & ~mode] == []


@pytest.mark.reported("F15")
def test_twenty_files_under_one_missing_parent_are_saved_at_once(tree: Tree, root: Path) -> None:
    start = threading.Barrier(20)

    def save(number: int) -> Change:
        start.wait(10)
        return tree.write_file(("a", "b", "c", f"{number}.txt"), b"x", 0o644)

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(save, range(20))) == {Change.CREATE}
    assert len(list((root / "a/b/c").iterdir())) == 20


def test_a_directory_and_the_files_in_it_may_be_saved_at_once(tree: Tree, root: Path) -> None:
    start = threading.Barrier(9)

    def save(number: int) -> None:
        start.wait(10)
        if number:
            tree.write_file(("d", "e", str(number)), b"x", 0o644)
        else:
            tree.write_directory(("d", "e"), 0o750)

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(save, range(9)))
    assert mode_of(root / "d/e") == 0o750
    assert len(list((root / "d/e").iterdir())) == 8


def test_the_root_itself_is_made_by_the_first_save_and_by_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "new" / "root"
    tree = Tree(str(place), Sweeper())
    assert tree.read_file(("f",)) is None
    assert tree.read_directory(("d",)) is None
    tree.remove_file(("f",))
    tree.remove_directory(("d",))
    assert tree.check_file(("f",), b"x", 0o644) is Change.CREATE
    assert tree.check_directory(("d",), 0o755) is Change.CREATE
    assert not place.parent.exists()
    tree.write_file(("f",), b"x", 0o644)
    assert (place / "f").read_bytes() == b"x"


def test_a_check_changes_nothing_at_all_not_even_times(tree: Tree, root: Path, snapshot: Snapshot) -> None:
    for number in range(3):
        tree.write_file(("d", f"{number}"), b"x" * number, 0o644)
        os.utime(root / f"d/{number}", ns=(1, 2))  # an access time so old that reading would renew it
    tree.write_directory(("e",), 0o755)
    snapshot(root)
    before = snapshot(root)
    assert tree.check_file(("d", "1"), b"x", 0o644) is Change.NOTHING
    assert tree.check_file(("d", "1"), b"y", 0o644) is Change.CONTENT
    assert tree.check_file(("d", "1"), b"x", 0o600) is Change.MODE
    assert tree.check_file(("d", "1"), None, None) is Change.UNKNOWN
    assert tree.check_file(("d", "1"), b"x", None) is Change.UNKNOWN
    assert tree.check_file(("missing", "too", "f"), b"x", 0o644) is Change.CREATE
    assert tree.check_file(("missing", "too", "f"), None, None) is Change.CREATE
    assert tree.check_directory(("e",), 0o700) is Change.MODE
    assert tree.check_directory(("e", "g"), 0o700) is Change.CREATE
    assert tree.read_file(("d", "2")) is not None
    assert tree.read_directory(("d",)) == 0o755
    assert snapshot(root) == before


@pytest.mark.parametrize("kind", ["directory", "pipe", "parent is a file"])
def test_what_stands_in_the_way_is_named_and_left_alone(tree: Tree, root: Path, snapshot: Snapshot, kind: str) -> None:
    names = ("d", "f")
    (root / "d").mkdir()
    if kind == "directory":
        (root / "d/f").mkdir()
    elif kind == "pipe":
        os.mkfifo(root / "d/f")
    else:
        names = ("d", "g", "f")
        (root / "d/g").write_text("x")
    snapshot(root)
    before = snapshot(root)
    for attempt in (
        lambda: tree.check_file(names, b"x", 0o644),
        lambda: tree.write_file(names, b"x", 0o644),
    ):
        with pytest.raises(errors.Conflict, match="is a") as caught:
            attempt()
        assert not caught.value.failure.transient
        assert str(root) not in str(caught.value)
    assert snapshot(root) == before


def test_below_a_file_there_is_nothing_to_read_and_nothing_to_delete(tree: Tree, root: Path) -> None:
    (root / "f").write_text("x")
    assert tree.read_file(("f", "g")) is None
    tree.remove_file(("f", "g"))
    tree.remove_directory(("f", "g"))
    assert (root / "f").read_text() == "x"


def test_a_file_is_not_deleted_as_a_directory_nor_the_other_way_round(tree: Tree, root: Path) -> None:
    (root / "f").write_text("x")
    (root / "d").mkdir()
    with pytest.raises(errors.Conflict, match="is a directory, not a file"):
        tree.remove_file(("d",))
    with pytest.raises(errors.Conflict, match="is a file, not a directory"):
        tree.remove_directory(("f",))


def test_a_file_above_the_limit_is_seen_by_its_digest_alone(tree: Tree, root: Path) -> None:
    with (root / "big").open("wb") as file:
        file.truncate(SHOWN_BYTES + 1)
    seen = tree.read_file(("big",))
    assert seen is not None
    assert (seen.content, seen.size) == (None, SHOWN_BYTES + 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_an_overwritten_file_stays(tree: Tree, root: Path) -> None:
    tree.write_file(("f",), b"old", 0o644)
    os.chown(root / "f", 1234, 2345)
    tree.write_file(("f",), b"new", 0o600)
    status = (root / "f").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o600)


class TestDelete:
    @pytest.mark.reported("D02")
    def test_one_path_is_deleted_by_twenty_callers(self, tree: Tree, root: Path) -> None:
        for _ in range(10):
            tree.write_file(("d", "f"), b"x", 0o644)
            start = threading.Barrier(20)

            def delete(_: int, start: threading.Barrier = start) -> None:
                start.wait(10)
                tree.remove_file(("d", "f"))

            with ThreadPoolExecutor(20) as pool:
                list(pool.map(delete, range(20)))
            assert not (root / "d/f").exists()

    @pytest.mark.reported("D02")
    def test_one_directory_is_deleted_by_twenty_callers(self, tree: Tree, root: Path) -> None:
        tree.write_directory(("d",), 0o755)
        start = threading.Barrier(20)

        def delete(_: int) -> None:
            start.wait(10)
            tree.remove_directory(("d",))

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(delete, range(20)))
        assert not (root / "d").exists()

    def test_a_directory_with_things_in_it_stays_and_the_error_names_them(self, tree: Tree, root: Path) -> None:
        for name in "abcde":
            tree.write_file(("d", name), b"x", 0o644)
        with pytest.raises(errors.Conflict, match="it holds 'a', 'b', 'c' and 2 more") as caught:
            tree.remove_directory(("d",))
        assert not caught.value.failure.transient
        assert len(list((root / "d").iterdir())) == 5

    @pytest.mark.reported("D03")
    def test_a_directory_that_someone_writes_to_is_a_transient_conflict(
        self, tree: Tree, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (root / "d").mkdir()
        turns = iter(range(100))
        rmdir = os.rmdir

        def busy(name: str, *, dir_fd: int) -> None:
            (root / "d" / str(next(turns))).write_text("x")
            rmdir(name, dir_fd=dir_fd)

        monkeypatch.setattr(os, "rmdir", busy)
        with pytest.raises(errors.Conflict, match="come and go") as caught:
            tree.remove_directory(("d",))
        assert caught.value.failure.transient

    @pytest.mark.reported("D02")
    def test_a_directory_whose_files_are_deleted_meanwhile_goes_in_the_end(
        self, tree: Tree, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(4):
            tree.write_file(("d", str(number)), b"x", 0o644)
        rmdir = os.rmdir

        def one_less(name: str, *, dir_fd: int) -> None:
            try:
                rmdir(name, dir_fd=dir_fd)
            finally:
                if left := sorted((root / "d").glob("*")):
                    left[0].unlink()

        monkeypatch.setattr(os, "rmdir", one_less)
        tree.remove_directory(("d",))
        assert not (root / "d").exists()

    def test_what_a_killed_writer_left_does_not_keep_a_directory(self, tree: Tree, root: Path) -> None:
        (root / "d").mkdir()
        (root / "d/.extensor-0123.tmp").write_text("half")
        tree.remove_directory(("d",))
        assert not (root / "d").exists()
