"""Files that people name on the command line."""

from pathlib import Path

import pytest

from extensor.cli import inputs
from extensor.cli.inputs import read_document, refuse_bicep
from extensor.cli.trouble import Trouble


def refusal(path: Path) -> str:
    with pytest.raises(Trouble) as caught:
        read_document(path, "template")
    (fault,) = caught.value.faults
    assert fault.message == str(caught.value)
    return fault.message


def test_a_missing_file_is_told_with_what_is_there_instead(tmp_path: Path) -> None:
    (tmp_path / "main.json").write_text("{}", "utf-8")
    assert f"there is no template {tmp_path / 'mian.json'}; {tmp_path} has main.json" == refusal(tmp_path / "mian.json")
    assert "there is no folder" in refusal(tmp_path / "nowhere" / "main.json")


def test_a_folder_is_told_with_the_template_inside(tmp_path: Path) -> None:
    assert refusal(tmp_path).endswith("is a folder, not a template")
    (tmp_path / "main.json").write_text("{}", "utf-8")
    assert refusal(tmp_path).endswith(f"name the file in it: {tmp_path / 'main.json'}")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b" \n", "is empty"), ("{}".encode("utf-16"), "is UTF-16 text; save it as UTF-8")],
)
def test_what_is_surely_no_document_is_said_to_be_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "main.json"
    path.write_bytes(content)
    assert said in refusal(path)


def test_a_file_beyond_every_measure_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "LARGEST_INPUT_BYTES", 1024 * 1024)
    path = tmp_path / "main.json"
    path.write_bytes(b" " * (1024 * 1024 + 1))
    assert refusal(path) == f"template {path} is larger than 1 MiB"


def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "a\0b")
    assert "cannot be read" in refusal(tmp_path / ("n" * 300))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("main.bicep", "bicep build main.bicep --outfile main.json"),
        ("main.bicepparam", "bicep build-params main.bicepparam --outfile main.parameters.json"),
    ],
)
def test_bicep_source_is_refused_with_the_command_that_compiles_it(name: str, remedy: str) -> None:
    with pytest.raises(Trouble, match="compiled JSON only for now") as caught:
        refuse_bicep(Path(name))
    assert remedy in str(caught.value)
    refuse_bicep(Path("main.json"))
