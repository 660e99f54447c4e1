"""What is made for a type with every construct: names, secrets, overrides, faults, and the same each time."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from extensor.contract import JsonObject, Verb
from extensor.types import ResourceType, model
from extensor.types.flags import Flag
from extensor_conformance.bodies import optional
from extensor_conformance.canary import Canaries
from extensor_conformance.case import Case
from extensor_conformance.draw import Draw
from extensor_conformance.fixture import TypeFixture
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names
from extensor_conformance.steps import Call, Plan
from extensor_conformance.texts import Bounds, name

Examples = Callable[..., list[Any]]
NAMES = [
    "^[a-z]{3,12}$",
    "^[A-Z][A-Z0-9]{7}$",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    "^/srv/[a-z0-9]+(/[a-z0-9]+)*$",
    r"^[a-z0-9]+@example\.org$",
    "^emp-[a-z0-9]{8}$",
    r"^\d{9}$",
    "^(?:[a-z]+\\.)+[a-z]{2,}$",
]


def kind_of(properties: dict[str, model.Property], fixture: TypeFixture | None = None) -> Kind:
    type_ = ResourceType("sample@1", model.ObjectType("Sample", properties))
    return Kind("sample@1", type_, fixture=fixture or TypeFixture())


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(item)


def test_the_simplest_body_comes_first_and_a_full_one_has_every_property(rich: Kind, examples: Examples) -> None:
    first = examples(lambda draw: rich.valid(draw))[0]
    full = examples(lambda draw: rich.valid(draw, full=True))
    body = rich.type.body
    assert isinstance(body, model.ObjectType)
    given = {key for key, item in body.properties.items() if not item.read_only}

    assert set(first) == {"name", "place", "mode"}
    assert all(set(made) == given for made in full)
    assert {made["shape"]["kind"] for made in full} == {"circle", "label"}
    assert all(made["tags"] for made in full)


def test_types_that_contain_themselves_come_to_an_end(examples: Examples) -> None:
    node = model.ObjectType("Node")
    node.properties["next"] = model.Property(node)
    node.properties["all"] = model.Property(model.ArrayType(node))
    kind = kind_of({"root": model.Property(node, Flag.REQUIRED)})

    assert all(len(json.dumps(made)) < 20_000 for made in examples(lambda draw: kind.valid(draw, full=True)))


def test_large_types_give_small_bodies(examples: Examples) -> None:
    wide = model.ObjectType("Wide", {f"p{i}": model.Property(model.StringType()) for i in range(400)})
    kind = kind_of({f"w{i}": model.Property(wide) for i in range(50)})

    def plan(draw: Draw) -> tuple[int, int]:
        body = kind.valid(draw, full=True)
        return len(json.dumps(body)), len(list(kind.mutations(draw, body)))

    made = examples(plan, 3)

    assert max(size for size, _ in made) < 60_000
    assert max(count for _, count in made) <= 60


@pytest.mark.parametrize("pattern", NAMES)
def test_a_name_holds_a_token_whatever_its_pattern_and_a_rerun_keeps_the_pattern(
    pattern: str, examples: Examples, names: Names
) -> None:
    kind = kind_of({"id": model.Property(model.StringType(pattern=pattern), Flag.REQUIRED | Flag.IDENTIFIER)})

    def plan(draw: Draw) -> tuple[JsonObject, tuple[str, ...]]:
        return kind.valid(draw), names.taken()

    made = [item for seed in range(8) for item in examples(plan, 1, seed)]
    assert len({body["id"] for body, _ in made}) == len(made)
    for body, tokens in made:
        assert any(token.lower() in body["id"].lower() for token in tokens), body
        case = Case("c", "X", "sample@1", 0, 1, Plan((Call("save", Verb.SAVE, body),)), tokens)
        again = case.fresh(names).steps[0]
        assert isinstance(again, Call)
        assert isinstance(again.properties, dict)
        assert again.properties["id"] != body["id"]
        assert re.search(pattern, again.properties["id"]), again.properties


@pytest.mark.parametrize(("low", "high"), [(0, None), (0, 4), (12, 12), (20, 30), (0, 1)])
def test_names_keep_their_lengths(low: int, high: int | None, examples: Examples) -> None:
    for text in examples(lambda draw: name(draw, Bounds(low, high))):
        assert len(text) >= low
        assert high is None or len(text) <= high


def test_whole_numbers_name_too(examples: Examples) -> None:
    kind = kind_of({"id": model.Property(model.IntegerType(1, None), Flag.REQUIRED | Flag.IDENTIFIER)})
    made = [examples(lambda draw: kind.valid(draw), 1, seed)[0]["id"] for seed in range(20)]
    assert len(set(made)) == 20
    assert all(10**8 <= number < 10**9 for number in made)


def test_a_name_prefix_is_kept_where_there_is_room() -> None:
    names = Names("salt", prefix="kit-")
    kind = kind_of({"id": model.Property(model.StringType(), Flag.REQUIRED | Flag.IDENTIFIER)})
    made = collect(lambda draw: kind.valid(draw), seed=1, count=1, names=names, canaries=Canaries("cnry0123abcd"))
    assert made[0]["id"].startswith("kit-")


def test_every_secret_text_is_a_canary_also_in_faults(rich: Kind, examples: Examples, canaries: Canaries) -> None:
    def plan(draw: Draw) -> Any:
        body = rich.valid(draw, full=True)
        return body, [item for item in rich.mutations(draw, body) if item.path[-1] in ("password", "token")]

    for body, mutations in examples(plan):
        assert canaries.marker in body["password"]
        assert all(canaries.marker in port["token"] for port in body["ports"] if "token" in port)
        for mutation in mutations:
            wrong = mutation.properties
            for step in mutation.path:
                wrong = wrong.get(step) if isinstance(wrong, dict) else wrong[step]
            if mutation.fault == "type" and isinstance(wrong, list | dict):
                assert all(canaries.marker in text for text in texts_in(wrong))


def test_overrides_decide_what_is_made(examples: Examples) -> None:
    inner = model.ObjectType("Inner", {"code": model.Property(model.StringType(), Flag.REQUIRED)})
    fixture = TypeFixture(
        overrides={
            ("role",): {"choose": ["Engineer", "Manager"]},
            ("fixed",): {"value": {"a": [1]}},
            ("code",): {"pattern": "^emp-[a-z0-9]{8}$"},
            ("age",): {"min": 20, "max": 22},
            ("gone",): {"omit": True},
            ("items", "*", "code"): {"value": "same"},
        }
    )
    text = model.StringType()
    kind = kind_of(
        {
            "role": model.Property(text, Flag.REQUIRED),
            "fixed": model.Property(model.AnyType(), Flag.REQUIRED),
            "code": model.Property(text, Flag.REQUIRED | Flag.IDENTIFIER),
            "age": model.Property(model.IntegerType(), Flag.REQUIRED),
            "gone": model.Property(text, Flag.REQUIRED),
            "items": model.Property(model.ArrayType(inner, 1), Flag.REQUIRED),
        },
        fixture,
    )

    made = examples(lambda draw: kind.valid(draw, full=True))

    assert {body["role"] for body in made} == {"Engineer", "Manager"}
    assert all(body["fixed"] == {"a": [1]} for body in made)
    assert all(re.fullmatch("emp-[a-z0-9]{8}", body["code"]) for body in made)
    assert {body["age"] for body in made} <= {20, 21, 22}
    assert all("gone" not in body for body in made)
    assert {item["code"] for body in made for item in body["items"]} == {"same"}


def test_an_optional_property_that_must_be_present_is_never_left_out(examples: Examples) -> None:
    text = model.StringType()
    inner = model.ObjectType("Inner", {"kind": model.Property(text), "note": model.Property(text)})
    kind = kind_of(
        {"content": model.Property(text), "other": model.Property(text), "inner": model.Property(inner, Flag.REQUIRED)},
        TypeFixture(overrides={("content",): {"present": True, "max": 3}, ("inner", "kind"): {"present": True}}),
    )

    made = examples(lambda draw: kind.valid(draw))

    assert all(len(body["content"]) <= 3 and "kind" in body["inner"] for body in made)
    assert any("other" not in body for body in made)
    assert optional(kind, {"content": "", "other": "", "inner": {}}) == ["other"]


def test_the_authors_identity_counts_where_the_type_marks_none(examples: Examples) -> None:
    fixture = TypeFixture(identity=(("spec", "key"),))
    spec = model.ObjectType(
        "Spec", {"key": model.Property(model.StringType()), "size": model.Property(model.IntegerType())}
    )
    kind = kind_of({"spec": model.Property(spec)}, fixture)

    made = examples(lambda draw: kind.valid(draw))

    assert len({body["spec"]["key"] for body in made}) == len(made)
    assert all(kind.identifiers(body) == {"spec": {"key": body["spec"]["key"]}} for body in made)
    placed = examples(lambda draw: [item.path for item in kind.placements(kind.valid(draw, full=True))])
    assert all(paths == [("spec", "size")] for paths in placed)


def test_sets_have_no_two_equal_items(examples: Examples) -> None:
    fixture = TypeFixture(unordered=(("tags",),))
    words = model.UnionType([model.StringLiteralType("a"), model.StringLiteralType("b")])
    kind = kind_of({"tags": model.Property(model.ArrayType(words), Flag.REQUIRED)}, fixture)
    assert all(len(set(body["tags"])) == len(body["tags"]) for body in examples(lambda draw: kind.valid(draw)))


def test_a_change_leaves_alone_what_may_not_change(rich: Kind, examples: Examples) -> None:
    def plan(draw: Draw) -> Any:
        return rich.change(draw, rich.valid(draw, full=draw.boolean()))

    changed = {change.path[0] for change in examples(plan, 80)}

    assert changed.isdisjoint({"name", "fixed", "made", "stamp", "password"})
    assert {"mode", "count", "tags", "shape", "ports"} <= changed


def test_a_kind_without_anything_to_change_says_so(examples: Examples) -> None:
    kind = kind_of({"id": model.Property(model.StringType(), Flag.REQUIRED | Flag.IDENTIFIER)})
    assert examples(lambda draw: kind.change(draw, kind.valid(draw)), 1) == [None]


def test_every_fault_is_tried(rich: Kind, examples: Examples) -> None:
    def plan(draw: Draw) -> set[str]:
        return {item.fault for item in rich.mutations(draw, rich.valid(draw, full=True))}

    tried = set().union(*examples(plan))
    assert tried == {"missing", "type", "word", "bound", "length", "pattern", "extra", "readOnly"}


def test_a_missing_property_may_be_told_at_its_parent(rich: Kind, examples: Examples) -> None:
    def plan(draw: Draw) -> Any:
        return [item for item in rich.mutations(draw, rich.valid(draw, full=True)) if item.fault == "missing"]

    found = {item.note: item.paths for items in examples(plan) for item in items}
    assert found["without $.properties.ports[0].number"] == (
        "$.properties.ports[0].number",
        "$.properties.ports[0]",
    )


def test_placements_spare_what_names_unless_asked(rich: Kind, examples: Examples) -> None:
    def plan(draw: Draw) -> Any:
        body = rich.valid(draw, full=True)
        return (
            {item.path for item in rich.placements(body)},
            {item.path for item in rich.placements(body, identifiers=True)},
        )

    for some, all_ in examples(plan):
        assert all_ - some == {("name",), ("place",), ("place", "zone")}
        assert {("ports",), ("ports", 0), ("ports", 0, "number"), ("place", "note")} <= some


def test_a_renamed_body_is_the_same_under_another_name(rich: Kind, examples: Examples) -> None:
    def plan(draw: Draw) -> Any:
        body = rich.valid(draw, full=True)
        return body, rich.renamed(draw, body)

    for body, other in examples(plan, 5):
        assert rich.identifiers(other) != rich.identifiers(body)
        assert {**other, "name": 0, "place": 0} == {**body, "name": 0, "place": 0}
        assert other["place"]["note"] == body["place"]["note"]


def test_flags_inside_arrays_are_passed_over_in_comparisons(rich: Kind) -> None:
    assert ("ports", "*", "token") in rich.ignored()
    assert ("stamp",) in rich.ignored()


PROGRAM = """
import json, pathlib, sys
if "more" in sys.argv:
    import extensor_conformance.runner, extensor.engine, decimal
