"""Previews: what would change, without changing anything."""

import pytest

from extensor.contract import ErrorCode, ResourceResult, Verb, has_unknown, is_unknown
from extensor.engine.results import PropertyChange
from extensor.errors import InvalidProperty, OperationFailed, PreviewNotSupported, StartFailed

pytestmark = pytest.mark.anyio


def shown(result) -> dict[str, str]:
    return {change.symbolic_name: change.change_type for change in result.changes}


def delta(result, name: str) -> dict:
    (change,) = [change for change in result.changes if change.symbolic_name == name]
    return {item.path: (item.before, item.after) for item in change.delta}


async def test_a_new_resource_is_a_create_with_all_it_will_have(stack, world, make) -> None:
    result = await stack.what_if(make.template({"a": make.box("a", text="hi")}))
    (change,) = result.changes
    assert (change.change_type, change.symbolic_name, change.type) == ("Create", "a", "box@1.0")
    assert change.identifiers == {"name": "a"}
    assert delta(result, "a") == {
        "$.properties.name": (None, "a"),
        "$.properties.text": (None, "hi"),
        "$.properties.size": (None, 2),
    }
    assert result.unchanged == 0


async def test_after_a_deployment_nothing_would_change(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="hi"), "b": make.box("b", text="[reference('a').text]")})
    await stack.deploy(entries)
    result = await stack.what_if(entries)
    assert result.changes == ()
    assert result.unchanged == 2


@pytest.mark.reported("P16")
async def test_only_the_changed_property_shows(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a", text="hi", labels={"k": "v"}), "b": make.box("b")}))
    result = await stack.what_if(make.template({"a": make.box("a", text="ho", labels={"k": "v"}), "b": make.box("b")}))
    assert shown(result) == {"a": "Modify"}
    assert delta(result, "a") == {"$.properties.text": ("hi", "ho")}
    assert result.unchanged == 1


@pytest.mark.reported("P09")
async def test_a_preview_makes_only_get_and_preview_calls_and_no_state(stack, world, make, tmp_path) -> None:
    world.boxes["", "there"] = {"name": "there", "text": "x"}
    await stack.what_if(
        make.template(
            {"there": make.box("there", _existing=True), "a": make.box("a", text="[reference('there').text]")}
        )
    )
    assert {call.verb for call in world.calls} == {Verb.GET, Verb.PREVIEW_SAVE}
    assert not (tmp_path / ".extensor").exists()


@pytest.mark.reported("P15")
async def test_only_previews_see_unknown_values(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="x"), "b": make.box("b", text="[string(reference('a').size)]")})
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    await stack.what_if(entries)
    world.preview = None
    await stack.deploy(entries)
    assert any(has_unknown(call.data.properties) for call in world.calls if call.verb is Verb.PREVIEW_SAVE)
    assert not any(has_unknown(call.data.properties) for call in world.calls if call.verb is not Verb.PREVIEW_SAVE)


@pytest.mark.reported("P03")
async def test_what_a_new_resource_will_tell_only_later_is_unknown_and_so_is_every_function_of_it(
    stack, world, make
) -> None:
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    text = "[toUpper(format('{0}-{1}', reference('a').size, length(string(reference('a').size))))]"
    result = await stack.what_if(make.template({"a": make.box("a", text="x"), "b": make.box("b", text=text)}))
    assert result.faults == ()
    (_, after) = delta(result, "b")["$.properties.text"]
    assert is_unknown(after)
    assert "reference('a').size" in after.expression


@pytest.mark.reported("P07")
async def test_a_reference_to_an_unchanged_resource_is_resolved_from_what_is_there(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="hi"), "b": make.box("b", text="[string(reference('a').size)]")})
    await stack.deploy(entries)
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    result = await stack.what_if(entries)
    assert result.changes == ()
    assert [call.data.properties["text"] for call in world.calls if call.verb is Verb.PREVIEW_SAVE] == ["hi", "2"]


