"""Strings."""

import re
from fnmatch import translate
from functools import lru_cache

from extensor.contract.json import Json
from extensor.template.functions.composite import format_composite
from extensor.template.functions.hashes import guid, unique_string
from extensor.template.functions.table import Function, bounded_array, bounded_text, integer, text
from extensor.template.refusal import Refusal
from extensor.template.values import kind_of, to_text

_DOT_NET_SPACE = "".join(map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)))) + "".join(
    map(chr, (0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)


def _format(pattern: Json, *values: Json) -> Json:
    return format_composite(text(pattern, "the format"), values)


def _to_lower(value: Json) -> Json:
    return text(value).lower()


def _to_upper(value: Json) -> Json:
    return "".join(upper if len(upper := char.upper()) == 1 else char for char in text(value))


def _trim(value: Json) -> Json:
    return text(value).strip(_DOT_NET_SPACE)


def _starts_with(value: Json, start: Json) -> Json:
    return text(value, "the first argument").lower().startswith(text(start, "the second argument").lower())


def _ends_with(value: Json, end: Json) -> Json:
    return text(value, "the first argument").lower().endswith(text(end, "the second argument").lower())


def _replace(value: Json, old: Json, new: Json) -> Json:
    original, before, after = (
        text(part, f"the {nth} argument") for part, nth in ((value, "first"), (old, "second"), (new, "third"))
    )
    if not before:
        raise Refusal("the text to replace is empty")
    if len(after) > len(before):
        bounded_text(len(original) + original.count(before) * (len(after) - len(before)))
    return original.replace(before, after)


def _split(value: Json, delimiters: Json) -> Json:
    original = text(value, "the first argument")
    marks = [text(one, "a delimiter") for one in (delimiters if isinstance(delimiters, list) else [delimiters])]
    marks = [mark for mark in marks if mark]
    if not marks:
        return [original]
    bounded_array(sum(map(original.count, marks)) + 1)
    return re.split("|".join(map(re.escape, marks)), original)


def _substring(value: Json, start: Json, length: Json = None) -> Json:
    original, first = text(value, "the first argument"), integer(start, "the start")
    many = len(original) - first if length is None else integer(length, "the length")
    if first < 0 or many < 0 or first + many > len(original):
        raise Refusal(f"start {first} and length {many} reach outside the string of {len(original)} characters")
    return original[first : first + many]


def _pad_left(value: Json, width: Json, char: Json = " ") -> Json:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Refusal(f"the first argument must be a string or an integer, not {kind_of(value)}")
    filler, wanted = text(char, "the character"), integer(width, "the width")
    if len(filler) != 1:
        raise Refusal("the third argument must be a single character")
    if wanted < 0:
        raise Refusal("the width must not be negative")
    bounded_text(wanted)
    return to_text(value).rjust(wanted, filler)


def _like(value: Json, pattern: Json) -> Json:
    return _glob(text(pattern, "the pattern")).match(text(value, "the first argument")) is not None


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("[", "[[]")), re.IGNORECASE)


def _joined(values: tuple[Json, ...]) -> str:
    return "-".join(to_text(value) for value in values)


FUNCTIONS = (
    Function("format", 1, None, _format),
    Function("toLower", 1, 1, _to_lower),
    Function("toUpper", 1, 1, _to_upper),
    Function("trim", 1, 1, _trim),
    Function("startsWith", 2, 2, _starts_with),
    Function("endsWith", 2, 2, _ends_with),
    Function("replace", 3, 3, _replace),
    Function("split", 2, 2, _split),
    Function("substring", 2, 3, _substring),
    Function("padLeft", 2, 3, _pad_left),
    Function("like", 2, 2, _like),
    Function("uniqueString", 1, None, lambda *values: unique_string(_joined(values))),
    Function("guid", 1, None, lambda *values: guid(_joined(values))),
)
