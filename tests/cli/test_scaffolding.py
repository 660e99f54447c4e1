"""`extensor new`: names, files, and a project that passes its own tests and lint."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from extensor.cli import main, scaffolding
from extensor.cli.exits import Exit
from extensor.cli.scaffolding import ProjectNames, own_requirement, project_files


@pytest.mark.parametrize(
    ("name", "distribution", "package", "provider"),
    [
        ("demo-provider", "demo-provider", "demo_provider", "demo"),
        ("my_cloud_provider", "my-cloud-provider", "my_cloud_provider", "my-cloud"),
        ("notes2", "notes2", "notes2", "notes2"),
    ],
)
def test_one_name_gives_the_three_that_a_project_needs(
    name: str, distribution: str, package: str, provider: str
) -> None:
    assert ProjectNames.of(name) == ProjectNames(distribution, package, provider)


@pytest.mark.parametrize(
    "name",
    ["", "Demo", "1st", "a b", "a--b", "-a", "a.b", "json", "class", "extensor", "tests", "../up", "x" * 65, "é"],
)
def test_a_name_that_python_could_not_import_or_would_confuse_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"name is small letters|would hide"):
        ProjectNames.of(name)


@pytest.fixture(scope="module")
def scaffold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project made by the command."""
    folder = tmp_path_factory.mktemp("new") / "demo-provider"
    assert main(["new", str(folder), "--extensor", "extensor @ file:///a b/$x#y"]) == Exit.OK
    return folder


def test_the_project_is_complete_and_bears_its_name(scaffold: Path) -> None:
    files = {str(path.relative_to(scaffold)) for path in scaffold.rglob("*") if path.is_file()}
    assert files == {
        ".gitignore",
        "Makefile",
        "README.md",
        "examples/main.json",
        "pyproject.toml",
        "src/demo_provider/__init__.py",
        "src/demo_provider/__main__.py",
        "src/demo_provider/provider.py",
        "tests/test_provider.py",
    }
    for path in scaffold.rglob("*.*"):
        if path.is_file():
            text = path.read_text("utf-8")
            assert "sample" not in text
            assert "@EXTENSOR@" not in text
    assert 'demo = "demo_provider.provider:provider"' in (scaffold / "pyproject.toml").read_text("utf-8")


def test_the_project_passes_its_own_tests(scaffold: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest"],
        cwd=scaffold,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout


def test_the_project_is_lint_clean(scaffold: Path) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run([ruff, *words, "--no-cache", "."], cwd=scaffold, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_the_projects_template_deploys_by_the_makefiles_words(
    scaffold: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    template = str(scaffold / "examples/main.json")
    command = f"env PYTHONPATH={scaffold / 'src'} {sys.executable} -m demo_provider"
    provider = ["--provider", f"demo={command}", "--output", "json"]

    def run(*words: str) -> dict[str, object]:
        capsysbinary.readouterr()
        assert main(list(words)) == Exit.OK
        return json.loads(capsysbinary.readouterr().out)

    assert len(run("what-if", template, *provider)["changes"]) == 2
    assert run("deploy", template, *provider)["outputs"] == {"words": {"type": "int", "value": 2}}
    assert (scaffold / "examples/notes/summary.txt").read_text("utf-8") == "the welcome has 2 words"
    assert len(run("show", template, "--output", "json")["resources"]) == 2
    assert run("destroy", template, *provider)["status"] == "Succeeded"
    assert not list((scaffold / "examples/notes").iterdir())


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs make as from a shell, also when these tests were started by make."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    return subprocess.run(["make", *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("target", ["test", "conformance", "demo", "types"])
def test_the_makefile_hands_the_requirement_to_pip_as_it_was_given(scaffold: Path, target: str) -> None:
    done = make(scaffold, "--dry-run", target)
    assert done.returncode == 0, done.stderr
    shown = make(scaffold, "--eval", "show: ; @printf '%s' \"$$REQ\"", "--eval", "export REQ = $(EXTENSOR)", "show")
    assert shown.stdout == "extensor @ file:///a b/$x#y"


def test_make_help_lists_the_targets(scaffold: Path) -> None:
    done = make(scaffold)
    assert [line.split()[1] for line in done.stdout.splitlines()] == [
        "help",
        "test",
        "conformance",
        "demo",
        "types",
        "clean",
    ]


class FakeDistribution:
    """What pip writes about an installed extensor."""

    version = "1.2.3"

    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


def test_extensor_comes_from_where_it_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "check out"
    folder.mkdir()

    def told(origin: object) -> str:
        monkeypatch.setattr(scaffolding, "distribution", lambda name: FakeDistribution(origin))
        return own_requirement()

    assert told({"url": folder.as_uri(), "dir_info": {"editable": True}}) == str(folder)
    assert told({"url": f"{folder.as_uri()}-gone", "dir_info": {}}) == "extensor==1.2.3"
    assert told({"url": "https://example.org/x.git", "vcs_info": {}}) == "extensor==1.2.3"
    assert told(None) == "extensor==1.2.3"


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/mine.txt").write_text("precious", "utf-8")
    (tmp_path / "file").write_text("", "utf-8")
    assert main(["new", str(tmp_path / "demo")]) == Exit.FAILED
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["mine.txt"]
    assert main(["new", str(tmp_path / "file")]) == Exit.FAILED
    assert "is a file" in capsys.readouterr().err


def test_an_empty_folder_may_be_filled_from_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert main(["new", ".", "--output", "json", "--extensor", "extensor"]) == Exit.OK
    document = json.loads(capsysbinary.readouterr().out)
    assert (tmp_path / "inner/src/inner/provider.py").is_file()
    assert set(document["files"]) == set(project_files(ProjectNames.of("inner"), "extensor"))
    assert document["extensor"] == "extensor"


def test_a_place_that_cannot_be_written_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    assert main(["new", str(tmp_path / "file/demo")]) == Exit.FAILED
    assert "cannot be written" in capsys.readouterr().err