@pytest.mark.reported("P07")
async def test_a_reference_to_a_resource_that_will_change_is_unknown(stack, world, make) -> None:
    def entries(text):
        return make.template(
            {"a": make.box("a", text=text), "b": make.box("b", text="[format('n{0}', reference('a').size)]")}
        )

    await stack.deploy(entries("hi"))
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    result = await stack.what_if(entries("longer"))
    before, after = delta(result, "b")["$.properties.text"]
    assert before == "n2"
    assert is_unknown(after)


@pytest.mark.reported("P06")
async def test_secrets_are_masked_before_and_after(stack, world, make) -> None:
    def entries():
        return make.template(
            {"a": make.box("a", secret="[parameters('pw')]", text="[format('with {0}', parameters('pw'))]")},
            parameters={"pw": {"type": "securestring"}},
        )

    await stack.deploy(entries(), {"pw": "old-canary"})
    result = await stack.what_if(entries(), {"pw": "new-canary"})
    assert delta(result, "a") == {"$.properties.secret": ("***", "***"), "$.properties.text": ("***", "***")}
    assert "canary" not in repr(result)


@pytest.mark.reported("P06")
@pytest.mark.parametrize(
    "then", [{"text": "plain"}, {"text": "[parameters('open')]"}, {"text": "[format('{0}', parameters('pw'))]"}]
)
@pytest.mark.parametrize("outcome", ["Succeeded", "Failed"])
async def test_what_was_a_secret_stays_masked_when_the_template_gives_an_open_value(
    stack, world, make, then, outcome
) -> None:
    parameters = {"pw": {"type": "securestring"}, "open": {"type": "string", "defaultValue": "seen"}}

    def fail(verb, data):
        raise OperationFailed("after the fact")

    world.after = fail if outcome == "Failed" else world.after
    first = make.template({"a": make.box("a", text="[parameters('pw')]", labels={"k": "1"})}, parameters=parameters)
    assert (await stack.deploy(first, {"pw": "old-canary"})).status == outcome
    world.after = lambda verb, data: None
    second = make.template({"a": make.box("a", labels={"k": "2"}, **then)}, parameters=parameters)
    result = await stack.what_if(second, {"pw": "new-canary"})
    assert delta(result, "a")["$.properties.text"] == ("***", "***")
    assert delta(result, "a")["$.properties.labels.k"] == ("1", "2")
    assert "canary" not in repr((result, stack.events))
    assert (await stack.deploy(second, {"pw": "new-canary"})).status == "Succeeded"
    third = make.template({"a": make.box("a", text="third", labels={"k": "2"})}, parameters=parameters)
    shown_before, _ = delta(await stack.what_if(third, {"pw": "new-canary"}), "a")["$.properties.text"]
    assert shown_before == ("***" if "pw" in then["text"] else "seen" if "open" in then["text"] else "plain")


@pytest.mark.reported("I01")
async def test_drift_by_hand_is_shown(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="hi")})
    await stack.deploy(entries)
    world.boxes["", "a"]["text"] = "by hand"
    assert shown(await stack.what_if(entries)) == {"a": "Modify"}
    del world.boxes["", "a"]
    result = await stack.what_if(entries)
    assert shown(result) == {"a": "Create"}
    assert "not there any more" in result.changes[0].reason


