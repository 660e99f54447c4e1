"""A deployment in a world of boxes."""

import anyio
import pytest

from extensor.contract import Verb
from extensor.engine.events import OperationStarted, ResourceRef, rebuild_graph
from extensor.errors import Conflict, OperationFailed, ProviderExited, StartFailed, StateError, TemplateError

pytestmark = pytest.mark.anyio


async def test_resources_are_saved_after_what_they_refer_to(stack, world, make) -> None:
    result = await stack.deploy(
        make.template(
            {
                "last": make.box("last", text="[format('{0}!', reference('middle').text)]"),
                "middle": make.box("middle", text="[format('size {0}', reference('first').size)]"),
                "first": make.box("first", text="abc"),
            }
        )
    )
    assert result.status == "Succeeded"
    assert world.verbs(Verb.SAVE) == ["first", "middle", "last"]
    assert world.boxes["", "last"]["text"] == "size 3!"
    assert [outcome.symbolic_name for outcome in result.resources] == ["last", "middle", "first"]


async def test_a_deployments_graph_can_be_rebuilt_from_its_events(stack, make) -> None:
    await stack.deploy(
        make.template({"a": make.box("a", text="secret body"), "b": make.box("b", text="[reference('a').text]")})
    )
    assert rebuild_graph(stack.events) == {"a": (), "b": ("a",)}
    assert OperationStarted(ResourceRef("b", "box@1.0", {"name": "b"}), Verb.SAVE) in stack.events
    assert "secret body" not in repr(stack.events)


async def test_independent_resources_run_in_parallel_up_to_the_bound(stack, world, make) -> None:
    entries = {f"r{index}": make.box(f"r{index}") for index in range(12)}
    full = anyio.Event()

    def until_full(verb, data):
        if world.running == 5:
            full.set()
        return full.wait()

    world.before = until_full
    with anyio.fail_after(10):
        assert (await stack.deploy(make.template(entries), parallelism=5)).status == "Succeeded"
    assert world.most_running == 5


async def test_each_call_carries_its_names(stack, world, make) -> None:
    result = await stack.deploy(make.template({"a": make.box("x")}))
    (call,) = world.calls
    assert call.data.context.symbolic_name == "a"
    assert call.data.context.deployment_id == result.deployment_id
    assert call.data.context.request_id


async def test_a_failure_skips_what_depends_on_it_and_nothing_else(stack, world, make) -> None:
    def fail(verb, data):
        if data.properties["name"] == "bad":
            raise OperationFailed("no", code="Teapot")

    world.before = fail
    result = await stack.deploy(
        make.template(
            {
                "bad": make.box("bad"),
                "child": make.box("child", needs=["bad"]),
                "grandchild": make.box("grandchild", needs=["child"]),
                "other": make.box("other"),
            }
        )
    )
    assert result.status == "Failed"
    statuses = {outcome.symbolic_name: outcome.status for outcome in result.resources}
    assert statuses == {"bad": "Failed", "child": "Skipped", "grandchild": "Skipped", "other": "Saved"}
    reasons = {outcome.symbolic_name: outcome.reason for outcome in result.resources}
    assert reasons["child"] == "it depends on bad, which failed"
    assert reasons["grandchild"] == "it depends on child, which was skipped"
    assert [(error.symbolic_name, error.fault.code) for error in result.errors] == [("bad", "Teapot")]
    assert result.outputs == {}


@pytest.mark.reported("T01", "T02")
async def test_nothing_of_a_skipped_resource_is_evaluated(stack, world, make) -> None:
    result = await stack.deploy(
        make.template(
            {
                "off": make.box("[parameters('nowhere')]", _condition=False),
                "offtoo": make.box("x", text="[reference('off').nothing]", _condition="[equals(1, 2)]", needs=["off"]),
                "live": make.box("live", needs=["off"], text="[if(false(), reference('off').text, 'plain')]"),
            }
        )
    )
    assert result.status == "Succeeded"
    assert world.names() == {"live"}
    assert world.boxes["", "live"]["text"] == "plain"


