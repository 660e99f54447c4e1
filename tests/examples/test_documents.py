"""The programs and command lines that the documents show do what the documents say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def shell_blocks(page: Path) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_guides_provider_passes_its_own_tests(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bookmarks.py"],
        cwd=project / "examples/bookmarks",
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout


def test_the_line_that_the_readme_pipes_into_a_provider_is_answered_with_one_line(project: Path) -> None:
    (block,) = [block for block in shell_blocks(project / "README.md") if "printf" in block]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", block], cwd=project, env=environment, capture_output=True, text=True, timeout=60
    )
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
