"""A save that is killed or fails half way leaves the whole old file or the whole new one."""

import errno
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from extensor import errors
from extensor_providers.files import writing
from extensor_providers.files.paths import is_temporary
from extensor_providers.files.tree import Change, Tree
from extensor_providers.files.writing import Sweeper

OLD, NEW = b"old " * 50_000, b"new!" * 60_000

WRITE_ONCE = """
import sys
from extensor_providers.files.tree import Tree
from extensor_providers.files.writing import Sweeper
Tree(sys.argv[1], Sweeper()).write_file(("d", "f"), b"new!" * 60_000, 0o640)
"""

WRITE_FOR_EVER = """
import sys
from extensor_providers.files.tree import Tree
from extensor_providers.files.writing import Sweeper
tree = Tree(sys.argv[1], Sweeper())
while True:
    for content, mode in ((b"old " * 50_000, 0o600), (b"new!" * 60_000, 0o640)):
        tree.write_file(("d", "f"), content, mode)
        sys.stdout.write("written\\n")
        sys.stdout.flush()
"""

HOLD_TEMPORARY = """
import os, sys
from extensor_providers.files import writing
folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
name, file = writing._temporary(folder, 0o600)
sys.stdout.write(name + "\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def temporaries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if is_temporary(path.name)]


def assert_whole(file: Path) -> None:
    found = (file.read_bytes(), stat.S_IMODE(file.stat().st_mode))
    assert found in {(OLD, 0o600), (NEW, 0o640)}


def test_a_writer_killed_at_any_moment_leaves_a_whole_file_and_the_next_save_cleans_up(tree: Tree, root: Path) -> None:
    tree.write_file(("d", "f"), OLD, 0o600)
    for lines in range(1, 9):
        child = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(root)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        with child, child.stdout:
            for _ in range(lines):
                assert child.stdout.readline() == b"written\n"
            child.kill()
        assert_whole(root / "d/f")
        assert len(temporaries(root / "d")) <= 1
        Tree(str(root), Sweeper()).write_file(("d", f"other{lines}"), b"x", 0o644)
        assert temporaries(root / "d") == []


@pytest.fixture(scope="session")
def strace() -> str:
    """The system call tracer, where it is installed and may trace."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    if subprocess.run([found, "-qq", "-o", os.devnull, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    return found


@pytest.mark.parametrize(
    ("call", "turn", "left"),
    [
        ("write", 1, OLD),
        ("fchmod", 1, OLD),
        ("fsync", 1, OLD),
        ("/^rename", 1, None),
        ("fsync", 2, NEW),
    ],
)
def test_a_writer_killed_at_each_system_call_leaves_a_whole_file(
    strace: str, tree: Tree, root: Path, call: str, turn: int, left: bytes | None
) -> None:
    tree.write_file(("d", "f"), OLD, 0o600)
    inject = [strace, "-f", "-qq", "-o", os.devnull, "-e", f"inject={call}:signal=KILL:when={turn}"]
    ended = subprocess.run([*inject, sys.executable, "-c", WRITE_ONCE, str(root)], capture_output=True, check=False)
    assert ended.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}
    assert_whole(root / "d/f")
    if left is not None:
        assert (root / "d/f").read_bytes() == left
    assert len(temporaries(root / "d")) <= 1
    tree = Tree(str(root), Sweeper())
    tree.write_file(("d", "f"), b"next", 0o644)
    assert temporaries(root / "d") == []


def test_content_reaches_the_disk_before_the_name_and_the_name_before_the_answer(
    strace: str, root: Path, tmp_path: Path
) -> None:
    log = tmp_path / "calls"
    trace = [strace, "-f", "-qq", "-o", str(log), "-e", "trace=openat,write,fchmod,fsync,/^rename"]
    subprocess.run([*trace, sys.executable, "-c", WRITE_ONCE, str(root)], check=True)
    calls = log.read_text()
    begin = calls.index("O_EXCL")
    order = re.findall(r"\b(write|fchmod|fsync|rename)[a-z0-9]*\(", calls[begin:])
    assert order == ["write", "fchmod", "fsync", "rename", "fsync"]


