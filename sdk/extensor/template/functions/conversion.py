"""From one kind to another: text, JSON, numbers, base64, data URIs."""

import base64
import binascii
import json
import re
from typing import Any, cast

from extensor.contract.json import Json
from extensor.template.functions.table import Function, bounded_integer, text
from extensor.template.limits import INT_MAX, INT_MIN
from extensor.template.refusal import Refusal
from extensor.template.values import kind_of, to_text

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*\Z")
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?\s*\Z")
_DATA_URI = re.compile(r"data:([^,]*),(.*)\Z", re.DOTALL | re.IGNORECASE)
_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)


def _string(value: Json) -> Json:
    return to_text(value)


def _int(value: Json) -> Json:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Refusal(f"the argument must be a string or a number, not {kind_of(value)}")
    if isinstance(value, float):
        if value.is_integer():
            return bounded_integer(int(value))
        raise Refusal("the number has a fraction")
    if isinstance(value, str) and not _INTEGER.match(value):
        raise Refusal("the string is not a 64-bit integer")
    return bounded_integer(int(value))


def _float(value: Json) -> Json:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and _NUMBER.match(value):
        return float(value)
    raise Refusal(f"the argument must be a number or a string that holds one, not {kind_of(value)}")


def _bool(value: Json) -> Json:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value != 0
    if isinstance(value, str) and value.lower() in {"true", "1", "false", "0"}:
        return value.lower() in {"true", "1"}
    raise Refusal("the argument must be a boolean, an integer, or a string that says 'true' or 'false'")


def _json(value: Json) -> Json:
    return parse_json(text(value))


def parse_json(written: str) -> Any:
    """A JSON text; strings may stand in single quotes. Raises `Refusal` for what is none, or has too large integers."""
    if not written.strip():
        return None
    try:
        return json.loads(written, parse_int=_json_integer, parse_constant=_no_constant)
    except ValueError as error:
        if "'" not in written:
            raise Refusal(f"the string is not JSON: {_json_fault(error)}") from None
    except RecursionError:
        raise Refusal("the JSON nests too deep") from None
    try:
        return json.loads(_STRINGS.sub(_double_quoted, written), parse_int=_json_integer, parse_constant=_no_constant)
    except ValueError as error:
        raise Refusal(f"the string is not JSON: {_json_fault(error)}") from None
    except RecursionError:
        raise Refusal("the JSON nests too deep") from None


def _double_quoted(match: re.Match[str]) -> str:
    inner = match.group(1)
    if inner is None:
        return match.group()
    plain_text = re.sub(
        r"\\(.)|\"", lambda one: one.group() if one.group(1) not in {"'", None} else _quoted(one), inner
    )
    return f'"{plain_text}"'


def _quoted(match: re.Match[str]) -> str:
    return match.group(1) or '\\"'


def _json_fault(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return str(error)


def _json_integer(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else INT_MAX + 1
    if INT_MIN <= value <= INT_MAX:
        return value
    raise ValueError("an integer does not fit into 64 bits")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def _base64(value: Json) -> Json:
    return base64.b64encode(_utf8(text(value))).decode("ascii")


def _utf8(value: str) -> bytes:
    return value.encode("utf-8", "replace")


def _from_base64(written: str) -> str:
    try:
        return base64.b64decode("".join(written.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise Refusal("the string is not base64 of UTF-8 text") from None


def _base64_to_string(value: Json) -> Json:
    return _from_base64(text(value))


def _base64_to_json(value: Json) -> Json:
    return parse_json(_from_base64(text(value)))


def _data_uri(value: Json) -> Json:
    return f"data:text/plain;charset=utf8;base64,{_base64(value)}"


def _data_uri_to_string(value: Json) -> Json:
    from urllib.parse import unquote

    match = _DATA_URI.match(text(value))
    if match is None:
        raise Refusal("the string is not a data URI such as data:text/plain;base64,…")
    kind, content = cast("tuple[str, str]", match.groups())
    return _from_base64(content) if kind.lower().endswith(";base64") else unquote(content)


FUNCTIONS = (
    Function("string", 1, 1, _string),
    Function("int", 1, 1, _int),
    Function("float", 1, 1, _float),
    Function("bool", 1, 1, _bool),
    Function("json", 1, 1, _json),
    Function("base64", 1, 1, _base64),
    Function("base64ToString", 1, 1, _base64_to_string),
    Function("base64ToJson", 1, 1, _base64_to_json),
    Function("dataUri", 1, 1, _data_uri),
    Function("dataUriToString", 1, 1, _data_uri_to_string),
)
