"""Finding a provider by name, path or command line."""

import importlib.metadata
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from extensor.errors import ProviderNotFound
from extensor.hosting import GROUP, find, installed


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The installed providers, for this test."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [p for p in points if p.group == group])
    return points


@pytest.fixture
def executable(tmp_path: Path) -> Path:
    place = tmp_path / "my provider"
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    return place


def test_an_installed_provider_is_found_by_name_without_case(entry_points: list[EntryPoint]):
    entry_points.append(EntryPoint("Notes", "acme.notes:provider", GROUP))
    spec = find("nOTES")
    assert spec.name == "nOTES"
    assert spec.argv == (sys.executable, "-P", "-m", "extensor.authoring", "acme.notes:provider")


def test_extras_in_an_entry_point_do_not_reach_the_command(entry_points: list[EntryPoint]):
    entry_points.append(EntryPoint("notes", "acme.notes:provider [big]", GROUP))
    assert find("notes").argv[-1] == "acme.notes:provider"


def test_our_own_files_provider_is_installed():
    assert installed()["files"] == ("extensor_providers.files.provider:provider",)


def test_an_unknown_name_says_what_was_looked_for_and_what_is_installed(entry_points: list[EntryPoint]):
    entry_points += [EntryPoint("aad", "a:p", GROUP), EntryPoint("files", "f:p", GROUP)]
    with pytest.raises(ProviderNotFound, match=r"'note'.*'extensor\.providers'.*aad, files"):
        find("note")


def test_an_unknown_name_with_nothing_installed_says_so(entry_points: list[EntryPoint]):
    with pytest.raises(ProviderNotFound, match="holds none"):
        find("note")


def test_two_packages_with_one_name_are_refused_and_both_named(entry_points: list[EntryPoint]):
    entry_points += [EntryPoint("notes", "a:p", GROUP), EntryPoint("Notes", "b:p", GROUP)]
    with pytest.raises(ProviderNotFound, match="a:p, b:p"):
        find("notes")


def test_the_same_entry_point_seen_twice_is_one(entry_points: list[EntryPoint]):
    entry_points += [EntryPoint("notes", "a:p", GROUP), EntryPoint("notes", "a:p", GROUP)]
    assert find("notes").argv[-1] == "a:p"


def test_a_path_to_an_executable_may_hold_blanks(executable: Path):
    assert find("mine", command=str(executable)).argv == (str(executable),)
    assert find(str(executable)).name == "my provider"


def test_a_relative_path_starts_at_the_working_directory_of_the_launch(executable: Path):
    spec = find("mine", command="./my provider", cwd=executable.parent)
    assert spec.argv == (str(executable),)
    assert spec.cwd == executable.parent


def test_a_command_line_is_split_as_a_shell_would():
    spec = find("mine", command="sh -c 'echo one two' \"$HOME\"")
    assert spec.argv == (shutil.which("sh"), "-c", "echo one two", "$HOME")


def test_a_command_in_parts_is_taken_as_it_is():
    assert find("mine", command=["sh", "a b"]).argv == (shutil.which("sh"), "a b")


def test_a_bare_word_is_a_program_on_the_path_before_a_file_in_the_working_directory(tmp_path: Path):
    (tmp_path / "sh").write_text("#!/bin/false\n")
    (tmp_path / "sh").chmod(0o755)
    assert find("mine", command="sh", cwd=tmp_path).argv == (shutil.which("sh"),)
    (tmp_path / "only-here-provider").write_text("#!/bin/false\n")
    (tmp_path / "only-here-provider").chmod(0o755)
    assert find("mine", command="only-here-provider", cwd=tmp_path).argv == (str(tmp_path / "only-here-provider"),)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("./absent", "no such file"),
        (".", "on PATH"),
        ("./", "is a directory"),
        ("./plain", "not executable"),
        ("no-such-program-here --x", "on PATH"),
        ("", "is empty"),
        ("'unclosed", "cannot be read"),
        ("x" * 5000, "on PATH"),
    ],
)
def test_a_command_that_cannot_start_is_refused_with_the_reason(tmp_path: Path, command: str, words: str):
    (tmp_path / "plain").write_text("x")
    with pytest.raises(ProviderNotFound, match=words):
        find("mine", command=command, cwd=tmp_path)


def test_a_command_that_is_nowhere_is_told_with_a_path_that_can_be_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", ":".join(f"/folder/{number}" for number in range(50)))
    with pytest.raises(ProviderNotFound, match=r"PATH \(/folder/0 and 49 more folders\)") as failed:
        find("x", command="no-such-program-anywhere")
    assert len(str(failed.value)) < 300
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ProviderNotFound, match="which is empty"):
        find("x", command="no-such-program-anywhere")
