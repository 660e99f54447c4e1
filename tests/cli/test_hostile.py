"""What people hand to the command by mistake, and what it says then. No provider is started for any of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from extensor.cli import main
from extensor.cli.exits import Exit

TEMPLATES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\t", "is empty"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\xff\xfe\xfd", "UTF-8"),
    "utf-16": ("{}".encode("utf-16"), "UTF-16"),
    "yaml": (b"resources: {}", "is not JSON: Expecting value at line 1, column 1"),
    "half": (b'{"languageVersion": "2.0",', "at line 1, column"),
    "array": (b"[]", "must be a JSON object"),
    "deep": (b"[" * 200_000, "deep"),
    "number": (b'{"a": ' + b"9" * 5000 + b"}", "  a: the number"),
    "nothing": (b"{}", "resources"),
    "twice": (b'{"resources": {}, "resources": {}}', "twice"),
}


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: Exit = Exit.FAILED) -> str:
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("command", ["validate", "what-if", "deploy"])
@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_file_that_is_no_template_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    content, said = TEMPLATES[kind]
    path = tmp_path / "main.json"
    path.write_bytes(content)
    assert said in refused(capsys, command, str(path))
    assert sorted(item.name for item in tmp_path.iterdir()) == ["main.json"]


def test_a_refusal_is_one_document_where_json_was_asked_for(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["deploy", str(tmp_path), "--output", "json"]) == Exit.FAILED
    document = json.loads(capsysbinary.readouterr().out)
    assert document == {
        "status": "Failed",
        "errors": [{"code": "InvalidInput", "message": f"{tmp_path} is a folder, not a template"}],
    }


def test_a_template_that_is_not_there_is_told_with_what_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "site.json").write_text("{}", "utf-8")
    assert "has site.json" in refused(capsys, "deploy", str(tmp_path / "main.json"))


def test_bicep_source_is_told_how_to_be_compiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "bicep build" in refused(capsys, "deploy", str(tmp_path / "main.bicep"))


def test_every_fault_in_the_parameters_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template: dict[str, Any] = {
        "languageVersion": "2.0",
        "parameters": {
            "count": {"type": "int"},
            "size": {"$ref": "#/definitions/size"},
            "name": {"type": "string"},
            "key": {"type": "securestring"},
            "tags": {"type": "object", "nullable": True},
        },
        "definitions": {"size": {"type": "string", "allowedValues": ["S", "L"]}},
        "resources": {},
    }
    (tmp_path / "main.json").write_text(json.dumps(template), "utf-8")
    (tmp_path / "values.json").write_text(json.dumps({"colour": "red"}), "utf-8")
    words = ("-p", "count=many", "-p", "size=M", "-p", "nmae=x", "-p", "tags=null")
    err = refused(capsys, "deploy", str(tmp_path / "main.json"), "--parameters", str(tmp_path / "values.json"), *words)
    assert "give them with -p NAME=VALUE or --parameters FILE" in err
    places = [line.split(":")[0].strip() for line in err.splitlines() if line.startswith("  ")]
    assert sorted(places) == [f"parameters.{name}" for name in ("colour", "count", "key", "name", "nmae", "size")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"[1]", "must be a JSON object"),
        (b'{"parameters": {"a": {"reference": {}}}}', "key vault"),
        (b'{"parameters": {"a": 1}}', "parameters.a"),
    ],
)
def test_a_file_that_holds_no_parameters_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    (tmp_path / "main.json").write_text('{"languageVersion": "2.0", "resources": {}}', "utf-8")
    (tmp_path / "p.json").write_bytes(content)
    err = refused(capsys, "deploy", str(tmp_path / "main.json"), "--parameters", str(tmp_path / "p.json"))
    assert said in err


@pytest.mark.parametrize("command", ["show", "destroy"])
def test_a_record_that_is_not_there_is_told_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert "--state DIR" in refused(capsys, command, "--state", str(tmp_path / "nowhere"))
    (tmp_path / "file").write_text("", "utf-8")
    assert "is a file" in refused(capsys, command, "--state", str(tmp_path / "file"))
    assert "bicep build" in refused(capsys, command, str(tmp_path / "main.bicep"))
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("command", ["show", "destroy"])
def test_a_stack_nobody_knows_is_told_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "main.json").write_text('{"languageVersion": "2.0", "resources": {}}', "utf-8")
    assert main(["deploy", str(tmp_path / "main.json")]) == Exit.OK
    capsys.readouterr()
    err = refused(capsys, command, "--stack", "mian", "--state", str(tmp_path / ".extensor"))
    assert "holds no stack mian; it holds main" in err


def test_a_state_that_is_no_state_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "state.db").write_bytes(b"not a database, nor ever was one" * 100)
    before = (tmp_path / "state.db").read_bytes()
    assert "cannot be used" in refused(capsys, "show", "--state", str(tmp_path))
    assert (tmp_path / "state.db").read_bytes() == before
