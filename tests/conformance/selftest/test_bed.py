"""The bed of planted bugs is whole: every number of the design's table, every check, every odd but honest provider."""

import re
import tomllib
from pathlib import Path

import pytest

from extensor_conformance.catalogue import load
from extensor_conformance.selftest import BedMissing
from extensor_conformance.selftest.bed import BED, read_bed

DATA = tomllib.loads((BED / "bed.toml").read_text(encoding="utf-8"))
NUMBERS: dict[str, list[str]] = DATA["numbers"]
ODD = [f"H{number}" for number in range(1, 14)]


def test_the_thirteen_odd_but_honest_providers_are_there() -> None:
    assert [entry.name for entry in read_bed(None).entries if entry.kind == "odd"] == ODD


def test_every_number_of_the_table_is_planted_and_killed_by_a_check_that_the_table_names(shared: Path) -> None:
    text = (shared / "reference" / "conformance-kit.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (M\d\d) \|.*\| ([^|]*) \|$", text, re.MULTILINE))
    assert len(table) > 40
    assert set(NUMBERS) == set(table)
    checks = {entry.name: entry.check for entry in read_bed(None).entries}
    for number, told in table.items():
        wanted = set(re.findall(r"[A-Z]+-\d\d", told))
        assert wanted <= {checks[name] for name in NUMBERS[number]}, number


def test_every_name_of_a_number_is_a_mutant() -> None:
    mutants = {entry.name for entry in read_bed(None).entries if entry.kind == "mutant"}
    assert {name for names in NUMBERS.values() for name in names} <= mutants


def test_the_requirements_name_the_mutants_of_the_bed() -> None:
    planted: dict[str, list[str]] = {}
    for entry in read_bed(None).entries:
        planted.setdefault(str(entry.check), []).append(entry.name)
    for row in load().values():
        assert list(row.mutants) == planted.get(row.id, []), row.id


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (("M21",), ["M21"]),
        (("M01", "H1"), ["H1", "node-banner"]),
        (("M04",), ["ids-as-numbers", "node-ids-as-text"]),
        (("lax-preview*",), ["lax-preview", "lax-preview-truth"]),
    ],
)
def test_programs_are_chosen_by_name_pattern_or_number_of_the_design(only: tuple[str, ...], names: list[str]) -> None:
    assert sorted(entry.name for entry in read_bed(None).chosen(only)) == names


def test_a_word_that_means_nothing_is_refused_with_those_that_are_like_it() -> None:
    with pytest.raises(BedMissing, match=r"is named lax-previe; near are lax-preview, lax-preview-truth"):
        read_bed(None).chosen(("M21", "lax-previe"))
    with pytest.raises(BedMissing, match=r"is named qqqqqqqq$"):
        read_bed(None).chosen(("qqqqqqqq",))
