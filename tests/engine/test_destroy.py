"""Taking a stack down, and what it takes to reach its providers again."""

import json

import pytest

from extensor.contract import Verb
from extensor.errors import NotFound, OperationFailed, TemplateError

pytestmark = pytest.mark.anyio


async def test_everything_is_deleted_dependants_first(stack, world, make) -> None:
    await stack.deploy(
        make.template(
            {"c": make.box("c", text="[reference('b').name]"), "b": make.box("b", needs=["a"]), "a": make.box("a")}
        )
    )
    result = await stack.destroy()
    assert result.status == "Succeeded"
    assert world.verbs(Verb.DELETE) == ["c", "b", "a"]
    assert world.boxes == {}
    assert stack.show().resources == ()
    assert stack.show().last_run == "destroy"


@pytest.mark.reported("D01")
async def test_what_is_gone_already_counts_as_deleted(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b")}))
    del world.boxes["", "a"]

    def absent(verb, data):
        if data.properties["name"] == "b":
            raise NotFound

    world.before = absent
    result = await stack.destroy()
    told = {outcome.symbolic_name: (outcome.status, outcome.reason) for outcome in result.resources}
    assert told == {"a": ("Deleted", None), "b": ("Deleted", "it was absent already")}
    assert stack.show().resources == ()


async def test_destroying_nothing_succeeds(stack) -> None:
    assert (await stack.destroy()).status == "Succeeded"


async def test_a_failed_delete_keeps_what_it_depends_on_and_the_record(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b", needs=["a"]), "c": make.box("c")}))

    def fail(verb, data):
        if data.properties["name"] == "b":
            raise OperationFailed("stuck", code="Teapot")

    world.before = fail
    result = await stack.destroy()
    assert result.status == "Failed"
    outcomes = {outcome.symbolic_name: outcome.status for outcome in result.resources}
    assert outcomes == {"a": "Skipped", "b": "Failed", "c": "Deleted"}
    assert {record.symbolic_name: record.status for record in stack.show().resources} == {"a": "Saved", "b": "Failed"}
    world.before = lambda verb, data: None
    assert (await stack.destroy()).status == "Succeeded"
    assert world.boxes == {}


async def test_secure_parameters_are_asked_for_by_name_and_given_again(stack, world, make) -> None:
    entries = make.template(
        {"a": make.box("a")},
        parameters={
            "pw": {"type": "securestring"},
            "more": {"type": "secureObject"},
            "place": {"type": "string"},
        },
        imports={
            "b": {
                "provider": "boxes",
                "version": "1.0.0",
                "config": {
                    "place": "[parameters('place')]",
                    "key": "[format('{0}:{1}:{2}', parameters('place'), parameters('pw'), parameters('more').inner)]",
                },
            }
        },
    )
    await stack.deploy(entries, {"pw": "hunter22", "more": {"inner": "deep"}, "place": "here"})
    with pytest.raises(TemplateError) as caught:
        await stack.destroy()
    assert "'more', 'pw'" in str(caught.value)
    assert caught.value.code == "MissingParameter"
    assert world.names() == {"a"}
    result = await stack.destroy({"PW": "hunter22", "more": {"inner": "deep"}})
    assert result.status == "Succeeded"
    assert world.calls[-1].data.imported.config == {"place": "here", "key": "here:hunter22:deep"}


async def test_a_default_that_is_made_anew_each_time_is_recorded_as_it_was_used(stack, world, make) -> None:
    entries = make.template(
        {"a": make.box("a")},
        parameters={"place": {"type": "string", "defaultValue": "[newGuid()]"}, "pw": {"type": "securestring"}},
        imports={
            "b": {
                "provider": "boxes",
                "version": "1.0.0",
                "config": {"place": "[parameters('place')]", "key": "[parameters('pw')]"},
            }
        },
    )
    await stack.deploy(entries, {"pw": "hunter22"})
    await stack.destroy({"pw": "hunter22"})
    assert world.boxes == {}


async def test_a_recorded_command_is_used_again_and_a_given_one_goes_before_it(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a")}), providers={"boxes": "run boxes"})
    world.forget_calls()
    await stack.deploy(make.template({}))
    assert [wanted.command for wanted in world.connected] == ["run boxes"]
    await stack.deploy(make.template({"a": make.box("a")}), providers={"boxes": "run boxes"})
    world.forget_calls()
    await stack.destroy(providers={"Boxes": "run others"})
    assert [wanted.command for wanted in world.connected] == ["run others"]


async def test_a_ring_of_old_and_new_dependencies_does_not_stop_a_destruction(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b", needs=["a"])}))

    def fail(verb, data):
        if verb is Verb.SAVE and data.properties["name"] == "a":
            raise OperationFailed("no")

    world.before = fail
    await stack.deploy(make.template({"a": make.box("a", needs=["b"]), "b": make.box("b")}))
    world.before = lambda verb, data: None
    assert (await stack.destroy()).status == "Succeeded"
    assert world.boxes == {}


async def test_a_destruction_calls_nothing_but_delete(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a", text="body")}))
    world.forget_calls()
    await stack.destroy()
    assert [(call.verb, call.data.properties) for call in world.calls] == [(Verb.DELETE, {"name": "a"})]


def with_default(make, value):
    return make.template(
        {"a": make.box("a")},
        parameters={"key": {"type": "securestring", "defaultValue": value}},
        imports={"b": {"provider": "boxes", "version": "1.0.0", "config": {"key": "[parameters('key')]"}}},
    )


async def test_a_secure_default_is_read_from_the_template_again_while_that_is_there(
    stack, world, make, tmp_path
) -> None:
    entries = with_default(make, "by-default")
    await stack.deploy(entries)
    assert all(b"by-default" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    with pytest.raises(TemplateError, match="'key'"):
        await stack.destroy()
    (tmp_path / "main.json").write_text(json.dumps(entries), "utf-8")
    assert (await stack.destroy()).status == "Succeeded"
    assert world.calls[-1].data.imported.config == {"key": "by-default"}


async def test_a_secure_parameter_that_was_given_is_asked_for_whatever_its_default(
    stack, world, make, tmp_path
) -> None:
    entries = with_default(make, "by-default")
    (tmp_path / "main.json").write_text(json.dumps(entries), "utf-8")
    await stack.deploy(entries, {"key": "given-by-hand"})
    with pytest.raises(TemplateError, match="'key'"):
        await stack.destroy()
    assert (await stack.destroy({"key": "given-by-hand"})).status == "Succeeded"


async def test_a_default_that_is_an_expression_is_asked_for(stack, world, make, tmp_path) -> None:
    entries = with_default(make, "[newGuid()]")
    (tmp_path / "main.json").write_text(json.dumps(entries), "utf-8")
    await stack.deploy(entries)
    with pytest.raises(TemplateError, match="'key'"):
        await stack.destroy()