from extensor_conformance.canary import Canaries
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names
from extensor.types import TypeIndex
index = TypeIndex.read_directory(pathlib.Path(sys.argv[1]))
name = next(iter(index.resources))
kind = Kind(name, index.resource(name))
def plan(draw):
    body = kind.valid(draw, full=draw.boolean())
    return [body, [item.note for item in kind.mutations(draw, body)], draw.text(), draw.choice("abc")]
made = collect(plan, seed=3, count=int(sys.argv[2]), names=Names("fixed"), canaries=Canaries("cnry0123abcd"))
print(json.dumps(made[:4]))
"""


def test_other_processes_and_other_imports_make_the_same_and_leave_nothing_behind(tmp_path: Path, rich: Kind) -> None:
    from extensor.types import Settings, TypeIndex

    folder, work = tmp_path / "types", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    text, files = TypeIndex(settings=Settings("rich", "1.0.0"), resources={rich.name: rich.type}).write()
    (folder / "index.json").write_text(text, "utf-8")
    for path, content in files.items():
        (folder / path).write_text(content, "utf-8")

    def run(*more: str, seed: str) -> str:
        command = [sys.executable, "-c", PROGRAM, str(folder), *more]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True, text=True).stdout

    assert run("4", seed="1") == run("9", "more", seed="2")
    assert list(work.iterdir()) == []


def test_texts_without_a_pattern_are_wide_and_ask_for_no_tables_of_characters() -> None:
    code = """
from hypothesis.internal import charmap
from extensor_conformance.canary import Canaries
from extensor_conformance.generate import collect
from extensor_conformance.names import Names
from extensor_conformance.texts import Bounds, any_text

made = collect(lambda draw: any_text(draw, Bounds()), seed=1, count=200, names=Names("x"), canaries=Canaries("c"))
print(sum(not text.isascii() for text in made) > 20, charmap._charmap)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "None"]
