"""The command line itself: help, usage errors, exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from extensor.cli import main
from extensor.cli.command_line import COMMANDS, build_parser
from extensor.cli.exits import MEANINGS, Exit
from extensor.cli.options import stack_name, state_dir

NAMES = [name.replace("_", "-") for name in COMMANDS]
WRONG = [
    [],
    ["deply", "x.json"],
    ["deploy"],
    ["deploy", "x.json", "--no-such"],
    ["deploy", "x.json", "--par", "y.json"],
    ["deploy", "x.json", "-p", "novalue"],
    ["deploy", "x.json", "--provider", "files"],
    ["deploy", "x.json", "--parallelism", "0"],
    ["deploy", "x.json", "--parallelism", "²"],
    ["what-if", "x.json", "--output", "yaml"],
    ["types", "files"],
    ["new", "Not A Name"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_command_line_never_looks_like_changes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err


@pytest.mark.parametrize("words", [["deploy", "--output", "json"], ["deploy", "x.json", "--output=json", "--nope"]])
def test_a_wrong_command_line_is_one_document_where_json_was_asked_for(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == Exit.USAGE
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["status"], document["errors"][0]["code"]) == ("Failed", "Usage")
    assert "--help" in err


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_each_command_teaches_by_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == Exit.OK
    out = capsys.readouterr().out
    assert f"\n  extensor {name}" in out
    assert "exit codes:" in out
    assert max(map(len, out.splitlines())) <= 80


def test_help_lists_every_command_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == Exit.OK
    out = capsys.readouterr().out
    assert all(re.search(rf"^    {name} ", out, re.MULTILINE) for name in NAMES)
    assert all(re.search(rf"^  {code:<4} ", out, re.MULTILINE) for code in Exit)
    assert set(MEANINGS) == set(Exit)


def test_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert main(["--version"]) == Exit.OK
    assert capsys.readouterr().out == f"extensor {version('extensor')}\n"


def test_the_names_of_a_template_are_told_by_its_path_alone() -> None:
    assert stack_name(Path("a/site.main.json")) == "site.main"
    assert state_dir(Path("a/main.json")) == Path("a/.extensor")
    assert state_dir(Path("main.json")) == Path(".extensor")


@pytest.mark.parametrize("module", ["extensor", "extensor.cli"])
def test_the_command_is_a_module_too(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "deploy"], capture_output=True, text=True)
    assert done.returncode == Exit.USAGE
    assert "TEMPLATE" in done.stderr


def test_help_loads_no_room(tmp_path: Path) -> None:
    code = (
        "import sys; from extensor.cli import main; main(['deploy', '--help'])\n"
        "heavy = {'pydantic', 'anyio', 'asyncio', 'sqlite3', 'jsonschema', 'extensor.contract', 'extensor.engine'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr.strip() == "[]"


def test_the_manual_and_the_parser_name_the_same_things(project: Path) -> None:
    manual = (project / "docs/cli.md").read_text("utf-8")
    sections = dict(re.findall(r"^## extensor (\S+)\n(.*?)(?=^## |\Z)", manual, re.MULTILINE | re.DOTALL))
    (commands,) = [action for action in build_parser()._actions if action.dest == "command"]
    assert list(sections) == list(commands.choices)
    for name, parser in commands.choices.items():
        known = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
        told = set(re.findall(r"^\| `(-p|--[a-z-]+)", sections[name], re.MULTILINE))
        assert told | {"--parameter"} == known | {"--parameter"}, name
    told_codes = {int(code): text.strip() for code, text in re.findall(r"^\| (\d+) \| (.*?) \|$", manual, re.MULTILINE)}
    assert told_codes == {int(code): text for code, text in MEANINGS.items()}
