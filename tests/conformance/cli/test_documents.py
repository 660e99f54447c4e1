"""`docs/conformance.md` and what the command says of itself are the same."""

import argparse
import re
from pathlib import Path

import pytest

from extensor_conformance.catalogue import load
from extensor_conformance.cli.command_line import COMMANDS, build_parser
from extensor_conformance.cli.exits import MEANINGS
from extensor_conformance.cli.outputs import NAMES
from extensor_conformance.report.formats import FORMATS


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "conformance.md").read_text("utf-8")


def options(command: str) -> list[str]:
    parser = build_parser()
    choices = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction)).choices
    return [max(action.option_strings, key=len) for action in choices[command]._actions if action.option_strings]


def test_every_flag_of_run_is_explained(page: str) -> None:
    named = set(re.findall(r"--[a-z][a-z-]*", page))
    flags = set(options("run")) - {"--help"}
    assert len(flags) > 40
    assert flags - named - {"--workers", "--verbose", "--quiet"} == set()


def test_every_flag_that_the_page_names_exists(page: str) -> None:
    known = {flag for command in COMMANDS for flag in options(command)}
    known |= {
        "--report",
        "--report-dir",
        "--days",
        "--reason",
        "--provider-conformance",
        "--provider-conformance-options",
        "--dist",  # of pytest-xdist
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) - known == set()


def test_the_exit_codes_are_those_of_the_command(page: str) -> None:
    table = dict(re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE))
    assert {int(code) for code in table} == {int(code) for code in MEANINGS}
    for code, meaning in MEANINGS.items():
        assert table[str(int(code))].replace("`", "").startswith(meaning.split(":")[0].split(" (")[0])


def test_every_command_and_format_is_named(page: str) -> None:
    assert all(f"`{name}`" in page or f"provider-conformance {name}" in page for name in COMMANDS)
    assert all(f"| `{name}` |" in page for name in FORMATS)
    assert tuple(FORMATS) == NAMES


def test_the_catalogue_page_has_every_check(project: Path) -> None:
    text = (project / "docs" / "conformance-checks.md").read_text("utf-8")
    assert re.findall(r"^### (\S+)$", text, re.MULTILINE) == sorted(load(), key=lambda id_: list(load()).index(id_))
