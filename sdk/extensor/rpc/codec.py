"""JSON as it may cross the wire: UTF-8, RFC 8259, no NaN, no lone surrogates, bounded nesting (P-CONN-01, P-LIMIT-*).

The codec is the standard library's. Where the process has loaded pydantic's core anyway, that one parses and
serialises: it is two to three times as fast at 1 KiB. The checks around both make them accept and refuse the same
texts. For values the caller promises plain JSON (`extensor.contract.Json`, keys are strings); what else the one or the
other would take is not defined.
"""

import json
import re
import sys
from collections.abc import Callable
from math import isfinite
from typing import NoReturn

from extensor.contract.json import Json
from extensor.contract.limits import MAX_NESTING


class CodecError(ValueError):
    """A text that is no JSON for us, or a value that has no JSON. The message is fit for a peer."""


def decode(data: bytes) -> Json:
    """The value of one JSON text. Raises `CodecError`, never `RecursionError` or another exception.

    A key that comes twice keeps its last value. Integers are exact at any size up to Python's 4300 digits.
    """
    fast = _fast or _find_fast()
    parse = fast[0] if fast else _parse_text
    try:
        value = parse(data)
    except UnicodeDecodeError:
        raise CodecError("the message is not UTF-8") from None
    except RecursionError:
        raise CodecError(_TOO_DEEP) from None
    except ValueError as error:
        if str(error).startswith("recursion limit"):
            raise CodecError(_TOO_DEEP) from None
        raise CodecError(f"the message is not JSON: {error}") from None
    if data.count(b"{") + data.count(b"[") > MAX_NESTING and _is_too_deep(data):
        raise CodecError(_TOO_DEEP)
    if _may_overflow(data):
        _refuse_overflow(data)
    return value


def encode(value: Json) -> bytes:
    """`value` as compact UTF-8 JSON on one line. Raises `CodecError` for NaN, cycles, objects, too deep."""
    fast = _fast or _find_fast()
    write = fast[1] if fast else _write_text
    try:
        data = write(value)
    except UnicodeEncodeError:
        raise CodecError("the value has no JSON: a lone surrogate is no Unicode text") from None
    except RecursionError:
        raise CodecError(_TOO_DEEP) from None
    except (TypeError, ValueError) as error:
        raise CodecError(f"the value has no JSON: {error}") from None
    if data.count(b"{") + data.count(b"[") > MAX_NESTING and _is_too_deep(data):
        raise CodecError(_TOO_DEEP)
    return data


_TOO_DEEP = f"objects and arrays are nested deeper than {MAX_NESTING} levels"


def _refuse(constant: str) -> NoReturn:
    raise CodecError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        _refuse(text[:20])
    return value


_decode_text = json.JSONDecoder(parse_constant=_refuse).decode
_decode_finite = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode
_encode_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _parse_text(data: bytes) -> Json:
    value = _decode_text(data.decode())
    if b"\\u" in data and _has_lone_surrogate(data):
        raise CodecError("a lone surrogate is no Unicode text")
    return value


def _write_text(value: Json) -> bytes:
    return _encode_text(value).encode()


_Functions = tuple[Callable[[bytes], Json], Callable[[Json], bytes]]
_fast: _Functions | None = None


def _find_fast() -> _Functions | None:
    """Take pydantic's core once it is completely imported; never import it."""
    global _fast
    core = sys.modules.get("pydantic_core")
    from_json, to_json = getattr(core, "from_json", None), getattr(core, "to_json", None)
    if from_json is None or to_json is None:
        return None

    def parse(data: bytes) -> Json:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")

    def write(value: Json) -> bytes:
        data = to_json(value, inf_nan_mode="constants")
        # The constants may stand inside a text; only the strict encoder can tell.
        return _write_text(value) if b"NaN" in data or b"Infinity" in data else data

    _fast = parse, write
    return _fast


_SURROGATE_PAIR = rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SURROGATE = rb"\\u[dD][89a-fA-F]"


def _has_lone_surrogate(data: bytes) -> bool:
    return (
        re.search(_SURROGATE, data) is not None
        and re.search(_SURROGATE, re.sub(_SURROGATE_PAIR, b"", data)) is not None
    )


_BRACKETS_ALIKE = bytes.maketrans(b"[]", b"{}")
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'{}[]"'))


def _is_too_deep(data: bytes) -> bool:
    """Whether a valid JSON text nests deeper than `MAX_NESTING`, without a walk over its values."""
    if b"\\" in data:
        data = re.sub(rb"\\[\x00-\xff]", b"", data)
    brackets = re.sub(rb'"[^"]*"', b"", data.translate(_BRACKETS_ALIKE, _NOT_STRUCTURE).replace(b'""', b""))
    for _ in range(MAX_NESTING):
        brackets = brackets.replace(b"{}", b"")
        if not brackets:
            return False
    return True


_DIGITS_ALIKE = bytes.maketrans(b"123456789E", b"000000000e")
_HUGE_DIGITS = b"0" * 300
_HUGE_NUMBER = rb"(?:^|[:,\[\s])-?[0-9][0-9.]*[eE]\+?[0-9]{3}|[0-9]{300}"


def _may_overflow(data: bytes) -> bool:
    alike = data.translate(_DIGITS_ALIKE, b"+")
    return b"0e000" in alike or _HUGE_DIGITS in alike


def _refuse_overflow(data: bytes) -> None:
    """A number like 1e400 is valid JSON and becomes infinity, which is none."""
    if re.search(_HUGE_NUMBER, data) is not None:
        _decode_finite(data.decode())
