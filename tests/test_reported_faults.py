"""Faults that people met elsewhere: each row of the collected reports is kept from coming here by a marked test."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

TO_COME = {
    "G": "there is no provider for Microsoft Graph yet",
    "K": "there is no provider for Kubernetes yet",
    "O": "providers are not published to registries yet",
}
"""Rooms that do not exist yet; their rows may have tests before that."""
NOT_OURS = {
    "D08": "a matter of providers whose backends take time; the conformance kit asks them for it",
    "D12": "no type says by a property whether it exists: what is to go is left out of the template",
    "D15": "no provider here has resources that hold others",
    "T09": "a resource of a provider is no child of another: its own properties say what it belongs to",
    "T12": "templates inside templates are refused",
}
"""Rows about what the product does not have, and why."""
_ROW = re.compile(r"\| ([A-Z]\d\d) \|")


def rows_of(text: str) -> list[str]:
    """The numbers of the rows, in order."""
    return [found.group(1) for line in text.splitlines() if (found := _ROW.match(line))]


def marks_in(source: str) -> Iterator[tuple[str, int]]:
    """Each row that a ``pytest.mark.reported(…)`` names, with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reported":
            assert node.args, f"a mark without a row in line {node.lineno}"
            for row in node.args:
                assert isinstance(row, ast.Constant), f"a row that is no literal in line {row.lineno}"
                yield str(row.value), row.lineno


@pytest.fixture(scope="session")
def marked(project: Path) -> Mapping[str, list[str]]:
    """The places of the marks, by row."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((project / "tests").rglob("test_*.py")):
        for row, line in marks_in(path.read_text("utf-8")):
            found[row].append(f"{path.relative_to(project)}:{line}")
    return found


@pytest.fixture(scope="session")
def rows(shared: Path) -> list[str]:
    """Every row there is."""
    return rows_of((shared / "cases/reported-faults.md").read_text("utf-8"))


def test_every_row_has_a_test_that_keeps_its_fault_away(rows: list[str], marked: Mapping[str, list[str]]):
    missing = [row for row in rows if row not in marked and row[0] not in TO_COME and row not in NOT_OURS]
    assert len(rows) > 90
    assert missing == []


def test_every_row_about_the_wire_has_a_test(rows: list[str], marked: Mapping[str, list[str]]):
    wire = [row for row in rows if row[0] == "W"]
    assert len(wire) >= 17
    assert [row for row in wire if row not in marked] == []


def test_every_mark_names_a_row_that_exists(rows: list[str], marked: Mapping[str, list[str]]):
    assert {row: places for row, places in marked.items() if row not in rows} == {}


def test_no_row_is_excused_that_has_a_test(rows: list[str], marked: Mapping[str, list[str]]):
    assert [row for row in NOT_OURS if row in marked or row not in rows] == []
