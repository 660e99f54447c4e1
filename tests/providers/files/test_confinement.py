"""Nothing outside the root is ever read, made, changed or removed."""

import ctypes
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor import errors
from extensor_providers.files.paths import parse_path
from extensor_providers.files.tree import Change, Tree
from extensor_providers.files.writing import Sweeper

Snapshot = Callable[[Path], dict[str, tuple[object, ...]]]
CANARY = b"outside"


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests about places, not about durability."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def lay_trap(place: Path) -> tuple[Path, Path]:
    """A root full of links, and the outside that they lead to."""
    root, outside = place / "root", place / "outside"
    (root / "in").mkdir(parents=True)
    (outside / "in").mkdir(parents=True)
    for folder in (outside, outside / "in", root / "in"):
        (folder / "f").write_bytes(CANARY if folder != root / "in" else b"inside")
    for name, target in {
        "up": "..",
        "out": "../outside",
        "abs": str(outside),
        "file": "../outside/f",
        "dangling": "../outside/new",
        "loop": "loop",
        "self": ".",
        "in/up": "../..",
        "in/out": "../../outside",
        "in/link": "f",
        "slash": "/",
        "fd": "/proc/self/cwd",
    }.items():
        (root / name).symlink_to(target)
    return root, outside


@pytest.fixture
def trap() -> Iterator[tuple[Path, Path]]:
    """The root and the outside of `lay_trap`."""
    place = Path(tempfile.mkdtemp(prefix="trap-"))
    yield lay_trap(place)
    shutil.rmtree(place)


LINKS = [
    "file",
    "dangling",
    "loop",
    "in/link",
    "self",
    "out",
    "out/f",
    "abs/f",
    "abs/new/f",
    "up/outside/f",
    "in/up/outside/f",
]


@pytest.mark.reported("F04", "F05")
@pytest.mark.parametrize("path", LINKS)
def test_a_symbolic_link_is_refused_alike_by_every_verb_and_stays(
    trap: tuple[Path, Path], snapshot: Snapshot, path: str
) -> None:
    root, outside = trap
    tree, names = Tree(str(root), Sweeper()), parse_path(path)
    snapshot(root.parent)
    before = snapshot(root.parent)
    told: set[str] = set()
    for attempt in (
        lambda: tree.check_file(names, CANARY, 0o644),
        lambda: tree.check_file(names, None, None),
        lambda: tree.write_file(names, CANARY, 0o644),
        lambda: tree.write_file(names, CANARY, 0o644),
        lambda: tree.read_file(names),
        lambda: tree.remove_file(names),
        lambda: tree.check_directory(names, 0o755),
        lambda: tree.write_directory(names, 0o755),
        lambda: tree.read_directory(names),
        lambda: tree.remove_directory(names),
    ):
        with pytest.raises(errors.Conflict, match="is a symbolic link") as caught:
            attempt()
        told.add(str(caught.value))
    assert len(told) == 1
    assert str(outside) not in told.pop()
    assert snapshot(root.parent) == before


WORDS = [
    "in",
    "up",
    "out",
    "abs",
    "file",
    "dangling",
    "loop",
    "self",
    "link",
    "slash",
    "fd",
    "f",
    "new",
    "outside",
    "..",
    ".",
    "",
    "/",
    "\0",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "check", "read", "remove", "mkdir", "rmdir"]),
            st.one_of(
                st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("/".join),
                st.text(alphabet="./\0fin~\\", max_size=8),
            ),
        ),
        min_size=1,
        max_size=15,
    )
)
@settings(deadline=None, max_examples=100)
def test_no_sequence_of_calls_reaches_outside(calls: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        root, outside = lay_trap(Path(place))
        tree = Tree(str(root), Sweeper())
        before = _contents(outside)
        for verb, text in calls:
            try:
                names = parse_path(text)
                seen = None
                match verb:
                    case "write":
                        tree.write_file(names, b"written", 0o600)
                    case "check":
                        tree.check_file(names, b"checked", 0o600)
                    case "read":
                        seen = tree.read_file(names)
                    case "remove":
                        tree.remove_file(names)
                    case "mkdir":
                        tree.write_directory(names, 0o700)
                    case _:
                        tree.remove_directory(names)
                assert seen is None or seen.content != CANARY
            except errors.OperationFailed as error:
                assert error.failure.code in {"Conflict", "InvalidProperty"}  # noqa: PT017 - most calls raise nothing
        assert _contents(outside) == before
        assert sorted(path.name for path in Path(place).iterdir()) == ["outside", "root"]


def exchange(one: Path, other: Path) -> None:
    """Swaps two names in one step, so that at each moment one of both stands at either."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        pytest.skip("this system cannot swap two names in one step")
    here, swap_names = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if renameat2(here, os.fsencode(one), here, os.fsencode(other), swap_names):
        raise OSError(ctypes.get_errno(), "renameat2")


@pytest.mark.usefixtures("quick_disk")
def test_a_folder_that_is_swapped_for_a_link_during_saves_leads_nobody_outside(trap: tuple[Path, Path]) -> None:
    root, outside = trap
    (root / "d").mkdir()
    tree = Tree(str(root), Sweeper())
    before = _contents(outside)
    (root / "d.link").symlink_to(outside)
    done = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not done.is_set():
            exchange(root / "d", root / "d.link")
            swaps += 1

    outcomes: dict[str, int] = {}

    def work(number: int) -> None:
        name = f"f{number % 3}"
        try:
            match number % 4:
                case 0:
                    tree.remove_file(("d", name))
                case 1:
                    tree.check_file(("d", "f"), CANARY, 0o644)
                case _:
                    tree.write_file(("d", name), str(number).encode(), 0o644)
            outcome = "done"
        except errors.Conflict:
            outcome = "refused"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    with ThreadPoolExecutor(1) as pool:
        swapping = pool.submit(swap)
        try:
            for number in range(10_000):
                work(number)
        finally:
            done.set()
        swapping.result(10)
    assert _contents(outside) == before
    assert swaps > 100
    assert min(outcomes["done"], outcomes["refused"]) > 100


def test_a_root_reached_through_a_link_is_the_configurations_word(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert Tree(str(tmp_path / "link"), Sweeper()).write_file(("f",), b"x", 0o644) is Change.CREATE
    assert (tmp_path / "real/f").read_bytes() == b"x"


def _contents(place: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else None for path in sorted(place.rglob("*"))
    }
