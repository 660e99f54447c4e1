"""Options that are more than a word: commands of providers, and times."""

import argparse
import io
import shlex
from pathlib import Path

import pytest

from extensor.cli.command_line import UsageError, build_parser
from extensor.cli.console import Console
from extensor.cli.loading import load_request, tell_unused
from extensor.cli.options import from_here


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("files", "files"),
        ("/opt/files --x", "/opt/files --x"),
        ("./files", "{here}/files"),
        ("bin/files --root data/x", "{here}/bin/files --root data/x"),
        ("../files", "{here}/../files"),
        ("python ./provider.py ../data x/y", "python {here}/provider.py {here}/../data x/y"),
        ("'my bin/files'", "'{here}/my bin/files'"),
        ("unclosed 'quote ./x", "unclosed 'quote ./x"),
    ],
)
def test_relative_paths_of_a_providers_command_count_from_the_users_folder(
    given: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = from_here(given)
    if given.startswith("unclosed"):
        assert made == meant
    else:
        assert shlex.split(made) == shlex.split(meant.format(here=tmp_path))


def parsed(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(list(words))


def console() -> tuple[Console, io.StringIO]:
    err = io.StringIO()
    return Console(io.StringIO(), err, {}), err


@pytest.mark.parametrize("command", ["validate", "what-if", "deploy"])
def test_the_timeout_bounds_each_operation_of_a_run(command: str, tmp_path: Path) -> None:
    path = tmp_path / "main.json"
    path.write_text('{"languageVersion": "2.0", "resources": {}}', "utf-8")
    assert load_request(parsed(command, str(path), "--timeout", "2.5"), console()[0]).budget_seconds == 2.5
    assert load_request(parsed(command, str(path)), console()[0]).budget_seconds == 1800


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf", ""])
def test_a_timeout_is_a_number_of_seconds_above_zero(text: str) -> None:
    with pytest.raises(UsageError, match="seconds above 0"):
        parsed("destroy", "--timeout", text)


def test_a_provider_that_belongs_to_nothing_is_told_with_what_may_be_meant() -> None:
    to, err = console()
    tell_unused(to, {"Files": "x", "flies": "x", "zebra": "x"}, {"files", "notes"})
    assert err.getvalue().splitlines() == [
        "note: --provider flies is given but not used; did you mean files?",
        "note: --provider zebra is given but not used; the providers here: files, notes",
    ]
