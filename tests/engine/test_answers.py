"""Answers to saves that cannot stand: two about one resource, and those that name none."""

import pytest

from extensor.contract import ResourceResult, Verb

pytestmark = pytest.mark.anyio


async def test_a_duplicate_without_types_is_found_when_the_second_answer_arrives(stack, world, make) -> None:
    world.types = None
    source = make.template({"a": make.box("x", text="one"), "b": make.box("x", text="two", needs=["a"])})
    result = await stack.deploy(source)
    assert [(item.symbolic_name, item.fault.code) for item in result.errors] == [("b", "DuplicateResource")]
    assert {record.symbolic_name: record.status for record in stack.show().resources} == {"a": "Saved", "b": "Failed"}
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


async def test_a_duplicate_without_types_is_told_before_anything_is_deployed(stack, world, make) -> None:
    world.types = None
    source = make.template({"a": make.box("x"), "b": make.box("x", needs=["a"])})
    assert [fault.code for fault in await stack.validate(source)] == ["DuplicateResource"]
    assert [item.fault.code for item in (await stack.what_if(source)).faults] == ["DuplicateResource"]
    assert world.verbs(Verb.SAVE) == []


async def test_the_same_identifiers_in_two_control_planes_are_two_resources(stack, world, make) -> None:
    world.types = None
    world.plane = lambda config: f"plane {config.get('place')}"
    source = make.template(
        {"a": make.box("x"), "b": make.box("x", _import="c")},
        imports={
            "b": {"provider": "boxes", "version": "1.0.0", "config": {"place": "here"}},
            "c": {"provider": "boxes", "version": "1.0.0", "config": {"place": "there"}},
        },
    )
    assert (await stack.deploy(source)).status == "Succeeded"
    assert len(world.boxes) == 2


async def test_a_save_that_names_nothing_is_a_violation_and_destroy_says_what_became_of_it(stack, world, make) -> None:
    world.types = None
    world.identify = lambda properties: {}
    result = await stack.deploy(make.template({"a": make.box("x")}))
    assert [item.fault.code for item in result.errors] == ["ProtocolViolation"]
    destroyed = await stack.destroy()
    assert destroyed.status == "Failed"
    assert "without identifiers" in destroyed.errors[0].fault.message
    assert "cut off" not in destroyed.errors[0].fault.message
    world.identify = lambda properties: {"name": properties["name"]}
    assert (await stack.deploy(make.template({"a": make.box("x")}))).status == "Succeeded"
    assert (await stack.destroy()).status == "Succeeded"


async def test_a_save_without_identifiers_is_recorded_by_those_that_the_template_gives(stack, world, make) -> None:
    world.identify = lambda properties: {}
    assert (await stack.deploy(make.template({"a": make.box("x")}))).status == "Succeeded"
    assert stack.show().resources[0].identifiers == {"name": "x"}
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


async def test_a_preview_that_cannot_tell_all_identifiers_is_no_duplicate(stack, world, make) -> None:
    world.preview = lambda data, wanted: ResourceResult({**wanted}, {})
    source = make.template({"a": make.box("x"), "b": make.box("y")})
    assert await stack.validate(source) == []
