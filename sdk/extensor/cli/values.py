"""JSON values as text for people: one line where it fits, ARM's block form where it does not."""

import json
from collections.abc import Iterator

from extensor.cli.console import printable, quoted
from extensor.contract import Json, Path, format_path, is_unknown, parse_path

LONGEST_TEXT = 100
"""Characters of one text value that are shown; ``--output json`` has the rest."""
_CONTEXT = 12
_BLOCK_FROM = 60


def plain(text: str) -> str:
    """Somebody's words on one line, without what could steer a terminal."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def plain_path(path: str) -> str:
    """A path as people write it: without the root and without ``properties``, ``sku.name``."""
    try:
        parts = parse_path(path)
    except ValueError:
        return plain(path)
    if parts[:1] == ("properties",):
        parts = parts[1:]
    return _path(parts)


def one_line(value: Json, *, start: int = 0) -> str:
    """A value on one line; a long text is cut, from character `start` on, and its length is told."""
    if is_unknown(value):
        return f"(known after deploy: {plain(value.expression)})" if value.expression else "(known after deploy)"
    if isinstance(value, str):
        return _text(value, start)
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{quoted(name)}": {one_line(item)}' for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(one_line(item) for item in value) + "]"
    return json.dumps(value)


def from_to(before: Json, after: Json) -> tuple[str, str]:
    """Two values on a line each; of long texts the part around their first difference."""
    start = 0
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > LONGEST_TEXT:
        same = next(
            (i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
            min(len(before), len(after)),
        )
        start = max(0, same - _CONTEXT)
    return one_line(before, start=start), one_line(after, start=start)


def block(value: Json) -> list[str]:
    """The lines after ``name:``: one when the value is short, else one a list's element or an object's member."""
    line = one_line(value)
    if not isinstance(value, dict | list) or not value or len(line) <= _BLOCK_FROM:
        return [line]
    if isinstance(value, list):
        return ["[", *(line for index, item in enumerate(value) for line in _member(f"{index}:", item)), "]"]
    return ["{", *(line for name, item in value.items() for line in _member(f"{plain(name)}:", item)), "}"]


def leaves(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Json]]:
    """Every value of an object with its flattened path, ``sku.name``; lists and empty objects are values."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    else:
        yield _path(path), value


def identity(identifiers: Json) -> str:
    """Identifiers on one line: ``path: "a/b", name: "c"``; empty while they are not known."""
    if not isinstance(identifiers, dict):
        return ""
    return ", ".join(f"{name}: {one_line(value)}" for name, value in leaves(identifiers)) if identifiers else ""


def count(number: int, noun: str) -> str:
    """``1 resource``, ``2 resources``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _path(parts: Path) -> str:
    return plain(format_path(parts)[1:].removeprefix(".")) or "$"


def _member(name: str, value: Json) -> list[str]:
    first, *rest = block(value)
    return [f"  {name} {first}", *(f"  {line}" for line in rest)]


def _text(value: str, start: int) -> str:
    shown = value[start : start + LONGEST_TEXT]
    cut_before, cut_after = start > 0, start + LONGEST_TEXT < len(value)
    line = f'"{"…" if cut_before else ""}{quoted(shown)}{"…" if cut_after else ""}"'
    return f"{line} ({len(value):,} characters)" if cut_before or cut_after else line