@pytest.mark.reported("F01")
def test_a_preview_makes_no_system_call_that_writes(strace: str, tree: Tree, root: Path, tmp_path: Path) -> None:
    tree.write_file(("d", "f"), OLD, 0o600)
    log = tmp_path / "calls"
    program = (
        "import os, sys\n"
        "from extensor_providers.files.tree import Tree\n"
        "from extensor_providers.files.writing import Sweeper\n"
        "tree = Tree(sys.argv[1], Sweeper())\n"
        "os.access('/begin', os.R_OK)\n"
        "tree.check_file(('d', 'f'), b'x', 0o644)\n"
        "tree.check_file(('new', 'g'), b'x', 0o644)\n"
        "tree.check_directory(('d',), 0o700)\n"
        "tree.check_directory(('new', 'g'), 0o700)\n"
        "os.access('/end', os.R_OK)\n"
    )
    subprocess.run([strace, "-qq", "-o", str(log), sys.executable, "-c", program, str(root)], check=True)
    calls = log.read_text().partition('"/begin"')[2].partition('"/end"')[0]
    assert "openat(" in calls
    changing = "mkdir|rmdir|unlink|rename|link|symlink|mknod|f?chmod|f?chown|l?chown|utime|futime|f?truncate|p?write"
    writing_calls = rf"^({changing})[a-z0-9]*\("
    assert re.findall(writing_calls, calls, re.MULTILINE) == []
    assert not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", calls)


