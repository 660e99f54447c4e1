"""What a preview says is what a deployment then does to the world."""

import copy
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.contract import JsonObject, format_path

NAMES = ("x", "y", "z")
SYMBOLS = ("a", "b", "c")
PLACES = ("here", "there")

labels = st.dictionaries(st.sampled_from(["k", "l", "a.io/m"]), st.sampled_from(["1", "2"]), max_size=2)
entries = st.dictionaries(
    st.sampled_from(SYMBOLS),
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES),
            "text": st.sampled_from(
                ["one", "two", "[reference('{other}').text]", "[string(reference('{other}').size)]"]
            ),
            "labels": st.none() | labels,
            "condition": st.sampled_from([True, True, True, False]),
            "existing": st.sampled_from([False, False, False, False, True]),
        }
    ),
)
templates = st.tuples(entries, st.sampled_from(PLACES))


def as_template(make: Any, drawn: tuple[dict[str, Any], str]) -> JsonObject | None:
    """The template of a draw; None for one that names a resource twice, as no template may."""
    resources, place = drawn
    live = [symbol for symbol, entry in resources.items() if entry["condition"]]
    names = [resources[symbol]["name"] for symbol in live]
    if len(set(names)) != len(names):
        return None
    found = {}
    for symbol, entry in resources.items():
        earlier = [other for other in live if other < symbol]
        text = entry["text"]
        if "{other}" in text:
            text = text.replace("{other}", earlier[-1]) if earlier else "alone"
        own = {"_existing": True} if entry["existing"] else {"text": text}
        if entry["labels"] is not None and not entry["existing"]:
            own["labels"] = entry["labels"]
        found[symbol] = make.box(entry["name"], _condition=entry["condition"], **own)
    imports = {"b": {"provider": "boxes", "version": "1.0.0", "config": {"place": place}}}
    return make.template(found, imports=imports)


def told(result: Any) -> set[tuple[str, str]]:
    return {(change.change_type, change.identifiers["name"]) for change in result.changes}


def done(before: dict[tuple[str, str], JsonObject], after: dict[tuple[str, str], JsonObject]) -> set[tuple[str, str]]:
    """The differences between two states of the world, in the preview's words."""

    def shown(box: JsonObject) -> JsonObject:
        return {name: value for name, value in box.items() if name != "stamp"}

    return (
        {("Create", name) for _, name in after.keys() - before.keys()}
        | {("Delete", name) for _, name in before.keys() - after.keys()}
        | {("Modify", key[1]) for key in before.keys() & after.keys() if shown(before[key]) != shown(after[key])}
    )


def told_of_labels(result: Any) -> set[tuple[str, str, str]]:
    return {
        (change.identifiers["name"], item.kind, item.path)
        for change in result.changes
        if change.change_type == "Modify"
        for item in change.delta
        if item.path.startswith("$.properties.labels")
    }


def done_to_labels(
    before: dict[tuple[str, str], JsonObject], after: dict[tuple[str, str], JsonObject]
) -> set[tuple[str, str, str]]:
    """What happened to each label of what stayed, in the preview's words."""
    found: set[tuple[str, str, str]] = set()
    for key in before.keys() & after.keys():
        old, new = before[key]["labels"], after[key]["labels"]
        for label in old.keys() | new.keys():
            kind = "Create" if label not in old else "Delete" if label not in new else "Modify"
            if old.get(label) != new.get(label):
                found.add((key[1], kind, format_path(("properties", "labels", label))))
    return found


@pytest.mark.reported("I05", "I09", "I12")
@settings(max_examples=60, deadline=None)
@given(
    first=templates,
    second=templates,
    lost=st.sets(st.sampled_from(NAMES), max_size=1),
    found=st.sets(st.tuples(st.sampled_from(PLACES), st.sampled_from(NAMES)), max_size=2),
    named=st.booleans(),
    tells=st.booleans(),
    by_hand=labels,
    keeps=st.booleans(),
)
def test_a_deployment_does_to_the_world_what_the_preview_says_and_nothing_else(
    make: Any,
    make_stack: Callable[[], Any],
    first: tuple[dict[str, Any], str],
    second: tuple[dict[str, Any], str],
    lost: set[str],
    found: set[tuple[str, str]],
    named: bool,
    tells: bool,
    by_hand: JsonObject,
    keeps: bool,
) -> None:
    """Between the two templates things and labels come and go by other hands.

    `named`: the provider names its control plane; `tells`: in previews too; `keeps`: it keeps the labels of others.
    """
    before, after = as_template(make, first), as_template(make, second)
    if before is None or after is None:
        return
    stack = make_stack()
    world = stack.world
    world.plane = (lambda config: config["place"]) if named else (lambda config: None)
    world.plane_in_previews = tells
    world.keeps_labels = keeps

    async def run() -> None:
        await stack.deploy(before)
        for key in [key for key in world.boxes if key[1] in lost]:
            del world.boxes[key]
        for place, name in found:
            world.boxes.setdefault((place, name), {"name": name, "text": "found", "size": 5, "stamp": 0})
        for box in world.boxes.values():
            box["labels"] = {**box.get("labels", {}), **by_hand}
        preview = await stack.what_if(after)
        earlier = copy.deepcopy(world.boxes)
        result = await stack.deploy(after)
        assert preview.succeeded == (result.status == "Succeeded")
        if preview.succeeded:
            assert told(preview) == done(earlier, world.boxes)
            assert told_of_labels(preview) == done_to_labels(earlier, world.boxes)
            assert (await stack.what_if(after)).changes == ()

    anyio.run(run)
