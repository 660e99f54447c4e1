"""The provider as a host meets it: a real process, one line of JSON a message."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Snapshot = Callable[[Path], dict[str, tuple[object, ...]]]
Json = Any


class Failed(Exception):
    """An error answer; `faults` are its ``errors``."""

    def __init__(self, error: dict[str, Json]) -> None:
        self.faults: list[dict[str, Json]] = error["data"]["errors"]
        self.transient: bool = error["data"].get("transient", False)
        self.text = json.dumps(error)
        super().__init__(error["message"])

    @property
    def places(self) -> list[tuple[str, str | None]]:
        """Code and path of each fault."""
        return [(fault["code"], fault.get("path")) for fault in self.faults]


class Host:
    """The least a host can be."""

    def __init__(self, process: "subprocess.Popen[str]", root: str) -> None:
        self._process = process
        self._count = 0
        self.root = root

    def many(self, *calls: tuple[str, str, dict[str, Json]]) -> list[dict[str, Json]]:
        """Sends all calls at once; answers in the order of the calls."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        first = self._count
        for verb, kind, properties in calls:
            params = {
                "import": {"provider": "files", "version": "1.0.0", "config": {"root": self.root}},
                "type": f"{kind}@1.0",
                "properties": properties,
            }
            message = {"jsonrpc": "2.0", "id": self._count, "method": f"resource/{verb}", "params": params}
            self._process.stdin.write(json.dumps(message) + "\n")
            self._count += 1
        self._process.stdin.flush()
        answers: dict[int, dict[str, Json]] = {}
        while len(answers) < len(calls):
            answer = json.loads(self._process.stdout.readline())
            answers[answer["id"]] = answer
        return [answers[first + place] for place in range(len(calls))]

    def call(self, verb: str, kind: str, **properties: Json) -> Json:
        """The result of one call. Raises `Failed`."""
        (answer,) = self.many((verb, kind, properties))
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def properties(self, verb: str, kind: str, **properties: Json) -> Json:
        """The properties in the result of one call."""
        return self.call(verb, kind, **properties)["properties"]