async def test_a_resource_that_is_no_longer_declared_is_a_delete(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a"), "b": make.box("b"), "c": make.box("c")}))
    result = await stack.what_if(make.template({"a": make.box("other"), "c": make.box("c", _condition=False)}))
    changes = {(change.change_type, change.symbolic_name, change.identifiers["name"]) for change in result.changes}
    assert changes == {
        ("Create", "a", "other"),
        ("Delete", "a", "a"),
        ("Delete", "b", "b"),
        ("Delete", "c", "c"),
    }
    assert [change.change_type for change in result.changes][-3:] == ["Delete"] * 3


async def test_what_is_gone_already_is_no_delete(stack, world, make) -> None:
    await stack.deploy(make.template({"a": make.box("a")}))
    world.boxes.clear()
    assert (await stack.what_if(make.template({}))).changes == ()


@pytest.mark.reported("P13")
async def test_with_an_unknown_configuration_the_provider_is_not_started(stack, world, make) -> None:
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    imports = {
        "b": {"provider": "boxes", "version": "1.0.0"},
        "late": {"provider": "later", "version": "1.0.0", "config": {"place": "[string(reference('a').size)]"}},
    }
    result = await stack.what_if(
        make.template({"a": make.box("a"), "c": {**make.box("c"), "import": "late"}}, imports=imports)
    )
    assert [wanted.provider for wanted in world.connected] == ["boxes"]
    (change,) = [change for change in result.changes if change.symbolic_name == "c"]
    assert (change.change_type, change.reason) == ("Unsupported", "not previewable: configuration unknown")
    assert result.faults == ()


async def test_a_preview_that_is_not_supported_is_a_change_with_its_reason(stack, world, make) -> None:
    def refuse(data, wanted):
        raise PreviewNotSupported("nobody can tell")

    world.preview = refuse
    result = await stack.what_if(make.template({"a": make.box("a"), "b": make.box("b", text="[reference('a').text]")}))
    assert shown(result) == {"a": "Unsupported", "b": "Unsupported"}
    assert result.changes[0].reason == "nobody can tell"
    assert result.faults == ()


async def test_unknown_identifiers_make_a_change_that_cannot_be_told(stack, world, make) -> None:
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {})
    result = await stack.what_if(
        make.template({"a": make.box("a", text="x"), "b": make.box("[string(reference('a').size)]")})
    )
    assert shown(result) == {"a": "Create", "b": "Unsupported"}
    assert world.verbs(Verb.GET) == ["a"]


async def test_what_a_provider_refuses_in_a_preview_is_a_fault(stack, world, make) -> None:
    def refuse(data, wanted):
        raise InvalidProperty("text", "too long")

    world.preview = refuse
    result = await stack.what_if(make.template({"a": make.box("a", text="x")}))
    (fault,) = result.faults
    assert (fault.symbolic_name, fault.fault.code) == ("a", "InvalidProperty")
    assert not result.succeeded


async def test_a_missing_existing_resource_is_a_fault_unless_this_deployment_may_make_it(stack, world, make) -> None:
    result = await stack.what_if(make.template({"a": make.box("a", _existing=True)}))
    assert [fault.fault.code for fault in result.faults] == [ErrorCode.RESOURCE_NOT_FOUND]
    result = await stack.what_if(make.template({"a": make.box("x", _existing=True, needs=["b"]), "b": make.box("x")}))
    assert result.faults == ()
    assert shown(result) == {"b": "Create"}


async def test_a_provider_that_does_not_start_is_a_fault(stack, world, make) -> None:
    world.broken["boxes"] = StartFailed("it exited with code 3")
    result = await stack.what_if(make.template({"a": make.box("a")}))
    assert "code 3" in result.faults[0].fault.message


@pytest.mark.reported("I02", "I05")
async def test_what_others_filled_in_is_no_change(stack, world, make) -> None:
    world.keeps_labels = True
    entries = make.template({"a": make.box("a", labels={"own": "1"})})
    await stack.deploy(entries)
    world.boxes["", "a"]["labels"]["theirs"] = "2"
    world.boxes["", "a"]["stamp"] = 99
    assert (await stack.what_if(entries)).changes == ()
    assert (await stack.deploy(entries)).status == "Succeeded"
    assert world.boxes["", "a"]["labels"] == {"own": "1", "theirs": "2"}


