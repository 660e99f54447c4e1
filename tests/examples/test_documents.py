"""The programs and command lines that the documents show do what the documents say."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from extensor.contract import Import, ResourceData, Verb
from extensor.hosting import Host, LaunchSpec

IGNORED = shutil.ignore_patterns(".conformance", "__pycache__", ".pytest_cache")


def shell_blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def shell_block(page: Path, word: str) -> str:
    (block,) = [block for block in shell_blocks(page) if word in block]
    return block.rstrip("\n")


def type_in(folder: Path, lines: str) -> subprocess.CompletedProcess[str]:
    """Run shell lines as a reader would, who has made the environment of the running tests active."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-ec", lines], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("lines", ["", "pytest -q examples/bookmarks"], ids=["from its folder", "from the top"])
def test_the_guides_provider_passes_its_own_tests(project: Path, lines: str) -> None:
    lines = lines or shell_block(project / "docs/authoring.md", "pytest")
    done = type_in(project, f"{lines} -p no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_guides_line_for_the_conformance_kit_is_green_with_a_provider_process_for_each_worker(
    project: Path, tmp_path: Path
) -> None:
    shutil.copytree(project / "examples/bookmarks", tmp_path / "examples/bookmarks", ignore=IGNORED)
    line = shell_block(project / "docs/authoring.md", "provider-conformance")
    few = "IDM-04,PRV-03,CON-01,ERR-08"
    done = type_in(tmp_path, f"{line} -j 2 --deterministic --max-examples 2 --checks '{few}' --report json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert {one["check"]: one["verdict"] for one in report["outcomes"]} == dict.fromkeys(few.split(","), "PASS")
    assert report["leftovers"] == []


@pytest.mark.anyio
async def test_several_processes_of_the_guides_provider_keep_each_others_bookmarks(
    project: Path, tmp_path: Path
) -> None:
    spec = LaunchSpec("bookmarks", (sys.executable, str(project / "examples/bookmarks/bookmarks.py")))
    extension = Import("bookmarks", "1.0.0", {"folder": str(tmp_path / "shelf")})
    names = [f"b{number}" for number in range(40)]

    def bookmark(name: str, **more: str) -> ResourceData:
        return ResourceData(extension, "bookmark@1.0", {"name": name, **more})

    with anyio.fail_after(60):
        async with Host() as host:
            sessions = [await host.start(spec) for _ in range(2)]
            async with anyio.create_task_group() as tasks:
                for number, name in enumerate(names):
                    data = bookmark(name, url=f"https://{name}.example/")
                    tasks.start_soon(sessions[number % 2].call, Verb.SAVE, data)
            found = [await sessions[0].call(Verb.GET, bookmark(name)) for name in names]
    assert [one.properties and one.properties["host"] for one in found] == [f"{name}.example" for name in names]


def test_the_line_that_the_readme_pipes_into_a_provider_is_answered_with_one_line(project: Path) -> None:
    done = type_in(project, shell_block(project / "README.md", "printf"))
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["properties"] == {"name": "hello", "text": "hi"}
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["describe"], ["--help"], ["types", "--out", "TYPES"]])
def test_the_guides_program_has_the_command_line_it_promises(project: Path, tmp_path: Path, words: list[str]) -> None:
    program = project / "examples/bookmarks/bookmarks.py"
    done = subprocess.run([sys.executable, program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    if words[0] == "types":
        assert sorted(path.name for path in (tmp_path / "TYPES").iterdir()) == ["index.json", "types.json"]