@pytest.mark.reported("T02")
async def test_an_unguarded_reference_to_a_skipped_resource_says_what_to_do(stack, world, make) -> None:
    result = await stack.deploy(
        make.template(
            {"off": make.box("off", _condition=False), "live": make.box("live", text="[reference('off').text]")}
        )
    )
    (error,) = result.errors
    assert error.fault.path == "$.resources.live.properties.text"
    assert "if()" in error.fault.message
    assert world.calls == []


@pytest.mark.reported("T07")
async def test_an_existing_resource_with_a_false_condition_is_not_read(stack, world, make) -> None:
    await stack.deploy(make.template({"gone": make.box("gone", _existing=True, _condition=False)}))
    assert world.calls == []


@pytest.mark.reported("T06")
async def test_an_existing_resource_is_read_and_never_written(stack, world, make) -> None:
    world.boxes["", "there"] = {"name": "there", "text": "hello", "size": 5}
    result = await stack.deploy(
        make.template(
            {
                "there": make.box("there", _existing=True),
                "same": make.box("there", _existing=True),
                "copy": make.box("copy", text="[reference('there').text]"),
            }
        )
    )
    assert result.status == "Succeeded"
    assert world.verbs(Verb.SAVE) == ["copy"]
    assert world.boxes["", "copy"]["text"] == "hello"
    assert [record.symbolic_name for record in stack.show().resources] == ["copy"]


@pytest.mark.reported("T06")
async def test_one_existing_resource_may_have_many_names_and_be_read_in_a_loop(stack, world, make) -> None:
    world.boxes["", "there"] = {"name": "there", "text": "hello"}
    result = await stack.deploy(
        make.template(
            {
                "one": make.box("there", _existing=True),
                "many": make.box("there", _existing=True, _copy={"name": "many", "count": 3}),
                "copy": make.box("copy", text="[format('{0} {1}', reference('one').text, reference('many[2]').text)]"),
            }
        )
    )
    assert result.errors == ()
    assert world.boxes["", "copy"]["text"] == "hello hello"
    assert world.verbs(Verb.SAVE) == ["copy"]


@pytest.mark.reported("T06")
async def test_two_resources_with_one_identity_are_refused_before_anything_is_saved(stack, world, make) -> None:
    result = await stack.deploy(make.template({"a": make.box("same"), "b": make.box("same")}))
    assert result.status == "Failed"
    (error,) = result.errors
    assert (error.symbolic_name, error.fault.code) == ("b", "DuplicateResource")
    assert world.calls == []


async def test_a_duplicate_that_shows_only_on_the_way_is_refused_in_its_turn(stack, world, make) -> None:
    result = await stack.deploy(
        make.template({"a": make.box("same", text="same"), "b": make.box("[reference('a').text]")})
    )
    assert [(error.symbolic_name, error.fault.code) for error in result.errors] == [("b", "DuplicateResource")]
    assert world.verbs(Verb.SAVE) == ["same"]


async def test_every_fault_of_the_template_is_told_at_once_with_its_place(stack, world, make) -> None:
    result = await stack.deploy(
        make.template({"a": make.box("a", text=5), "b": make.box("b", colour="red"), "c": make.box("[nope()]")})
    )
    assert result.status == "Failed"
    assert {error.fault.path for error in result.errors} == {
        "$.resources.a.properties.text",
        "$.resources.b.properties.colour",
        "$.resources.c.properties.name",
    }
    assert world.calls == []


async def test_a_serial_loop_saves_batch_by_batch(stack, world, make) -> None:
    loop = {"name": "many", "count": 5, "mode": "serial", "batchSize": 2}
    await stack.deploy(make.template({"many": make.box("[format('n{0}', copyIndex())]", _copy=loop)}))
    saved = world.verbs(Verb.SAVE)
    assert [set(saved[:2]), set(saved[2:4]), set(saved[4:])] == [{"n0", "n1"}, {"n2", "n3"}, {"n4"}]
    assert world.most_running <= 2


async def test_a_loop_element_may_refer_to_the_one_before_it(stack, world, make) -> None:
    text = "[if(equals(copyIndex(), 0), 'x', format('{0}x', reference(format('many[{0}]', sub(copyIndex(), 1))).text))]"
    loop = {"name": "many", "count": 4}
    body = make.box("[format('n{0}', copyIndex())]", text=text, _copy=loop)
    assert (await stack.deploy(make.template({"many": body}))).status == "Succeeded"
    assert world.boxes["", "n3"]["text"] == "xxxx"


