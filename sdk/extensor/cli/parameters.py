"""``-p NAME=VALUE``: from text on the command line to the value that the template declares."""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from extensor.cli.assignment import Assignment
from extensor.cli.inputs import read_bytes
from extensor.cli.trouble import Trouble, trouble
from extensor.contract.faults import Fault
from extensor.contract.json import Json

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number, such as 3"),
    "bool": (bool, "true or false"),
    "object": (dict, """a JSON object, such as '{"size": 2}'"""),
    "array": (list, """a JSON list, such as '["a", "b"]'"""),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What a template says about one of its parameters, as far as the command line needs it."""

    name: str
    type: str
    """``string``, ``int``, ``bool``, ``object`` or ``array``; ``""`` where the template leaves it open."""
    secure: bool = False
    nullable: bool = False


def typed_values(
    assignments: Iterable[Assignment], declared: Iterable[Declared]
) -> tuple[dict[str, Json], list[Fault]]:
    """The values of all assignments by their declared spelling, the last one of a name counts; and every fault found.

    Faults are unreadable files and values that are not of the declared type. A secure parameter's value is never
    quoted. A name that nobody declared keeps its text, for `extensor.template.check_parameters` to refuse.
    """
    by_key = {item.name.lower(): item for item in declared}
    values: dict[str, Json] = {}
    faults: list[Fault] = []
    for assignment in assignments:
        item = by_key.get(assignment.name.lower(), Declared(assignment.name, "string"))
        try:
            values[item.name] = _typed(_content(assignment), item)
        except Trouble as error:
            faults += [Fault(fault.code, fault.message, _place(item.name)) for fault in error.faults]
    return values, faults


def _content(assignment: Assignment) -> str:
    text = assignment.text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise trouble("the value is not UTF-8 text; a parameter holds text only, so give its bytes in base64") from None
    if text.startswith("@@"):
        return text[1:]
    if not text.startswith("@"):
        return text
    read: Callable[[], bytes]
    if text == "@-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - None when started with <&-
            raise trouble("stdin is closed, so no value can come from it")
        what, read = "stdin", sys.stdin.buffer.read
    else:
        path = Path(text[1:]).expanduser()
        what, read = str(path), lambda: read_bytes(path, "parameter file")
    try:
        content = read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise trouble(f"{what} is not UTF-8 text; a parameter holds text only, so give its bytes in base64") from None
    if content.endswith("\r\n"):
        return content[:-2]
    return content.removesuffix("\n")


def _typed(text: str, item: Declared) -> Json:
    if item.type == "string":
        return text
    if item.type not in _KINDS:
        try:
            return parse_json(text)
        except ValueError:
            return text
    kind, form = _KINDS[item.type]
    try:
        value = parse_json(text)
    except ValueError as error:
        raise _mistyped(item, text, form, "" if item.type in ("int", "bool") else f" ({error})") from None
    if value is None and item.nullable:
        return None
    if not isinstance(value, kind) or (item.type == "int" and isinstance(value, bool)):
        raise _mistyped(item, text, form, "")
    return value


def parse_json(text: str) -> Json:
    """Strict JSON: no NaN, no infinities, bounded nesting. Raises `ValueError` with the place."""

    def refuse(name: str) -> Json:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _mistyped(item: Declared, text: str, form: str, detail: str) -> Trouble:
    shown = "" if item.secure else f", not {text if len(text) <= 60 else text[:59] + '…'!r}"
    return trouble(f"parameter {item.name} is {form}{shown}{detail}", code="InvalidProperty")


def _place(name: str) -> str:
    from extensor.contract.paths import format_path

    return format_path(("parameters", name))
