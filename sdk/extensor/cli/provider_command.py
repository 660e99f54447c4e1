"""The command line that every provider has: it serves on a socket, writes its types, describes itself."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from extensor.contract.handshake import TOKEN_VARIABLE
from extensor.contract.json import JsonObject
from extensor.errors import ExtensorError
from extensor.types.model import (
    AnyType,
    ArrayType,
    BooleanType,
    DiscriminatedObjectType,
    IntegerType,
    NullType,
    NumberType,
    ObjectType,
    Property,
    StringLiteralType,
    StringType,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from extensor.authoring.provider import Provider
    from extensor.authoring.stdio import Wire

_WORDS: dict[type, str] = {
    AnyType: "any",
    NullType: "null",
    BooleanType: "bool",
    IntegerType: "int",
    NumberType: "number",
    StringType: "string",
}


def main(provider: "Provider", words: Sequence[str], wire: "Wire") -> int:
    """Do what the command line says and return the exit code; `wire` holds the process's true stdin and stdout."""
    out = open(wire.write_fd, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        code = _run(provider, words, out)
        out.flush()
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), wire.write_fd)
        return 0
    return code


def _run(provider: "Provider", words: Sequence[str], out: TextIO) -> int:
    sys.stdout = out  # for argparse's own --help and --version
    try:
        args = _parser(provider).parse_args(words)
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.stdout = sys.stderr
    if args.listen:
        return _listen(provider, args.listen)
    try:
        return _tell(provider, args, out)
    except BrokenPipeError:
        raise
    except (ExtensorError, OSError) as error:
        print(f"{provider.name}: {error}", file=sys.stderr)
        return 1


def _tell(provider: "Provider", args: argparse.Namespace, out: TextIO) -> int:
    if args.command == "types":
        return _write_types(provider, Path(args.out), out)
    if args.command == "describe":
        described = describe(provider)
        if args.output == "json":
            print(json.dumps(described, indent=2, ensure_ascii=False), file=out)
        else:
            print("\n".join(_text(described)), file=out)
        return 0
    print("give --listen or a command; without any argument the provider serves on stdin and stdout", file=sys.stderr)
    return 2


def _parser(provider: "Provider") -> argparse.ArgumentParser:
    from importlib.metadata import version

    parser = argparse.ArgumentParser(
        prog=provider.name,
        description=f"{provider.name} {provider.version}. Without arguments it serves one host on stdin and stdout.",
        allow_abbrev=False,
    )
    own = f"{provider.name} {provider.version} (extensor {version('extensor')})"
    parser.add_argument("--version", action="version", version=own)
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help=f"serve hosts on unix:PATH or tcp:127.0.0.1:PORT (0: any free port, needs a token in ${TOKEN_VARIABLE})",
    )
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    types = commands.add_parser("types", help="write the types as index.json and types.json", allow_abbrev=False)
    types.add_argument(
        "--out", metavar="DIR", required=True, help="the folder to write them to; it is made when missing"
    )
    describe_ = commands.add_parser("describe", help="list types, operations and properties", allow_abbrev=False)
    describe_.add_argument("--output", choices=("text", "json"), default="text")
    return parser


def _listen(provider: "Provider", address: str) -> int:
    from extensor.authoring.serve import serve_address

    token = os.environ.get(TOKEN_VARIABLE)
    if address.startswith("tcp:") and not token:
        print(f"tcp needs a token: set {TOKEN_VARIABLE} to a long random text and give it to the host", file=sys.stderr)
        return 2
    try:
        serve_address(provider, address, token, _announce)
    except (ExtensorError, OSError, ValueError) as error:
        print(f"cannot listen on {address}: {error}", file=sys.stderr)
        return 1
    return 0


def _announce(address: str) -> None:
    print(f"listening on {address}", file=sys.stderr, flush=True)


def _write_types(provider: "Provider", folder: Path, out: TextIO) -> int:
    index, files = provider.types.write()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"index.json": index, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        print(path, file=out)
    return 0


def describe(provider: "Provider") -> JsonObject:
    """What a provider offers, as data: its configuration's properties, and for each type operations and properties."""
    config = provider.types.config_type
    return {
        "name": provider.name,
        "version": provider.version,
        "config": [] if config is None else list(_properties(config, "", ())),
        "types": [
            {
                "type": str(item.name),
                "operations": [verb.wire for verb in item.offered],
                "properties": list(_properties(provider.types.resource(str(item.name)).body, "", ())),
            }
            for item in provider.resources.values()
        ],
    }


def _properties(type_: Type, prefix: str, above: tuple[int, ...]) -> Iterator[JsonObject]:
    """The properties of an object and of the objects inside it, each once on a path."""
    if id(type_) in above:
        return
    above = (*above, id(type_))
    if isinstance(type_, ArrayType):
        yield from _properties(type_.item_type, f"{prefix}[]", above)
    elif isinstance(type_, ObjectType):
        for name, item in type_.properties.items():
            place = f"{prefix}.{name}" if prefix else name
            yield {"path": place, "type": _word(item.type), "flags": _flags(item), "description": item.description}
            yield from _properties(item.type, place, above)
    elif isinstance(type_, DiscriminatedObjectType):
        for value, variant in type_.variants.items():
            yield from _properties(variant, f"{prefix}<{value}>", above)


def _flags(item: Property) -> list[str]:
    secret = getattr(item.type, "sensitive", False)
    flags = {
        "identifier": item.identifier,
        "required": item.required,
        "read-only": item.read_only,
        "write-only": item.write_only,
        "immutable": item.immutable,
        "calculated": item.calculated,
        "secret": bool(secret),
    }
    return [name for name, said in flags.items() if said]


def _word(type_: Type) -> str:
    if isinstance(type_, StringLiteralType):
        return json.dumps(type_.value, ensure_ascii=False)
    if isinstance(type_, UnionType):
        return " | ".join(_word(item) for item in type_.elements)
    if isinstance(type_, ArrayType):
        inner = _word(type_.item_type)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if isinstance(type_, ObjectType) and not type_.properties and type_.additional_properties is not None:
        return f"map of {_word(type_.additional_properties)}"
    return _WORDS.get(type(type_), "object")


def _text(described: JsonObject) -> Iterator[str]:
    yield f"{described['name']} {described['version']}"
    if described["config"]:
        yield "\nconfiguration"
        yield from _table(described["config"])
    for item in described["types"]:
        yield f"\n{item['type']}: {', '.join(item['operations'])}"
        yield from _table(item["properties"])


def _table(properties: list[JsonObject]) -> Iterator[str]:
    widths = [max((len(item[column]) for item in properties), default=0) for column in ("path", "type")]
    flags = [", ".join(item["flags"]) for item in properties]
    widest = max((len(text) for text in flags), default=0)
    for item, said in zip(properties, flags, strict=True):
        line = (
            f"  {item['path']:<{widths[0]}}  {item['type']:<{widths[1]}}  {said:<{widest}}  {item['description'] or ''}"
        )
        yield line.rstrip()