@pytest.fixture(scope="module")
def process() -> Iterator["subprocess.Popen[str]"]:
    """The provider's process, one for all tests here: each has a root of its own."""
    command = [sys.executable, "-m", "extensor.authoring", "extensor_providers.files.provider:provider"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    with child:
        assert child.stdin is not None
        yield child
        child.stdin.close()
        assert child.wait(10) == 0


@pytest.fixture
def host(process: "subprocess.Popen[str]", root: Path) -> Host:
    """A host whose calls go to the test's own root."""
    return Host(process, str(root))


UNKNOWN = {"$unknown": {"expression": "[reference('a').b]"}}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_preview_save_and_get_show_the_same_resource(host: Host, root: Path) -> None:
    given = {"path": "a/b.txt", "content": "Grüße\n", "mode": "0640"}
    content = "Grüße\n".encode()
    whole = {**given, "sha256": digest(content), "size": len(content)}
    preview = host.call("previewSave", "file", **given)
    assert list(root.iterdir()) == []
    saved = host.call("save", "file", **given)
    got = host.call("get", "file", path="a/b.txt")
    assert preview["properties"] == saved["properties"] == got["properties"] == whole
    assert preview["identifiers"] == saved["identifiers"] == got["identifiers"] == {"path": "a/b.txt"}
    assert preview["configId"] == saved["configId"] == got["configId"]
    assert (root / "a/b.txt").read_bytes() == content


BYTES = [
    b"a\n",
    b"a",
    b"a\r\nb",
    b"",
    "\ufeffx".encode(),
    b"\xff\0\xfe",
    b"text as base64",
    b"\0",
    b"\r",
    "\u2028".encode(),
]


@pytest.mark.reported("F07")
@pytest.mark.parametrize("content", BYTES)
def test_bytes_given_in_base64_come_back_and_a_second_look_shows_no_change(
    host: Host, root: Path, content: bytes
) -> None:
    given = {"path": "f", "contentBase64": base64.b64encode(content).decode()}
    first = host.properties("save", "file", **given)
    assert (root / "f").read_bytes() == content
    before = (root / "f").stat()
    assert host.properties("get", "file", path="f") == first
    assert host.properties("previewSave", "file", **given) == first
    assert host.properties("save", "file", **given) == first
    after = (root / "f").stat()
    assert (after.st_mtime_ns, after.st_ctime_ns, after.st_ino) == (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_ino,
    )
    shown = first["content"].encode() if "content" in first else base64.b64decode(first["contentBase64"])
    assert shown == content


@pytest.mark.reported("F12")
@pytest.mark.parametrize("content", [one.decode() for one in BYTES if one != b"\xff\0\xfe"])
def test_text_is_kept_byte_for_byte(host: Host, root: Path, content: str) -> None:
    saved = host.properties("save", "file", path="f", content=content)
    assert (root / "f").read_bytes() == content.encode()
    assert saved == host.properties("get", "file", path="f")
    assert saved["content"] == content


def test_what_get_shows_can_be_saved_again(host: Host, root: Path) -> None:
    for name, content in {"text": b"x\n", "bytes": b"\xff\0"}.items():
        (root / name).write_bytes(content)
        shown = host.properties("get", "file", path=name)
        del shown["sha256"], shown["size"]
        host.call("save", "file", **shown)
        assert (root / name).read_bytes() == content


@pytest.mark.reported("F08", "I01")
def test_modes_have_defaults_and_drift_is_shown_and_restored(host: Host, root: Path) -> None:
    assert host.properties("save", "file", path="f", content="x")["mode"] == "0644"
    assert host.properties("save", "directory", path="d") == {"path": "d", "mode": "0755"}
    (root / "f").chmod(0o4711)
    (root / "d").chmod(0o1777)
    assert host.properties("get", "file", path="f")["mode"] == "4711"
    assert host.properties("get", "directory", path="d")["mode"] == "1777"
    host.call("save", "file", path="f", content="x", mode="0644")
    host.call("save", "directory", path="d", mode="0755")
    assert (oct((root / "f").stat().st_mode), oct((root / "d").stat().st_mode)) == ("0o100644", "0o40755")


@pytest.mark.reported("I12")
def test_a_mode_that_is_not_given_is_left_as_it_is(host: Host, root: Path) -> None:
    host.call("save", "file", path="f", content="x", mode="0600")
    host.call("save", "directory", path="d", mode="0700")
    assert host.properties("previewSave", "file", path="f", content="y")["mode"] == "0600"
    assert host.properties("save", "file", path="f", content="y")["mode"] == "0600"
    assert host.properties("previewSave", "directory", path="d") == {"path": "d", "mode": "0700"}
    assert host.properties("save", "directory", path="d") == {"path": "d", "mode": "0700"}
    assert (oct((root / "f").stat().st_mode), oct((root / "d").stat().st_mode)) == ("0o100600", "0o40700")


def test_a_file_above_the_limit_is_shown_by_digest_and_size_alike_everywhere(host: Host) -> None:
    content = "x" * (1024 * 1024 + 1)
    whole = {"path": "f", "mode": "0644", "sha256": digest(content.encode()), "size": len(content)}
    assert host.properties("previewSave", "file", path="f", content=content) == whole
    assert host.properties("save", "file", path="f", content=content) == whole
    assert host.properties("get", "file", path="f") == whole


@pytest.mark.reported("D01")
def test_absence_is_an_error_to_get_and_a_success_to_delete(host: Host) -> None:
    for kind in ("file", "directory"):
        for path in ("missing", "not/here/either"):
            with pytest.raises(Failed) as caught:
                host.call("get", kind, path=path)
            assert caught.value.places[0][0] == "ResourceNotFound"
            assert host.call("delete", kind, path=path)["properties"] is None


@pytest.mark.reported("F15")
def test_twenty_files_under_one_missing_parent_are_saved_at_once(host: Host, root: Path) -> None:
    answers = host.many(*(("save", "file", {"path": f"a/b/{n}", "content": str(n)}) for n in range(20)))
    assert [answer.get("error") for answer in answers] == [None] * 20
    assert sorted(int(path.name) for path in (root / "a/b").iterdir()) == list(range(20))


def test_one_path_is_deleted_by_many_calls_at_once(host: Host, root: Path) -> None:
    host.call("save", "file", path="a/f", content="x")
    answers = host.many(*(("delete", "file", {"path": "a/f"}) for _ in range(10)))
    answers += host.many(*(("delete", "directory", {"path": "a"}) for _ in range(10)))
    assert [answer.get("error") for answer in answers] == [None] * 20
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    ("properties", "places"),
    [
        ({"path": "f"}, [("MissingProperty", "$.properties.content")]),
        ({"path": "f", "content": None}, [("MissingProperty", "$.properties.content")]),
        ({"path": "f", "content": "x", "contentBase64": "eA=="}, [("InvalidProperty", "$.properties.contentBase64")]),
        ({"path": "f", "contentBase64": "e"}, [("InvalidProperty", "$.properties.contentBase64")]),
        ({"path": "f", "contentBase64": "eA==\n"}, [("InvalidProperty", "$.properties.contentBase64")]),
        ({"path": "f", "content": "x", "mode": "644"}, [("InvalidProperty", "$.properties.mode")]),
        ({"path": "f", "content": "x", "mode": "u+x"}, [("InvalidProperty", "$.properties.mode")]),
        ({"path": "f", "content": "x", "mode": "0200"}, [("InvalidProperty", "$.properties.mode")]),
        ({"path": "", "content": "x"}, [("InvalidProperty", "$.properties.path")]),
        ({"path": "a/", "content": "x"}, [("InvalidProperty", "$.properties.path")]),
        ({"path": "../f", "content": "x"}, [("InvalidProperty", "$.properties.path")]),
        ({"path": "/f", "content": "x"}, [("InvalidProperty", "$.properties.path")]),
        ({"path": "a\0b", "content": "x"}, [("InvalidProperty", "$.properties.path")]),
        (
            {"path": "a//b", "mode": "0000"},
            [
                ("InvalidProperty", "$.properties.path"),
                ("MissingProperty", "$.properties.content"),
                ("InvalidProperty", "$.properties.mode"),
            ],
        ),
        ({"path": "f", "content": "x", "sha256": "0"}, [("ReadOnlyProperty", "$.properties.sha256")]),
        ({"content": "x"}, [("MissingProperty", "$.properties.path")]),
    ],
)
@pytest.mark.parametrize("verb", ["previewSave", "save"])
def test_every_fault_is_told_with_its_place_by_preview_and_save_alike(
    host: Host, root: Path, verb: str, properties: dict[str, Json], places: list[tuple[str, str]]
) -> None:
    with pytest.raises(Failed) as caught:
        host.call(verb, "file", **properties)
    assert caught.value.places == places
    assert str(root) not in caught.value.text
    assert list(root.iterdir()) == []


