"""Secrets stay out of everything that the command shows or keeps."""

import base64
import json
from hashlib import sha256
from typing import Any

import pytest

OLD, NEW = "old-hunter2-ü", "new-hunter3-ü"


@pytest.fixture
def safe(stage: Any) -> Any:
    """A note with a secret property, one that has the secret in a plain property, and a secure output."""
    stage.template(
        {
            "one": stage.resource("note", name="one", key="[parameters('key')]"),
            "two": stage.resource("note", name="two", text="[format('the key is {0}', parameters('key'))]"),
        },
        parameters={"key": {"type": "securestring"}, "rights": {"type": "secureObject", "defaultValue": {}}},
        outputs={
            "key": {"type": "securestring", "value": "[parameters('key')]"},
            "plain": {"type": "string", "value": "fine"},
        },
    )
    for name, text in (("old", OLD), ("new", NEW)):
        (stage.folder / name).write_text(f"{text}\n", "utf-8")
    return stage


@pytest.mark.reported("P06")
def test_a_changed_secret_is_masked_before_and_after_in_text_and_json(safe: Any) -> None:
    deployed = safe.run("deploy", "main.json", "-p", "key=@old", "--output", "json", "--verbose")
    assert deployed.returncode == 0, deployed
    preview = safe.run("what-if", "main.json", "-p", "key=@new")
    document = safe.run("what-if", "main.json", "-p", "key=@new", "--output", "json")
    for done in (deployed, preview, document):
        assert "hunter" not in done.stdout + done.stderr
    assert '~ key: "***" => "***"' in preview.stdout
    changes = {change["symbolicName"]: change["delta"] for change in json.loads(document.stdout)["changes"]}
    assert changes["one"] == [{"path": "$.properties.key", "changeType": "Modify", "before": "***", "after": "***"}]
    assert [(item["path"], item["before"], item["after"]) for item in changes["two"]] == [
        ("$.properties.text", "***", "***")
    ]


@pytest.mark.reported("T20")
def test_a_secure_output_is_a_mask_and_a_plain_one_is_not(safe: Any) -> None:
    outputs = safe.json("deploy", "main.json", "-p", "key=@old")["outputs"]
    assert outputs["plain"] == {"type": "string", "value": "fine"}
    assert (outputs["key"]["type"].lower(), outputs["key"]["value"]) == ("securestring", "***")


@pytest.mark.reported("T20")
def test_the_record_holds_no_secret(safe: Any) -> None:
    safe.json("deploy", "main.json", "-p", "key=@old")
    kept = b"".join(path.read_bytes() for path in (safe.folder / ".extensor").iterdir())
    assert kept
    assert OLD.encode() not in kept


def test_a_refused_secret_is_not_quoted(safe: Any) -> None:
    for words in (("-p", "key=@old", "-p", "rights=hunter2"), ("-p", 'rights=["hunter2"]')):
        done = safe.run("deploy", "main.json", *words)
        assert done.returncode == 1
        assert "rights" in done.stderr
        assert "hunter" not in done.stdout + done.stderr


def test_a_failing_save_does_not_tell_the_secret(stage: Any) -> None:
    stage.template(
        {"bad": stage.resource("refused", name="bad", text="[parameters('key')]")},
        parameters={"key": {"type": "securestring"}},
    )
    for words in ((), ("--output", "json")):
        done = stage.run("deploy", "main.json", "-p", f"key={OLD}", *words)
        assert done.returncode == 1
        assert "no room for" in done.stdout + done.stderr
        assert "hunter" not in done.stdout + done.stderr


def test_a_configuration_with_a_secret_needs_it_again_to_destroy(stage: Any) -> None:
    imports = {"notes": {"provider": "notes", "version": "1.0", "config": {"token": "[parameters('token')]"}}}
    stage.template(
        {"one": stage.resource("note", name="one")}, imports=imports, parameters={"token": {"type": "securestring"}}
    )
    stage.json("deploy", "main.json", "-p", "token=12345678")
    missing = stage.run("destroy", "main.json")
    assert missing.returncode == 1
    assert "token" in missing.stderr
    assert stage.json("destroy", "main.json", "-p", "token=12345678")["status"] == "Succeeded"


BYTES = {
    "text": (b"old-hunter2", b"new-hunter3"),
    "bytes": (b"\xff\0\xfe old", b"\xff\0\xfe new"),
    "bytes then text": (b"\xff old", b"new-hunter3"),
    "above what is shown": (b"hunter2" * 160_000, b"new-hunter3"),
}


@pytest.mark.reported("F07")
@pytest.mark.parametrize(
    ("named", "old", "new"),
    [("content", *BYTES["text"]), *(("contentBase64", *contents) for contents in BYTES.values())],
    ids=["content", *BYTES],
)
def test_secret_bytes_are_shown_by_no_command_under_any_name(stage: Any, named: str, old: bytes, new: bytes) -> None:
    properties = {"path": "s", named: "[parameters('secret')]", "mode": "0600"}
    stage.template(
        {"secret": {"import": "files", "type": "file@1.0", "properties": properties}},
        imports={
            "files": {"provider": "files", "version": "1.0.0", "config": {"root": "root"}},
            "notes": {"provider": "notes", "version": "1.0.0"},
        },
        parameters={"secret": {"type": "securestring"}},
        outputs={
            "all": {"type": "object", "value": "[reference('secret')]"},
            "digest": {"type": "string", "value": "[reference('secret').sha256]"},
            "text": {"type": "string", "value": "[coalesce(tryGet(reference('secret'), 'content'), 'none')]"},
        },
    )
    told: list[str] = []

    def run(verb: str, secret: bytes, *words: str) -> str:
        (stage.folder / "value").write_bytes(base64.b64encode(secret) if named == "contentBase64" else secret)
        done = stage.run(verb, "main.json", "-p", "secret=@value", *words)
        assert done.returncode == 0, done
        told.extend((done.stdout, done.stderr))
        return done.stdout

    run("deploy", old)
    assert (stage.folder / "root/s").read_bytes() == old
    run("what-if", new)
    (change,) = json.loads(run("what-if", new, "--output", "json"))["changes"]
    assert "$.properties.sha256" in {item["path"] for item in change["delta"]}
    outputs = json.loads(run("deploy", new, "--output", "json"))["outputs"]
    assert (outputs["all"]["value"]["path"], outputs["all"]["value"]["mode"]) == ("s", "0600")
    assert (stage.folder / "root/s").read_bytes() == new
    told += [path.read_text("latin-1") for path in (stage.folder / ".extensor").iterdir()]
    everything = "\n".join(told)
    for secret in (old, new):
        text = secret.decode("utf-8", "backslashreplace")
        for form in (text, json.dumps(text)[1:-1], base64.b64encode(secret).decode(), sha256(secret).hexdigest()):
            assert form[:200] not in everything
