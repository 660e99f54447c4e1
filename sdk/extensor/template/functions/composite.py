"""Composite formatting as .NET does it: ``{index[,alignment][:format]}``, braces doubled to stand for themselves."""

import re
from functools import lru_cache
from typing import NamedTuple, cast

from extensor.contract.json import Json
from extensor.template.functions.table import bounded_text
from extensor.template.refusal import Refusal
from extensor.template.values import kind_of, to_json, to_text

_ITEM = re.compile(r"\{\s*([0-9]{1,6})\s*(?:,\s*(-?[0-9]{1,9})\s*)?(?::([^{}]*))?\}")
_PLAIN = re.compile(r"[^{}]+")
_STANDARD = re.compile(r"([A-Za-z])([0-9]{0,2})\Z")
_CUSTOM = re.compile(r"[#0,]*[#0][#0,]*(?:\.[0#]+)?\Z")


class _Item(NamedTuple):
    at: int
    width: int
    specifier: str | None


def format_composite(pattern: str, values: tuple[Json, ...]) -> str:
    """The pattern with each item replaced. Raises `Refusal` for a bad pattern or an index without a value."""
    pieces: list[str] = []
    size = 0
    for part in _parts(pattern):
        piece = part if isinstance(part, str) else _filled(part, values)
        size += len(piece)
        bounded_text(size)
        pieces.append(piece)
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str | _Item, ...]:
    parts: list[str | _Item] = []
    at = 0
    while at < len(pattern):
        if match := _PLAIN.match(pattern, at):
            parts.append(match.group())
            at = match.end()
        elif pattern.startswith(("{{", "}}"), at):
            parts.append(pattern[at])
            at += 2
        elif match := _ITEM.match(pattern, at):
            index, alignment, specifier = match.groups()
            bounded_text(abs(int(alignment or 0)))
            parts.append(_Item(int(index), int(alignment or 0), specifier))
            at = match.end()
        else:
            raise Refusal(
                f"the format is wrong at character {at}: write '{{{{' or '}}}}' for a brace, '{{0}}' for a value"
            )
    return tuple(parts)


def _filled(item: _Item, values: tuple[Json, ...]) -> str:
    if item.at >= len(values):
        raise Refusal(f"the format asks for value {item.at}, but {len(values)} values follow, counted from 0")
    shown = _shown(values[item.at], item.specifier)
    return shown.ljust(-item.width) if item.width < 0 else shown.rjust(item.width)


def _shown(value: Json, specifier: str | None) -> str:
    if isinstance(value, list | dict):
        return _single_quoted(value)
    if specifier and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, specifier)
    return to_text(value)


def _single_quoted(value: Json) -> str:
    if isinstance(value, str):
        inner = to_json(value)[1:-1].replace('\\"', '"').replace("'", "\\'")
        return f"'{inner}'"
    if isinstance(value, list):
        return f"[{','.join(map(_single_quoted, value))}]"
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        return f"{{{','.join(f'{_single_quoted(key)}:{_single_quoted(item)}' for key, item in members.items())}}}"
    return to_json(value)


def _number(value: int | float, specifier: str) -> str:
    if standard := _STANDARD.match(specifier):
        kind, digits = standard.group(1), int(standard.group(2) or -1)
        return _standard(value, kind, digits)
    if _CUSTOM.match(specifier):
        return _custom(value, specifier)
    raise Refusal(
        f"the number format '{specifier}' is not supported; use one of D, N, F, E, X, P, G, or digits like 0.00"
    )


def _standard(value: int | float, kind: str, digits: int) -> str:
    places = 2 if digits < 0 else digits
    match kind.upper():
        case "D" if isinstance(value, int):
            return f"{'-' if value < 0 else ''}{abs(value):0{max(digits, 1)}d}"
        case "X" if isinstance(value, int):
            shown = f"{value & (2**64 - 1):0{max(digits, 1)}x}"
            return shown.upper() if kind == "X" else shown
        case "N":
            return f"{value:,.{places}f}"
        case "F":
            return f"{value:.{places}f}"
        case "P":
            return f"{value * 100:,.{places}f}%"
        case "E":
            mantissa, exponent = f"{value:.{6 if digits < 0 else digits}e}".split("e")
            return f"{mantissa}{kind}{exponent[0]}{int(exponent[1:]):03d}"
        case "G" if digits <= 0:
            return to_text(value)
        case _:
            raise Refusal(f"the number format '{kind}' does not suit {kind_of(value)}")


def _custom(value: int | float, specifier: str) -> str:
    whole, _, fraction = specifier.partition(".")
    grouped = "," in whole
    least = len(whole.replace(",", "").lstrip("#"))
    shown = f"{abs(value):.{len(fraction)}f}"
    before, _, after = shown.partition(".")
    before = before.lstrip("0").rjust(least, "0")
    if grouped:
        before = re.sub(r"(?<=\d)(?=(?:\d{3})+\Z)", ",", before)
    optional = len(fraction) - len(fraction.rstrip("#"))
    if optional:
        kept = len(after) - optional
        after = after[:kept] + after[kept:].rstrip("0")
    sign = "-" if value < 0 and (before.strip("0,") or after.strip("0")) else ""
    return f"{sign}{before}{'.' if after else ''}{after}"
