"""``provider-conformance init``: write a `conformance.toml` from what the provider says of itself."""

import argparse
import os
from pathlib import Path

from extensor_conformance.cli.command import Command, Trouble
from extensor_conformance.cli.console import Console
from extensor_conformance.cli.exits import Exit
from extensor_conformance.cli.options import add_subject, duration, fixture_of, subject_of
from extensor_conformance.cli.outputs import write_file
from extensor_conformance.cli.provider_bench import provider_bench
from extensor_conformance.report.reproduce import DEFAULT_CONFIG

_DESCRIPTION = """\
Start the provider, read its types, and write a commented conformance.toml with the
few values that cannot be guessed: its configuration, and what each type may need.

  provider-conformance init -- python -m my_provider

The file is not needed: without it inputs are made from the types alone.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_subject(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path(DEFAULT_CONFIG), help=f"default: {DEFAULT_CONFIG}"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--timeout", metavar="TIME", type=duration, default=30.0, help="for one answer; default: 30s")


def _run(args: argparse.Namespace, console: Console) -> Exit:
    from extensor_conformance.cli.starter import starter_text
    from extensor_conformance.settings import Settings

    target: Path = args.output
    if target.exists() and not args.force:
        raise Trouble(f"{target} is there already; --force replaces it")
    fixture = fixture_of(args)
    subject = subject_of(args, fixture)
    command = args.command or (fixture.command if not args.app else subject.command)
    with provider_bench(Settings(subject, fixture, timeout=args.timeout, folder=None)) as (_, provider):
        if provider.trouble is not None:
            raise Trouble(f"the provider started, but {provider.trouble}", Exit.FAILED)
        text = starter_text(provider, command, subject.address, _from_file(args.cwd or fixture.cwd, target))
    try:
        write_file(target, text)
    except OSError as error:
        raise Trouble(f"{target}: {error.strerror or error}") from None
    count = len(provider.kinds)
    console.out(f"{target}: {count} type{'' if count == 1 else 's'} of {provider.name} {provider.version}")
    console.out("next: fill in what is marked with <>, then: provider-conformance run")
    return Exit.OK


def _from_file(folder: Path | None, target: Path) -> str | None:
    """A folder as the file may name it."""
    return None if folder is None else Path(os.path.relpath(folder.resolve(), target.resolve().parent)).as_posix()


COMMAND = Command("init", "write a commented conformance.toml", _DESCRIPTION, _add_arguments, _run)