@pytest.mark.reported("F04", "F05")
@pytest.mark.parametrize("verb", ["previewSave", "save", "get", "delete"])
@pytest.mark.parametrize("kind", ["file", "directory"])
def test_a_symbolic_link_is_refused_alike_by_all_verbs(host: Host, root: Path, verb: str, kind: str) -> None:
    (root / "real").write_text("x")
    (root / "link").symlink_to("real")
    content = {"content": "x"} if kind == "file" and "ave" in verb else {}
    for _ in range(2):
        with pytest.raises(Failed, match="is a symbolic link") as caught:
            host.call(verb, kind, path="link", **content)
        assert caught.value.places == [("Conflict", "$.properties.path")]
        assert not caught.value.transient
    assert (root / "link").is_symlink()
    assert (root / "real").read_text() == "x"


class TestPreview:
    @pytest.mark.reported("F01")
    def test_nothing_is_touched_by_it_times_included(self, host: Host, root: Path, snapshot: Snapshot) -> None:
        host.call("save", "file", path="d/f", content="x")
        os.utime(root / "d/f", ns=(1, 2))
        snapshot(root)
        before = snapshot(root)
        for properties in (
            {"path": "d/f", "content": "x"},
            {"path": "d/f", "content": "y"},
            {"path": "d/f", "content": UNKNOWN},
            {"path": "d/f", "content": "x", "mode": "0600"},
            {"path": "new/folders/f", "content": "x"},
        ):
            host.call("previewSave", "file", **properties)
        host.call("previewSave", "directory", path="d", mode="0700")
        host.call("previewSave", "directory", path="new/d")
        with pytest.raises(Failed):
            host.call("previewSave", "file", path="new/folders/", content="x")
        host.call("get", "file", path="d/f")
        host.call("get", "directory", path="d")
        assert snapshot(root) == before

    def test_of_unknown_content_leaves_what_follows_from_it_unknown(self, host: Host) -> None:
        result = host.call("previewSave", "file", path="f", content=UNKNOWN)
        shown = result["properties"]
        assert (shown["path"], shown["mode"], shown["content"]) == ("f", "0644", UNKNOWN)
        assert "$unknown" in shown["sha256"]
        assert "$unknown" in shown["size"]
        assert set(result["metadata"]["unknown"]) == {
            "$.properties.content",
            "$.properties.sha256",
            "$.properties.size",
        }

    def test_of_unknown_bytes_cannot_tell_whether_they_are_text(self, host: Host) -> None:
        shown = host.properties("previewSave", "file", path="f", contentBase64=UNKNOWN)
        assert shown["contentBase64"] == UNKNOWN
        assert "$unknown" in shown["content"]

    def test_of_an_unknown_mode_shows_the_rest(self, host: Host) -> None:
        shown = host.properties("previewSave", "file", path="f", content="x", mode=UNKNOWN)
        assert shown == {"path": "f", "content": "x", "mode": UNKNOWN, "sha256": digest(b"x"), "size": 1}
        assert host.properties("previewSave", "directory", path="d", mode=UNKNOWN) == {"path": "d", "mode": UNKNOWN}

    @pytest.mark.parametrize("kind", ["file", "directory"])
    def test_of_an_unknown_place_is_not_supported(
        self, process: "subprocess.Popen[str]", host: Host, kind: str
    ) -> None:
        content = {"content": "x"} if kind == "file" else {}
        with pytest.raises(Failed) as caught:
            host.call("previewSave", kind, path=UNKNOWN, **content)
        assert caught.value.places[0] == ("PreviewNotSupported", "$.properties.path")
        host.root = UNKNOWN  # pyright: ignore[reportAttributeAccessIssue] - any JSON can be sent
        with pytest.raises(Failed) as caught:
            host.call("previewSave", kind, path="f", **content)
        assert caught.value.places[0] == ("PreviewNotSupported", "$.import.config.root")

    def test_of_an_impossible_save_fails_as_the_save_does(self, host: Host, root: Path) -> None:
        (root / "file").write_text("x")
        (root / "folder").mkdir()
        for kind, properties in (
            ("file", {"path": "folder", "content": "x"}),
            ("file", {"path": "file/below", "content": "x"}),
            ("directory", {"path": "file"}),
            ("directory", {"path": "file/below"}),
        ):
            told: list[str] = []
            for verb in ("previewSave", "save"):
                with pytest.raises(Failed) as caught:
                    host.call(verb, kind, **properties)
                told.append(caught.value.faults[0]["message"])
                assert caught.value.places == [("Conflict", "$.properties.path")]
            assert told[0] == told[1]


