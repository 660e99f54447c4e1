"""`extensor new`: start a provider project."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_output

if TYPE_CHECKING:
    from extensor.cli.console import Console

_DESCRIPTION = """\
Write a provider project into the new folder NAME: a package with a provider of
one resource type, tests, a template that uses it, and a Makefile whose
'make test' sets up a virtual environment and passes at once.

  extensor new demo-provider        package demo_provider, provider demo
  cd demo-provider && make test
  make demo                         preview, deploy, look, destroy

NAME may be a path; its last part is the name. A folder that exists must be
empty.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", type=Path, help="the project's name, such as demo-provider, or a path that ends in it"
    )
    parser.add_argument(
        "--extensor",
        metavar="REQUIREMENT",
        help="where the project's Makefile gets extensor from, as pip takes it; "
        "default: the folder that this extensor was installed from, else its version",
    )
    add_output(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Write the project."""
    from extensor.cli.scaffolding import ProjectNames, own_requirement, project_files
    from extensor.cli.trouble import trouble

    folder: Path = args.name
    try:
        names = ProjectNames.of(folder.absolute().name)
    except ValueError as error:
        raise trouble(str(error), code="InvalidName", exit_code=Exit.USAGE) from None
    requirement: str = args.extensor or own_requirement()
    if "\n" in requirement or '"' in requirement:
        raise trouble(f"a requirement is one line without quotes, this is {requirement!r}", exit_code=Exit.USAGE)
    texts = project_files(names, requirement)
    _write(folder, texts)
    if args.output == "json":
        console.document(
            {"status": "Succeeded", "folder": str(folder), "files": list(texts), "extensor": requirement, "errors": []}
        )
        return Exit.OK
    console.out(
        f"The provider {names.provider} is in {folder}; its Makefile gets extensor from {requirement}.\n"
        f"Next:\n  {f'cd {folder} && ' if folder.absolute() != Path.cwd() else ''}make test"
    )
    return Exit.OK


def _write(folder: Path, texts: dict[str, str]) -> None:
    from extensor.cli.trouble import trouble

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise trouble(f"{folder} is not empty; choose another name, or empty it first", code="FolderNotEmpty")
        for path, text in texts.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError:
        raise trouble(f"{folder} is a file; choose another name", code="FolderNotEmpty") from None
    except OSError as error:
        raise trouble(f"{folder} cannot be written: {error.strerror or error}", code="CannotWrite") from None


COMMAND = Command(
    "new", "start a provider project that runs and passes its own tests", _DESCRIPTION, _add_arguments, _run
)
