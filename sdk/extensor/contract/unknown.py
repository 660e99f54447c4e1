"""The value that is not known yet: a type of its own in Python, a marker on the wire (P-UNKNOWN-*)."""

import re
from collections.abc import Iterator
from typing import NoReturn, TypeGuard

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import ContractViolation, Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path, format_path

MARKER = "$unknown"
_MARKER_LIKE = re.compile(r"\$+unknown\Z")


class UnknownValueError(TypeError):
    """Code used a value that is not known yet. `path` names the property, ``None`` where it is not at hand."""

    def __init__(self, path: str | None, attempt: str) -> None:
        self.path = path
        place = f"the value of {path}" if path else "a value"
        super().__init__(
            f"{attempt} needs {place}, which is not known until the deployment runs; "
            "ask is_unknown(value) first and pass it on as it is"
        )


class Unknown:
    """A value that will be known only when the deployment runs.

    It can be stored, passed on and asked for its `expression` and `path`. Whatever would need the value itself,
    ``bool``, ``str``, ``==``, ``len``, arithmetic, iteration, attribute access, raises `UnknownValueError`.
    """

    __slots__ = ("expression", "path")

    expression: str | None
    path: str | None

    def __init__(self, expression: str | None = None, path: str | None = None) -> None:
        self.expression = expression
        self.path = path

    def __repr__(self) -> str:
        return f"<Unknown at {self.path}>" if self.path else "<Unknown>"

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[type["Unknown"], tuple[str | None, str | None]]:
        return Unknown, (self.expression, self.path)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownValueError(self.path, f"reading .{name}")


def _refuse(attempt: str) -> object:
    def refused(self: Unknown, *_: object) -> NoReturn:
        raise UnknownValueError(self.path, attempt)

    return refused


for _name, _attempt in {
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), "a comparison"),
    "__bool__": "a truth test",
    "__str__": "str()",
    "__format__": "formatting",
    "__bytes__": "bytes()",
    "__int__": "int()",
    "__float__": "float()",
    "__index__": "use as an index",
    "__len__": "len()",
    "__iter__": "iteration",
    "__contains__": "'in'",
    "__getitem__": "indexing",
    "__call__": "a call",
    "__fspath__": "use as a file path",
    **dict.fromkeys(
        (
            f"__{side}{name}__"
            for name in (
                "add",
                "sub",
                "mul",
                "truediv",
                "floordiv",
                "mod",
                "pow",
                "and",
                "or",
                "xor",
                "lshift",
                "rshift",
            )
            for side in ("", "r")
        ),
        "arithmetic",
    ),
    **dict.fromkeys(("__neg__", "__pos__", "__abs__", "__invert__", "__round__"), "arithmetic"),
}.items():
    setattr(Unknown, _name, _refuse(_attempt))
Unknown.__hash__ = object.__hash__  # a class body that gains __eq__ keeps the hash of identity


def is_unknown(value: object) -> TypeGuard[Unknown]:
    """Whether a value is not known yet."""
    return type(value) is Unknown


def find_unknowns(value: Json, path: Path = ()) -> Iterator[tuple[Path, Unknown]]:
    """Every unknown inside a decoded value, with its path, in document order."""
    if type(value) is Unknown:
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_unknowns(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_unknowns(item, (*path, index))


def has_unknown(value: Json) -> bool:
    """Whether a decoded value holds an unknown anywhere."""
    if type(value) is Unknown:
        return True
    if isinstance(value, dict):
        items = value.values()
    elif isinstance(value, list):
        items = value
    else:
        return False
    for item in items:
        kind = type(item)
        if kind is not str and kind is not int and kind is not bool and has_unknown(item):
            return True
    return False


def decode_unknowns(value: Json, path: Path = ()) -> Json:
    """Wire to Python: markers become `Unknown` with their path, escaped keys lose one ``$``.

    A value without either comes back as it is, not copied. Raises `ContractViolation` for a marker with other content
    than the protocol allows.
    """
    return _decoded(value, path) if _holds_markers(value) else value


def encode_unknowns(value: Json) -> Json:
    """Python to wire: `Unknown` becomes a marker, a user's look-alike key gains one ``$``.

    A value without either comes back as it is, not copied.
    """
    return _encoded(value) if _holds_markers(value) else value


def may_hold_markers(text: bytes) -> bool:
    """Whether a JSON text may hold a marker or an escaped look-alike: a search of its bytes, much less than a walk."""
    return b'unknown"' in text or b"\\u00" in text


def _holds_markers(value: Json) -> bool:
    """Whether anything in a value differs between Python and the wire. Most values hold nothing of the kind."""
    todo = [value]
    for item in todo:  # grows while it is walked
        kind = type(item)
        if kind is dict:
            if len(item) == 1 and _looks_like_a_marker(next(iter(item))):
                return True
            todo += [inner for inner in item.values() if type(inner) in _WALKED]
        elif kind is list:
            todo += [inner for inner in item if type(inner) in _WALKED]
        elif kind is Unknown or kind is tuple:
            return True
    return False


def _decoded(value: Json, path: Path) -> Json:
    if type(value) is dict:
        if len(value) == 1:
            (key,) = value
            if key == MARKER:
                return _marker(value[key], path)
            if _looks_like_a_marker(key):
                return {key[1:]: _decoded(value[key], (*path, key[1:]))}
        return {key: _decoded(item, (*path, key)) for key, item in value.items()}
    if type(value) is list:
        return [_decoded(item, (*path, index)) for index, item in enumerate(value)]
    return value


def _encoded(value: Json) -> Json:
    kind = type(value)
    if kind is Unknown:
        return {MARKER: {} if value.expression is None else {"expression": value.expression}}
    if kind is dict:
        if len(value) == 1:
            (key,) = value
            if _looks_like_a_marker(key):
                return {f"${key}": _encoded(value[key])}
        return {key: _encoded(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_encoded(item) for item in value]
    return value


def _looks_like_a_marker(key: Json) -> bool:
    return type(key) is str and key.endswith("unknown") and _MARKER_LIKE.match(key) is not None


_WALKED = frozenset((dict, list, tuple, Unknown))


def _marker(content: Json, path: Path) -> Unknown:
    if isinstance(content, dict) and (
        not content or (len(content) == 1 and isinstance(content.get("expression"), str))
    ):
        return Unknown(content.get("expression"), format_path(path))
    raise ContractViolation(
        Fault(
            ErrorCode.INVALID_REQUEST,
            f"{MARKER} holds an empty object or {{'expression': text}}; a property of that name is written ${MARKER}",
            format_path(path),
        )
    )