def test_a_relative_root_starts_at_the_working_folder_and_a_missing_one_is_made_by_save(tmp_path: Path) -> None:
    params = {
        "import": {"provider": "files", "version": "1.0.0", "config": {"root": "new/root"}},
        "type": "file@1.0",
        "properties": {"path": "f", "content": "x"},
    }
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": place, "method": f"resource/{verb}", "params": params}) + "\n"
        for place, verb in enumerate(("previewSave", "save"))
    ]
    command = [sys.executable, "-m", "extensor.authoring", "extensor_providers.files.provider:provider"]
    for place, line in enumerate(lines):
        done = subprocess.run(command, input=line, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "result" in json.loads(done.stdout)
        assert (tmp_path / "new/root/f").exists() == bool(place)


@pytest.mark.parametrize("root_text", ["", None])
def test_a_root_is_required(host: Host, root_text: str | None) -> None:
    host.root = root_text  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(Failed) as caught:
        host.call("save", "file", path="f", content="x")
    assert caught.value.places[0][1] == "$.import.config.root"


def test_a_root_that_is_a_file_is_told_as_a_fault_of_the_configuration(host: Host, root: Path) -> None:
    (root / "file").write_text("x")
    host.root = str(root / "file")
    for verb in ("previewSave", "save"):
        with pytest.raises(Failed) as caught:
            host.call(verb, "file", path="f", content="x")
        assert caught.value.places == [("PermissionDenied", "$.import.config.root")]
        assert str(root) not in caught.value.text


def test_another_root_is_another_control_plane(host: Host, root: Path) -> None:
    first = host.call("save", "file", path="f", content="x")["configId"]
    host.root = str(root / ".")
    assert host.call("get", "file", path="f")["configId"] == first
    host.root = str(root / "elsewhere")
    assert host.call("save", "file", path="f", content="x")["configId"] != first
