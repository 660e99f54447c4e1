"""Expressions and values that others recorded: every one is right, or listed as a gap."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from extensor.contract import Json
from extensor.errors import TemplateError
from extensor.template import CopyContext, Scope, parse_template
from extensor.template.parser import is_expression, parse
from extensor.template.refusal import Refusal

GAPS = frozenset(
    line.strip()
    for line in (Path(__file__).parent / "known_gaps.txt").read_text("utf-8").splitlines()
    if line.strip() and not line.startswith("#")
)
TYPES = {str: "string", bool: "bool", int: "int", list: "array", dict: "object"}


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def same(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return set(left) == set(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def outcome(record: dict[str, Any]) -> tuple[bool, Json]:
    parameters = record.get("parameters", {})
    template = parse_template(
        {
            "languageVersion": "2.0",
            "parameters": {name: {"type": TYPES[type(given)]} for name, given in parameters.items()},
            "variables": {name: escaped(given) for name, given in record.get("variables", {}).items()},
            "resources": {},
        }
    )
    loop = CopyContext(**record["copy"]) if "copy" in record else None
    try:
        return True, Scope(template, parameters).evaluate(record["expression"], loop=loop)
    except TemplateError as error:
        return False, str(error)


def escaped(given: Json) -> Json:
    if isinstance(given, str):
        return f"[{given}" if is_expression(given) else given
    if isinstance(given, list):
        return [escaped(item) for item in given]
    if isinstance(given, dict):
        return {key: escaped(item) for key, item in given.items()}
    return given


def test_every_recorded_expression_gives_its_value_or_is_a_known_gap(
    shared: Path, record_property: Callable[[str, object], None]
) -> None:
    every = records(shared / "vectors/expressions.jsonl")
    wrong: dict[str, str] = {}
    for record in every:
        worked, got = outcome(record)
        if worked is record.get("error", False) or (worked and not same(got, record["value"])):
            wrong[record["id"]] = f"{record['expression']} gave {got!r}, not {record.get('value', 'an error')!r}"
    record_property("right", f"{len(every) - len(wrong)} of {len(every)} expressions")
    assert len(every) > 500
    assert {id_: why for id_, why in wrong.items() if id_ not in GAPS} == {}
    assert GAPS - wrong.keys() == set(), "these pass now; take them off known_gaps.txt"


def test_every_recorded_text_parses_or_does_not_as_recorded(
    shared: Path, record_property: Callable[[str, object], None]
) -> None:
    every = records(shared / "vectors/parse.jsonl")
    wrong: list[str] = []
    for record in every:
        text = record["text"]
        if "isExpression" in record and is_expression(text) is not record["isExpression"]:
            wrong.append(f"{record['id']}: {text!r} is taken for an expression or is not")
        if "parses" in record and parses(text) is not record["parses"]:
            wrong.append(f"{record['id']}: {text!r} parses or does not")
    record_property("right", f"{len(every) - len(wrong)} of {len(every)} texts")
    assert len(every) > 100
    assert wrong == []


def parses(text: str) -> bool:
    try:
        parse(text)
    except Refusal:
        return False
    return True