@pytest.mark.reported("T18")
@pytest.mark.parametrize(
    "form", ["first", "FIRST", "box/first", "[format('{0}', 'first')]", "/x/BOX@1.0/First", "Box/1"]
)
async def test_a_dependency_may_be_a_symbol_or_a_resource_id_in_any_case(stack, world, make, form) -> None:
    resources = {"second": make.box("2", needs=[form]), "first": make.box("1")}
    assert (await stack.deploy(make.template(resources))).status == "Succeeded"
    assert world.verbs(Verb.SAVE) == ["1", "2"]


async def test_a_dependency_on_nothing_is_an_error_with_a_remedy(stack, make) -> None:
    with pytest.raises(TemplateError) as caught:
        await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b", needs=["aa"])}))
    assert caught.value.path == "$.resources.b.dependsOn[0]"
    assert "did you mean 'a'?" in str(caught.value)


async def test_a_ring_of_references_is_named(stack, world, make) -> None:
    with pytest.raises(TemplateError) as caught:
        await stack.deploy(
            make.template(
                {"a": make.box("a", text="[reference('b').text]"), "b": make.box("b", text="[reference('a').text]")}
            )
        )
    assert "a -> b -> a" in str(caught.value)
    assert world.calls == []


async def test_outputs_are_evaluated_and_secure_ones_are_masked(stack, make) -> None:
    result = await stack.deploy(
        make.template(
            {"a": make.box("a", text="abc")},
            parameters={"pw": {"type": "securestring"}},
            outputs={
                "size": {"type": "int", "value": "[reference('a').size]"},
                "pw": {"type": "securestring", "value": "[parameters('pw')]"},
            },
        ),
        {"pw": "hunter22"},
    )
    assert {name: output.value for name, output in result.outputs.items()} == {"size": 3, "pw": "***"}


async def test_secrets_reach_the_provider_and_nothing_else(stack, world, make, tmp_path) -> None:
    secret = "canary-5f3a"
    world.after = lambda verb, data: None
    entries = make.template(
        {"a": make.box("a", secret="[parameters('pw')]"), "b": make.box("bad")},
        parameters={"pw": {"type": "securestring"}},
        imports={"b": {"provider": "boxes", "version": "1.0.0", "config": {"key": "[parameters('pw')]"}}},
        outputs={"pw": {"type": "securestring", "value": "[parameters('pw')]"}},
    )

    def fail(verb, data):
        if data.properties["name"] == "bad":
            raise OperationFailed(f"cannot use {data.imported.config['key']}")

    world.before = fail
    result = await stack.deploy(entries, {"pw": secret})
    assert world.boxes["", "a"]["secret"] == secret
    assert secret not in repr(result)
    assert secret not in repr(stack.events)
    assert secret not in repr(stack.show())
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


async def test_an_identifier_must_not_come_from_a_secure_parameter(stack, world, make) -> None:
    result = await stack.deploy(
        make.template({"a": make.box("[concat('x', parameters('pw'))]")}, parameters={"pw": {"type": "securestring"}}),
        {"pw": "hunter22"},
    )
    assert [error.fault.code for error in result.errors] == ["SecretIdentifier"]
    assert world.calls == []


async def test_what_the_template_no_longer_declares_is_deleted_last_in_reverse_order(stack, world, make) -> None:
    await stack.deploy(
        make.template({"a": make.box("a"), "b": make.box("b", needs=["a"]), "c": make.box("c", needs=["b"])})
    )
    world.forget_calls()
    result = await stack.deploy(make.template({"new": make.box("new")}))
    assert [(call.verb, call.name) for call in world.calls] == [
        (Verb.SAVE, "new"),
        (Verb.DELETE, "c"),
        (Verb.DELETE, "b"),
        (Verb.DELETE, "a"),
    ]
    assert {outcome.status for outcome in result.resources} == {"Saved", "Deleted"}
    assert world.names() == {"new"}


