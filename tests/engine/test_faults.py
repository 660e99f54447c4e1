"""Faults: each once, at its place, and none that the template does not have."""

import pytest

from extensor.contract import ResourceResult, Verb, is_unknown
from extensor.errors import InvalidProperty, OperationFailed, StartFailed

pytestmark = pytest.mark.anyio


def told(faults) -> list[tuple[str, str]]:
    return [(item.fault.path, item.fault.code) for item in faults]


async def test_a_fault_that_the_type_shows_is_told_once_and_names_the_property(stack, world, make) -> None:
    result = await stack.what_if(make.template({"a": make.box("a", utl="x")}))
    assert told(result.faults) == [("$.resources.a.properties.utl", "UnknownProperty")]
    assert world.verbs(Verb.PREVIEW_SAVE) == []
    (change,) = result.changes
    assert change.reason.startswith("utl: ")


async def test_what_a_provider_finds_has_its_place_in_the_template_in_every_command(stack, world, make) -> None:
    entries = make.template(
        {"boxes": {**make.box("[format('b{0}', copyIndex())]", text="x"), "copy": {"name": "boxes", "count": 1}}},
        imports={"b": {"provider": "boxes", "version": "1.0.0", "config": {"place": "here"}}},
    )
    paths = iter(["$.properties.text", "$.type", "$.import.config.place", "$.import.version"] * 3)

    def refuse(verb, data):
        if verb is not Verb.GET:
            raise OperationFailed("no", code="InvalidProperty", path=next(paths))

    world.before = refuse
    expected = [
        "$.resources.boxes.properties.text",
        "$.resources.boxes.type",
        "$.imports.b.config.place",
        "$.imports.b.version",
    ]
    for place in expected:
        assert [item.fault.path for item in (await stack.what_if(entries)).faults] == [place]
    for place in expected:
        result = await stack.deploy(entries)
        assert [item.fault.path for item in result.errors] == [place]
        assert [fault.path for fault in result.resources[0].faults] == [place]
    for place in expected:
        assert [fault.path for fault in await stack.validate(entries)] == [place]


async def test_a_property_that_cannot_be_evaluated_leads_to_no_other_complaint(stack, world, make) -> None:
    entries = make.template({"a": make.box("[int('x')]", text="[int('y')]", labels={"k": "[first(1)]"})})
    places = ["name", "text", "labels.k"]
    expected = [(f"$.resources.a.properties.{place}", "InvalidTemplate") for place in places]
    assert told((await stack.what_if(entries)).faults) == expected
    assert told((await stack.deploy(entries)).errors) == expected
    assert [(fault.path, fault.code) for fault in await stack.validate(entries)] == expected
    assert world.calls == []


async def test_validation_reads_branches_and_outputs_that_nothing_evaluates(stack, make) -> None:
    entries = make.template(
        {"a": make.box("a", text="[if(true(), 'x', nope())]"), "b": make.box("b", text=5)},
        outputs={"x": {"type": "string", "value": "[if(true(), 'x', reference('nobody').text)]"}},
    )
    assert {fault.path for fault in await stack.validate(entries)} == {
        "$.resources.a.properties.text",
        "$.resources.b.properties.text",
        "$.outputs.x.value",
    }


async def test_a_missing_type_is_told_without_a_second_path(stack, make) -> None:
    (item,) = (await stack.what_if(make.template({"a": {**make.box("a"), "type": "bax@1.0"}}))).faults
    assert item.fault.path == "$.resources.a.type"
    assert "$." not in item.fault.message


async def test_an_unsupported_version_is_told_at_the_import(stack, world, make) -> None:
    world.broken["boxes"] = StartFailed("UnsupportedVersion: version 1.0.0 is asked for, and 0.9.0 answers")
    entries = make.template({"a": make.box("a"), "c": make.box("c")})
    expected = [("$.imports.b.version", "UnsupportedVersion")]
    assert told((await stack.what_if(entries)).faults) == expected
    assert told((await stack.deploy(entries)).errors) == expected


async def test_a_provider_that_does_not_start_is_described_once_and_meant_by_each_resource(stack, world, make) -> None:
    world.broken["boxes"] = StartFailed("it is not on the PATH")
    result = await stack.what_if(make.template({"a": make.box("a"), "b": make.box("b")}))
    assert [item.fault.message for item in result.faults] == ["it is not on the PATH"]
    assert [change.reason for change in result.changes] == ["its provider did not start: it is not on the PATH"] * 2


async def test_a_preview_that_fails_names_the_property_in_its_reason(stack, world, make) -> None:
    def refuse(verb, data):
        if verb is Verb.PREVIEW_SAVE:
            raise OperationFailed("it is not known yet", code="PreviewNotSupported", path="$.properties.text")

    world.before = refuse
    (change,) = (await stack.what_if(make.template({"a": make.box("a", text="x")}))).changes
    assert change.reason == "text: it is not known yet"


async def test_write_only_properties_are_named_as_not_compared(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", pin="1234"), "b": make.box("b")})
    assert (await stack.what_if(entries)).not_compared == ()
    await stack.deploy(entries)
    result = await stack.what_if(entries)
    assert (result.changes, result.unchanged) == ((), 2)
    assert result.not_compared == (("a", "$.properties.pin"),)


async def test_what_a_provider_sets_once_is_known_as_soon_as_the_resource_exists(stack, world, make) -> None:
    def entries(text):
        return make.template({"a": make.box("a", text=text), "b": make.box("b", text="[reference('a').serial]")})

    await stack.deploy(entries("one"))
    world.preview = lambda data, wanted: ResourceResult(dict(wanted), {"name": wanted["name"]})
    result = await stack.what_if(entries("two"))
    assert [change.symbolic_name for change in result.changes] == ["a"]


async def test_an_unknown_that_comes_through_a_provider_still_says_what_it_waits_for(stack, world, make) -> None:
    entries = make.template({"a": make.box("a"), "b": make.box("b", text="[string(reference('a').size)]")})

    def preview(data, wanted):
        unknown = [f"$.properties.{name}" for name, value in wanted.items() if is_unknown(value)]
        return ResourceResult(dict(wanted), {"name": wanted["name"]}, None, world.metadata(unknown=tuple(unknown)))

    world.preview = preview
    (delta,) = [change.delta for change in (await stack.what_if(entries)).changes if change.symbolic_name == "b"]
    (after,) = [item.after for item in delta if item.path == "$.properties.text"]
    assert after.expression == "[string(reference('a').size)]"


async def test_a_faulty_resource_does_not_keep_the_others_from_being_checked(stack, world, make) -> None:
    def refuse(data, wanted):
        if wanted["name"] == "b":
            raise InvalidProperty("text", "too long")
        return ResourceResult(dict(wanted), {"name": wanted["name"]})

    world.preview = refuse
    faults = await stack.validate(make.template({"a": make.box("a", text=5), "b": make.box("b", text="x")}))
    assert {fault.path for fault in faults} == {"$.resources.a.properties.text", "$.resources.b.properties.text"}