@pytest.mark.reported("I05", "I12")
async def test_a_label_that_a_deployment_will_remove_is_shown_whoever_put_it_there(stack, world, make) -> None:
    first = make.template({"a": make.box("a", text="x", labels={"own": "1", "app.io/tier": "2"})})
    await stack.deploy(first)
    assert (await stack.what_if(first)).changes == ()
    world.boxes["", "a"]["labels"]["by/hand"] = "3"
    (change,) = (await stack.what_if(first)).changes
    assert change.delta == (PropertyChange("$.properties.labels['by/hand']", "Delete", "3", None),)
    await stack.deploy(first)
    assert world.boxes["", "a"]["labels"] == {"own": "1", "app.io/tier": "2"}
    second = make.template({"a": make.box("a", text="x", labels={"own": "1"})})
    (change,) = (await stack.what_if(second)).changes
    assert change.delta == (PropertyChange("$.properties.labels['app.io/tier']", "Delete", "2", None),)
    await stack.deploy(second)
    assert world.boxes["", "a"]["labels"] == {"own": "1"}
    assert (await stack.what_if(second)).changes == ()


@pytest.mark.reported("I05", "I12")
async def test_labels_are_left_alone_where_the_template_or_the_provider_has_nothing_to_say_of_them(
    stack, world, make
) -> None:
    labelled = make.template({"a": make.box("a", labels={"own": "1"})})
    await stack.deploy(labelled)
    world.boxes["", "a"]["labels"]["theirs"] = "2"
    assert (await stack.what_if(make.template({"a": make.box("a")}))).changes == ()
    world.types = None
    assert (await stack.what_if(labelled)).changes == ()


@pytest.mark.reported("P07")
async def test_a_reference_to_a_resource_that_loses_a_label_is_unknown(stack, world, make) -> None:
    def entries(labels):
        text = "[format('n{0}', reference('a').size)]"
        return make.template({"a": make.box("a", text="hi", labels=labels), "b": make.box("b", text=text)})

    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    await stack.deploy(entries({"k": "1", "l": "2"}))
    assert (await stack.what_if(entries({"k": "1", "l": "2"}))).changes == ()
    result = await stack.what_if(entries({"k": "1"}))
    assert shown(result) == {"a": "Modify", "b": "Modify"}
    assert is_unknown(delta(result, "b")["$.properties.text"][1])


@pytest.mark.reported("P06")
@pytest.mark.parametrize("labels", [{"[parameters('pw')]": "x"}, {"k": "[parameters('pw')]"}])
@pytest.mark.parametrize("again", ["old-canary", "new-canary"])
async def test_a_removed_label_that_came_from_a_secret_is_masked_by_name_and_value(
    stack, world, make, labels, again
) -> None:
    parameters = {"pw": {"type": "securestring"}}
    await stack.deploy(
        make.template({"a": make.box("a", labels={**labels, "own": "1"})}, parameters=parameters), {"pw": "old-canary"}
    )
    result = await stack.what_if(
        make.template({"a": make.box("a", labels={"own": "1"})}, parameters=parameters), {"pw": again}
    )
    assert delta(result, "a") == {"$.properties.labels['***']": ("***", None)}
    assert "canary" not in repr((result, stack.events))


@pytest.mark.reported("P06")
async def test_a_label_by_hand_that_holds_a_secret_of_this_run_is_masked(stack, world, make) -> None:
    entries = make.template(
        {"a": make.box("a", text="[parameters('pw')]", labels={"own": "1"})},
        parameters={"pw": {"type": "securestring"}},
    )
    await stack.deploy(entries, {"pw": "a-canary"})
    world.boxes["", "a"]["labels"] |= {"k": "say a-canary", "is a-canary": "x"}
    result = await stack.what_if(entries, {"pw": "a-canary"})
    assert delta(result, "a") == {
        "$.properties.labels.k": ("say ***", None),
        "$.properties.labels['***']": ("***", None),
    }