async def test_nothing_is_deleted_while_something_failed(stack, world, make) -> None:
    await stack.deploy(make.template({"old": make.box("old")}))

    def fail(verb, data):
        raise OperationFailed("no")

    world.before = fail
    assert (await stack.deploy(make.template({"new": make.box("new")}))).status == "Failed"
    assert world.names() == {"old"}
    assert "old" in {record.symbolic_name for record in stack.show().resources}


async def test_a_resource_whose_condition_became_false_is_deleted(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a", _condition=True)}))
    await stack.deploy(make.template({"a": make.box("a", _condition=False)}))
    assert world.names() == set()


@pytest.mark.reported("D06")
async def test_a_renamed_symbol_keeps_its_resource(stack, world, make) -> None:
    await stack.deploy(make.template({"old": make.box("x")}))
    world.forget_calls()
    await stack.deploy(make.template({"new": make.box("x")}))
    assert world.verbs(Verb.DELETE) == []
    assert [record.symbolic_name for record in stack.show().resources] == ["new"]


async def test_a_symbol_with_another_identity_gets_a_new_resource_before_the_old_one_goes(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("old")}))
    world.forget_calls()
    await stack.deploy(make.template({"a": make.box("new")}))
    assert [(call.verb, call.name) for call in world.calls] == [(Verb.SAVE, "new"), (Verb.DELETE, "old")]
    assert [record.identifiers for record in stack.show().resources] == [{"name": "new"}]


async def test_another_version_of_a_type_is_the_same_resource(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("x")}))
    await stack.deploy(make.template({"a": {**make.box("x"), "type": "box@2.0"}}))
    assert world.verbs(Verb.DELETE) == []
    assert world.names() == {"x"}


async def test_two_symbols_may_swap_their_resources(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("x"), "b": make.box("y")}))
    await stack.deploy(make.template({"a": make.box("y"), "b": make.box("x")}))
    assert world.verbs(Verb.DELETE) == []
    assert {record.symbolic_name: record.identifiers["name"] for record in stack.show().resources} == {
        "a": "y",
        "b": "x",
    }


@pytest.mark.reported("D06")
async def test_a_provider_that_spells_identifiers_its_own_way_does_not_lose_the_resource(stack, world, make) -> None:
    world.identify = lambda properties: {"name": str(properties["name"]).lower(), "uid": "7"}
    await stack.deploy(make.template({"a": make.box("Name")}))
    await stack.deploy(make.template({"a": make.box("Name")}))
    await stack.deploy(make.template({"a": make.box("NAME")}))
    assert world.verbs(Verb.DELETE) == []
    assert [record.identifiers for record in stack.show().resources] == [{"name": "name", "uid": "7"}]


async def test_what_became_existing_is_forgotten_and_not_deleted(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("x")}))
    result = await stack.deploy(make.template({"b": make.box("x", _existing=True)}))
    assert result.status == "Succeeded"
    assert world.names() == {"x"}
    assert stack.show().resources == ()


async def test_a_moved_configuration_makes_a_new_resource_and_deletes_the_old_one_where_it_was(
    stack, world, make
) -> None:
    def at(place):
        imports = {"b": {"provider": "boxes", "version": "1.0.0", "config": {"place": place}}}
        return make.template({"a": make.box("x")}, imports=imports)

    world.plane = lambda config: config["place"]
    await stack.deploy(at("here"))
    world.forget_calls()
    await stack.deploy(at("there"))
    assert set(world.boxes) == {("there", "x")}
    assert [call.data.imported.config_id for call in world.calls] == [None, "here"]
    await stack.deploy(at("there"))
    assert world.calls[-1].data.imported.config_id == "there"


@pytest.mark.reported("D06")
async def test_without_a_named_control_plane_a_changed_configuration_is_the_same_resource(stack, world, make) -> None:
    def keyed(key):
        imports = {"b": {"provider": "boxes", "version": "1.0.0", "config": {"key": key}}}
        return make.template({"a": make.box("x")}, imports=imports)

    await stack.deploy(keyed("one"))
    await stack.deploy(keyed("two"))
    assert world.verbs(Verb.DELETE) == []
    assert world.names() == {"x"}