def test_the_unfinished_write_of_a_living_process_is_left_alone(tree: Tree, root: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD_TEMPORARY, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child:
        name = child.stdout.readline().strip()
        tree.write_file(("f",), b"x", 0o644)
        assert [path.name for path in temporaries(root)] == [name]
        child.kill()
    Tree(str(root), Sweeper()).write_file(("g",), b"x", 0o644)
    assert temporaries(root) == []


def test_a_writer_whose_file_is_swept_before_it_holds_the_lock_takes_another(
    tree: Tree, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, turns = fcntl.flock, iter([True, False])

    def swept_first(file: int, operation: int) -> None:
        if next(turns):
            (left,) = temporaries(root)
            left.unlink()
        flock(file, operation)

    monkeypatch.setattr(writing.fcntl, "flock", swept_first)
    assert tree.write_file(("f",), b"x", 0o644) is Change.CREATE
    assert (root / "f").read_bytes() == b"x"


@pytest.mark.parametrize("call", ["open", "write", "fchmod", "fsync", "rename"])
@pytest.mark.parametrize(
    ("number", "code", "transient"),
    [
        (errno.ENOSPC, "NoSpace", False),
        (errno.EDQUOT, "NoSpace", False),
        (errno.EROFS, "PermissionDenied", False),
        (errno.EACCES, "PermissionDenied", False),
        (errno.EIO, "FileSystemError", False),
        (errno.EMFILE, "Unavailable", True),
        (errno.ENOENT, "Conflict", True),
    ],
)
def test_a_failure_of_any_call_is_a_typed_error_that_leaves_the_old_file_alone(
    tree: Tree, root: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str, transient: bool
) -> None:
    tree.write_file(("d", "f"), OLD, 0o600)
    real = getattr(os, call)

    def failing(*arguments: object, **named: object) -> object:
        if call == "open" and not (isinstance(arguments[1], int) and arguments[1] & os.O_CREAT):
            return real(*arguments, **named)
        raise OSError(number, os.strerror(number), str(root / "d/f"))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(errors.OperationFailed) as caught:
            tree.write_file(("d", "f"), NEW, 0o640)
    (fault,) = caught.value.failure.faults
    assert (fault.code, fault.path, caught.value.failure.transient) == (code, "$.properties.path", transient)
    assert str(root) not in fault.message
    assert "'d/f'" in fault.message
    assert_whole(root / "d/f")
    assert [path.name for path in (root / "d").iterdir()] == ["f"]


def in_own_mounts(script: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Runs a shell script in a mount namespace of its own; skips the test where that is not allowed."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare command to make a small file system with")
    tried = subprocess.run([unshare, "-m", "mount", "-t", "tmpfs", "none", str(root)], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    return subprocess.run([unshare, "-m", "sh", "-c", script], capture_output=True, text=True, check=False)


PROBE = """
import sys
from extensor import errors
from extensor_providers.files.tree import Tree
from extensor_providers.files.writing import Sweeper
tree = Tree(sys.argv[1], Sweeper())
for attempt in (tree.check_file, tree.write_file):
    try:
        sys.stdout.write(attempt(("f",), b"x" * 300_000, 0o644).value + " ")
    except errors.OperationFailed as error:
        sys.stdout.write(error.failure.code + " ")
"""


def test_a_full_disk_is_told_and_leaves_nothing_behind(root: Path) -> None:
    ended = in_own_mounts(
        f"mount -t tmpfs -o size=64k none {root} && {sys.executable} -c '{PROBE}' {root} && ls -A {root}", root
    )
    assert (ended.stdout, ended.stderr) == ("create NoSpace ", "")


def test_a_disk_for_reading_only_is_told_by_preview_and_save_alike(root: Path) -> None:
    ended = in_own_mounts(f"mount -t tmpfs -o ro none {root} && {sys.executable} -c '{PROBE}' {root}", root)
    assert (ended.stdout, ended.stderr) == ("PermissionDenied PermissionDenied ", "")


def test_a_file_above_the_processs_limit_is_told_and_leaves_nothing_behind(root: Path) -> None:
    program = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n" + PROBE
    ended = subprocess.run([sys.executable, "-c", program, str(root)], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("create NoSpace ", "")
    assert list(root.iterdir()) == []


@pytest.fixture
def as_nobody(root: Path) -> Iterator[None]:
    """The test's process without root's rights, where it has them."""
    if os.geteuid():
        yield
        return
    os.chown(root, 65534, 65534)
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.usefixtures("as_nobody")
class TestWithoutRights:
    @pytest.fixture
    def root(self) -> Iterator[Path]:
        """A folder of its own: those above pytest's are closed to all but its user."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)

    def test_a_folder_that_may_not_be_written_to_is_told_by_preview_and_save_alike(
        self, tree: Tree, root: Path
    ) -> None:
        (root / "d").mkdir()
        (root / "d").chmod(0o555)
        for preview, save in (
            (lambda: tree.check_file(("d", "f"), b"x", 0o644), lambda: tree.write_file(("d", "f"), b"x", 0o644)),
            (
                lambda: tree.check_file(("d", "e", "f"), b"", 0o644),
                lambda: tree.write_file(("d", "e", "f"), b"", 0o644),
            ),
            (lambda: tree.check_directory(("d", "e"), 0o755), lambda: tree.write_directory(("d", "e"), 0o755)),
        ):
            with pytest.raises(errors.PermissionDenied) as told:
                preview()
            with pytest.raises(errors.PermissionDenied) as felt:
                save()
            assert str(told.value) == str(felt.value)
            assert str(root) not in str(felt.value)

    def test_a_file_made_unreadable_by_hand_is_an_error_to_read_and_is_repaired_by_a_save(
        self, tree: Tree, root: Path
    ) -> None:
        tree.write_file(("f",), b"x", 0o644)
        (root / "f").chmod(0)
        with pytest.raises(errors.PermissionDenied):
            tree.read_file(("f",))
        assert tree.check_file(("f",), b"x", 0o644) is Change.CONTENT
        assert tree.write_file(("f",), b"x", 0o644) is Change.CONTENT
        seen = tree.read_file(("f",))
        assert seen is not None
        assert (seen.mode, seen.content) == (0o644, b"x")

    def test_a_directory_made_unreadable_by_hand_is_repaired_by_a_save(self, tree: Tree, root: Path) -> None:
        tree.write_directory(("d",), 0o755)
        (root / "d").chmod(0)
        assert tree.read_directory(("d",)) == 0
        assert tree.write_directory(("d",), 0o755) is Change.MODE
        assert tree.read_directory(("d",)) == 0o755
