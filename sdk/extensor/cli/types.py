"""`extensor types`: write a provider's types as the Bicep compiler reads them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from extensor.cli.command import Command
from extensor.cli.exits import Exit
from extensor.cli.options import add_output

if TYPE_CHECKING:
    from extensor.cli.console import Console
    from extensor.hosting import LaunchSpec
    from extensor.types import TypeIndex

_DESCRIPTION = """\
Start a provider, ask it for its types and write them as index.json and
types.json, which 'bicep publish-extension' takes.

  extensor types files --out types
  extensor types "python -m quickstart" --out types
  extensor types ./my-provider --out types
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "provider",
        metavar="PROVIDER",
        help="an installed provider's name, the path of an executable, or a command line",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        required=True,
        help="the folder to write to; files of the same name are replaced",
    )
    add_output(parser)


def _run(args: argparse.Namespace, console: "Console") -> Exit:
    """Fetch the types and write them."""
    import anyio

    from extensor.cli.values import count

    name, version, index = anyio.run(_fetch, _spec(args.provider))
    text, more = index.write()
    written = _write(args.out, {"index.json": text, **more})
    if args.output == "json":
        console.document(
            {
                "status": "Succeeded",
                "provider": {"name": name, "version": version},
                "types": sorted(index.resources),
                "files": [str(path) for path in written],
                "errors": [],
            }
        )
    else:
        console.out(f"{name} {version}: {count(len(index.resources), 'type')} in {' and '.join(map(str, written))}.")
    return Exit.OK


def _spec(provider: str) -> "LaunchSpec":
    from extensor.errors import ProviderNotFound
    from extensor.hosting import find

    try:
        return find(provider)
    except ProviderNotFound:
        if " " not in provider.strip():
            raise
        return find(provider.split()[0], command=provider)


async def _fetch(spec: "LaunchSpec") -> "tuple[str, str, TypeIndex]":
    from extensor.hosting import Host

    async with Host() as host:
        session = await host.start(spec)
        return session.name, session.version or "of unknown version", await session.types()


def _write(folder: Path, texts: dict[str, str]) -> list[Path]:
    from extensor.cli.trouble import trouble

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise trouble(f"{folder} cannot be written: {error.strerror or error}", code="CannotWrite") from None
    return [folder / name for name in texts]


COMMAND = Command("types", "write a provider's types for the Bicep compiler", _DESCRIPTION, _add_arguments, _run)