@pytest.mark.reported("E10")
async def test_a_half_failed_save_is_recorded_with_what_it_made(stack, world, make) -> None:
    def fail(verb, data):
        if verb is Verb.SAVE:
            raise OperationFailed("step two", code="Teapot", resource={"identifiers": {"name": "a", "uid": "9"}})

    world.after = fail
    assert (await stack.deploy(make.template({"a": make.box("a")}))).status == "Failed"
    (record,) = stack.show().resources
    assert (record.status, record.identifiers) == ("Failed", {"name": "a", "uid": "9"})
    world.after = lambda verb, data: None
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


@pytest.mark.reported("I04")
async def test_a_second_deployment_succeeds_whatever_others_added_meanwhile(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="hi"), "b": make.box("b", text="[reference('a').text]")})
    await stack.deploy(entries)
    world.boxes["", "a"] |= {"labels": {"theirs": "1"}, "stamp": 99}
    assert (await stack.what_if(entries)).changes == ()
    result = await stack.deploy(entries)
    assert (result.status, result.errors) == ("Succeeded", ())
    assert world.boxes["", "a"]["labels"] == {"theirs": "1"}
    assert world.verbs(Verb.DELETE) == []


@pytest.mark.reported("I10")
async def test_what_was_created_and_then_failed_is_adopted_by_the_next_run(stack, world, make) -> None:
    def fail(verb, data):
        raise OperationFailed("after the fact")

    world.after = fail
    await stack.deploy(make.template({"a": make.box("a")}))
    world.after = lambda verb, data: None
    assert (await stack.deploy(make.template({"a": make.box("a")}))).status == "Succeeded"
    assert len(stack.show().resources) == 1


async def test_a_refused_save_is_shown_and_never_deleted(stack, world, make) -> None:
    world.boxes["", "a"] = {"name": "a", "text": "of someone else"}

    def refuse(verb, data):
        if verb is Verb.SAVE:
            raise Conflict("it belongs to someone else")

    world.before = refuse
    await stack.deploy(make.template({"a": make.box("a")}))
    (record,) = stack.show().resources
    assert record.status == "Failed"
    assert "nothing was made" in record.note
    assert (await stack.destroy()).status == "Succeeded"
    assert world.verbs(Verb.DELETE) == []
    assert world.names() == {"a"}


async def test_a_save_whose_outcome_is_unclear_is_recorded_as_such(stack, world, make) -> None:
    def die(verb, data):
        raise ProviderExited("boxes", -9, "the end")

    world.after = die
    result = await stack.deploy(make.template({"a": make.box("a")}))
    (outcome,) = result.resources
    assert outcome.status == "Unclear"
    assert "SIGKILL" in outcome.faults[0].message
    assert [record.status for record in stack.show().resources] == ["Unclear"]
    world.after = lambda verb, data: None
    await stack.destroy()
    assert world.names() == set()


@pytest.mark.reported("E13")
async def test_a_broken_provider_fails_its_own_resources_only(stack, world, make) -> None:
    world.broken["ruins"] = StartFailed("provider ruins exited with code 1")
    imports = {"b": {"provider": "boxes", "version": "1.0.0"}, "r": {"provider": "ruins", "version": "1.0.0"}}
    resources = {"good": make.box("good"), "bad": {**make.box("bad"), "import": "r"}}
    result = await stack.deploy(make.template(resources, imports=imports))
    assert {outcome.symbolic_name: outcome.status for outcome in result.resources} == {"good": "Saved", "bad": "Failed"}
    assert result.errors[0].fault.code == "StartFailed"
    assert [record.symbolic_name for record in stack.show().resources] == ["good"]


@pytest.mark.reported("E13")
async def test_a_provider_that_no_resource_uses_is_not_started(stack, world, make) -> None:
    imports = {"b": {"provider": "boxes", "version": "1.0.0"}, "r": {"provider": "ruins", "version": "1.0.0"}}
    await stack.deploy(make.template({"a": make.box("a")}, imports=imports))
    assert [wanted.provider for wanted in world.connected] == ["boxes"]