async def test_a_deployment_does_what_the_preview_said(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", text="1"), "gone": make.box("gone")})
    await stack.deploy(entries)
    changed = make.template({"a": make.box("a", text="2"), "new": make.box("new")})
    result = await stack.what_if(changed)
    assert shown(result) == {"a": "Modify", "new": "Create", "gone": "Delete"}
    await stack.deploy(changed)
    assert world.names() == {"a", "new"}
    assert (await stack.what_if(changed)).changes == ()


async def test_validation_tells_every_fault_with_its_place_in_the_template(stack, world, make) -> None:
    assert await stack.validate(make.template({"a": make.box("a", text="x")})) == []
    assert {call.verb for call in world.calls} == {Verb.PREVIEW_SAVE}
    faults = await stack.validate(make.template({"a": make.box("a", text=5), "b": make.box("b", size=3)}))
    assert {(fault.path, fault.code) for fault in faults} == {
        ("$.resources.a.properties.text", "InvalidProperty"),
        ("$.resources.b.properties.size", "ReadOnlyProperty"),
    }


async def test_validation_places_a_providers_complaint_in_the_template(stack, world, make) -> None:
    def refuse(data, wanted):
        raise OperationFailed("too long", code="InvalidProperty", path="$.properties.items[0]")

    world.preview = refuse
    (fault,) = await stack.validate(make.template({"a": make.box("a", items=["x"])}))
    assert fault.path == "$.resources.a.properties.items[0]"


async def test_validation_returns_what_is_wrong_with_parameters_and_names(stack, make) -> None:
    (fault,) = await stack.validate(make.template({}, parameters={"p": {"type": "string"}}))
    assert fault.path == "$.parameters.p"
    (fault,) = await stack.validate(make.template({"a": make.box("a", needs=["nobody"])}))
    assert fault.path == "$.resources.a.dependsOn[0]"


async def test_a_provider_without_types_is_compared_all_the_same(stack, world, make) -> None:
    world.types = None
    entries = make.template({"a": make.box("a", text="hi")})
    assert shown(await stack.what_if(entries)) == {"a": "Create"}
    await stack.deploy(entries)
    assert (await stack.what_if(entries)).changes == ()
    assert delta(await stack.what_if(make.template({"a": make.box("a", text="ho")})), "a") == {
        "$.properties.text": ("hi", "ho")
    }


async def test_a_moved_configuration_shows_the_new_resource_and_the_end_of_the_old_one(stack, world, make) -> None:
    def at(place):
        imports = {"b": {"provider": "boxes", "version": "1.0.0", "config": {"place": place}}}
        return make.template({"a": make.box("x")}, imports=imports)

    world.plane = lambda config: config["place"]
    await stack.deploy(at("here"))
    result = await stack.what_if(at("there"))
    assert [change.change_type for change in result.changes] == ["Create", "Delete"]


async def test_a_new_name_for_the_same_resource_is_no_change(stack, world, make) -> None:
    await stack.deploy(make.template({"old": make.box("x", text="hi")}))
    assert (await stack.what_if(make.template({"new": make.box("x", text="hi")}))).changes == ()
    assert (await stack.what_if(make.template({"new": make.box("x", _existing=True)}))).changes == ()


async def test_what_cannot_be_previewed_is_not_taken_for_removed(stack, world, make) -> None:
    def entries(text):
        imports = {
            "b": {"provider": "boxes", "version": "1.0.0"},
            "late": {"provider": "boxes", "version": "1.0.0", "config": {"place": "[string(reference('a').size)]"}},
        }
        return make.template({"a": make.box("a", text=text), "c": {**make.box("c"), "import": "late"}}, imports=imports)

    await stack.deploy(entries("hi"))
    assert (await stack.what_if(entries("hi"))).changes == ()
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    assert shown(await stack.what_if(entries("longer"))) == {"a": "Modify", "c": "Unsupported"}


@pytest.mark.parametrize("typed", [True, False])
async def test_a_property_whose_name_is_not_known_yet_is_not_previewable_and_deployed_all_the_same(
    stack, world, make, typed: bool
) -> None:
    if not typed:
        world.types = None
    source = make.template({"a": make.box("a", text="text"), "b": make.box("b", **{"[reference('a').text]": "x"})})
    assert await stack.validate(source) == []
    result = await stack.what_if(source)
    told = {change.symbolic_name: change.change_type for change in result.changes}
    assert told == {"a": "Create", "b": "Create" if typed else "Unsupported"}
    assert (await stack.deploy(source)).status == "Succeeded"
    assert world.boxes["", "b"]["text"] == "x"
