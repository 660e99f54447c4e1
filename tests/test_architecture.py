"""The house's own rules, where a tool can see them."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest


def test_the_rooms_know_only_whom_they_may_know(project: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=project, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_generated_documents_are_in_step(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, project / "docs/sync.py", "--check"], capture_output=True, text=True, cwd=project
    )
    assert done.returncode == 0, done.stderr


def test_the_author_is_promised_few_names_and_each_exists() -> None:
    extensor = importlib.import_module("extensor")
    assert len(extensor.__all__) <= 24
    assert list(extensor.__all__) == sorted(extensor.__all__)
    assert all(getattr(extensor, name).__doc__ for name in extensor.__all__)


@pytest.mark.parametrize("folder", ["sdk", "providers", "conformance"])
def test_the_folders_of_the_rooms_are_no_packages_themselves(project: Path, folder: str) -> None:
    assert not (project / folder / "__init__.py").exists()


def test_every_rule_that_code_or_tests_name_is_in_the_protocol(project: Path) -> None:
    rule = re.compile(r"\bP-[A-Z]+-\d\d\b")
    declared = set(
        re.findall(r"^\| (P-[A-Z]+-\d\d) \|", (project / "docs/protocol.md").read_text("utf-8"), re.MULTILINE)
    )
    named = {
        (found, path.relative_to(project))
        for room in ("sdk", "providers", "conformance", "tests", "docs")
        for path in (project / room).rglob("*")
        if path.suffix in {".py", ".md"}
        for found in rule.findall(path.read_text("utf-8"))
    }
    assert {entry for entry in named if entry[0] not in declared} == set()


def test_importing_extensor_is_cheap() -> None:
    heavy = {"pydantic", "anyio", "asyncio", "jsonschema", "jsonrpcserver", "sqlite3", "argparse"}
    code = f"import sys, extensor; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_command_line_prints_or_exits(project: Path) -> None:
    spoken = re.compile(r"(?<![\w.])(print|sys\.exit|exit|quit)\(")
    loud = {
        path.relative_to(project).as_posix()
        for room in ("sdk", "providers")
        for path in (project / room).rglob("*.py")
        if "/cli/" not in path.as_posix() and spoken.search(path.read_text("utf-8"))
    }
    assert loud == set()