async def test_a_provider_is_started_once_for_each_alias_in_the_templates_folder(stack, world, make, tmp_path) -> None:
    imports = {"b": {"provider": "boxes", "version": "1.0.0"}, "c": {"provider": "boxes", "version": "1.0.0"}}
    resources = {f"r{index}": {**make.box(f"r{index}"), "import": alias} for index, alias in enumerate("bbcc")}
    await stack.deploy(make.template(resources, imports=imports), providers={"BOXES": "run boxes"})
    assert sorted(wanted.alias for wanted in world.connected) == ["b", "c"]
    assert {(wanted.command, wanted.folder) for wanted in world.connected} == {("run boxes", tmp_path)}


async def test_a_configuration_that_depends_on_a_resource_waits_for_it(stack, world, make) -> None:
    imports = {
        "b": {"provider": "boxes", "version": "1.0.0"},
        "late": {"provider": "boxes", "version": "1.0.0", "config": {"place": "[reference('first').text]"}},
    }
    resources = {"second": {**make.box("second"), "import": "late"}, "first": make.box("first", text="there")}
    assert (await stack.deploy(make.template(resources, imports=imports))).status == "Succeeded"
    assert set(world.boxes) == {("", "first"), ("there", "second")}
    assert (await stack.destroy()).status == "Succeeded"
    assert world.boxes == {}


async def test_a_provider_without_types_is_deployed_all_the_same(stack, world, make) -> None:
    world.types = None
    await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b", text="[reference('a').size]")}))
    assert world.names() == {"a", "b"}
    await stack.deploy(make.template({"a": make.box("a")}))
    assert world.names() == {"a"}
    assert (await stack.destroy()).status == "Succeeded"
    assert world.names() == set()


async def test_two_runs_on_one_stack_exclude_each_other(stack, world, make) -> None:
    import os

    second: list[StateError] = []

    async def intrude(verb, data):
        with pytest.raises(StateError) as caught:
            await stack.deploy(make.template({"a": make.box("a")}))
        second.append(caught.value)

    world.before = lambda verb, data: intrude(verb, data)
    assert (await stack.deploy(make.template({"a": make.box("a")}))).status == "Succeeded"
    assert f"process {os.getpid()}" in str(second[0])


async def test_a_stopped_run_lets_running_calls_end_and_starts_nothing_new(stack, world, make) -> None:
    stop = anyio.Event()
    world.before = lambda verb, data: stop.set()
    result = await stack.deploy(
        make.template({"a": make.box("a"), "b": make.box("b", needs=["a"])}), stop=stop, parallelism=1
    )
    assert result.status == "Canceled"
    assert {outcome.symbolic_name: outcome.status for outcome in result.resources} == {"a": "Saved", "b": "Canceled"}
    assert stack.show().status == "Canceled"


async def test_a_call_that_does_not_end_in_time_after_a_stop_is_recorded_as_unclear(stack, world, make) -> None:
    stop = anyio.Event()

    async def hang():
        stop.set()
        await anyio.sleep_forever()

    world.before = lambda verb, data: hang() if verb is Verb.SAVE else None
    with anyio.fail_after(5):
        result = await stack.deploy(make.template({"a": make.box("a")}), stop=stop, stop_grace_seconds=0.01)
    assert result.status == "Canceled"
    assert [outcome.status for outcome in result.resources] == ["Unclear"]
    assert [record.status for record in stack.show().resources] == ["Unclear"]


async def test_a_canceled_task_leaves_a_true_record(stack, world, make) -> None:
    async def hang():
        scope.cancel()
        await anyio.sleep_forever()

    world.before = lambda verb, data: hang()
    with anyio.CancelScope() as scope:
        await stack.deploy(make.template({"a": make.box("a")}))
    assert [record.status for record in stack.show().resources] == ["Unclear"]
    assert stack.show().status == "Canceled"
    world.before = lambda verb, data: None
    assert (await stack.deploy(make.template({"a": make.box("a")}))).status == "Succeeded"


async def test_a_provider_that_does_not_start_is_told_of_once(stack, world, make) -> None:
    world.broken["boxes"] = StartFailed("provider boxes exited with code 1")
    result = await stack.deploy(make.template({f"r{index}": make.box(f"r{index}") for index in range(5)}))
    assert [outcome.status for outcome in result.resources] == ["Failed"] * 5
    assert len(result.errors) == 1
    assert len(world.connected) == 1


@pytest.mark.parametrize("option", [{"onlyIfNotExists": []}, {"retryOn": [["Code"], 1]}])
async def test_an_option_that_is_not_understood_is_refused(stack, make, option) -> None:
    with pytest.raises(TemplateError) as caught:
        await stack.deploy(make.template({"a": {**make.box("a"), "@options": option}}))
    assert caught.value.path == f"$.resources.a['@options'].{next(iter(option))}"


async def test_a_count_or_condition_that_is_known_too_late_is_refused(stack, make) -> None:
    loop = {"name": "many", "count": "[reference('a').size]"}
    with pytest.raises(TemplateError, match="count"):
        await stack.deploy(make.template({"a": make.box("a"), "many": make.box("b", _copy=loop)}))
    with pytest.raises(TemplateError, match="condition"):
        await stack.deploy(
            make.template({"a": make.box("a"), "b": make.box("b", _condition="[equals(reference('a').size, 1)]")})
        )


async def test_without_types_a_symbol_with_another_identity_does_not_orphan_the_old_resource(
    stack, world, make
) -> None:
    world.types = None
    await stack.deploy(make.template({"a": make.box("old")}))
    await stack.deploy(make.template({"a": make.box("new")}))
    assert world.names() == {"new"}
    assert [record.identifiers for record in stack.show().resources] == [{"name": "new"}]


@pytest.mark.reported("P15")
async def test_a_save_is_never_given_an_unknown_value(stack, world, make) -> None:
    resources = {
        "a": make.box("a", text="late"),
        "b": make.box("b", text="[reference(reference('a').text).name]"),
        "late": make.box("late"),
    }
    result = await stack.deploy(make.template(resources), parallelism=1)
    assert world.verbs(Verb.SAVE) == ["a", "late"]
    (error,) = result.errors
    assert (error.fault.path, error.fault.code) == ("$.resources.b.properties.text", "UnknownValueNotAllowed")
    assert "dependsOn" in error.fault.message
    resources["b"]["dependsOn"] = ["late"]
    assert (await stack.deploy(make.template(resources), parallelism=1)).status == "Succeeded"
    assert world.boxes["", "b"]["text"] == "late"


async def test_a_state_that_cannot_be_written_ends_the_run_with_its_reason(stack, world, make) -> None:
    import sqlite3

    def spoil(verb, data):
        with sqlite3.connect(stack.folder / ".extensor" / "state.db") as connection:
            connection.execute("DROP TABLE resources")
        connection.close()

    world.after = spoil
    with pytest.raises(StateError, match="cannot be used: no such table"):
        await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b", needs=["a"])}))


async def test_a_provider_reached_late_is_described_before_its_first_save(stack, world, make) -> None:
    imports = {
        "b": {"provider": "boxes", "version": "1.0.0"},
        "late": {"provider": "boxes", "version": "1.0.0", "config": {"place": "[reference('first').text]"}},
    }
    resources = {
        "first": make.box("first", text="there"),
        "one": {**make.box("same"), "import": "late"},
        "two": {**make.box("same"), "import": "late"},
    }
    result = await stack.deploy(make.template(resources, imports=imports))
    assert [error.fault.code for error in result.errors] == ["DuplicateResource"]
    assert world.verbs(Verb.SAVE) == ["first", "same"]


async def test_a_default_made_of_a_secret_is_as_secret_as_that(stack, world, make, tmp_path) -> None:
    entries = make.template(
        {"a": make.box("a")},
        parameters={
            "pw": {"type": "securestring"},
            "derived": {"type": "string", "defaultValue": "[concat('key-', parameters('pw'))]"},
        },
        imports={"b": {"provider": "boxes", "version": "1.0.0", "config": {"key": "[parameters('derived')]"}}},
    )
    await stack.deploy(entries, {"pw": "canary-9c2e"})
    assert all(b"canary" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert (await stack.destroy({"pw": "canary-9c2e"})).status == "Succeeded"
    assert world.calls[-1].data.imported.config == {"key": "key-canary-9c2e"}
