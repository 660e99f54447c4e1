"""Outputs are shown, so nothing in them depends on a secret, whoever gave or made it."""

from base64 import b64encode

import pytest

pytestmark = pytest.mark.anyio

SECRET = "hunter2-and-more"


def shown(result) -> dict:
    return {name: output.value for name, output in result.outputs.items()}


@pytest.fixture
def home(make):
    """A template of one box with a secret of its own, with outputs."""

    def template(**outputs: str):
        declared = {name: {"type": "object" if name == "all" else "string", "value": v} for name, v in outputs.items()}
        return make.template({"home": make.box("home", text="fine", secret=SECRET)}, outputs=declared)

    return template


async def test_a_secret_property_is_masked_in_outputs_of_any_form(stack, home) -> None:
    result = await stack.deploy(
        home(
            all="[reference('home')]",
            one="[reference('home').secret]",
            part="[format('pw is {0}', reference('home').secret)]",
            cut="[substring(reference('home').secret, 0, 3)]",
            plain="[reference('home').text]",
        )
    )
    assert result.status == "Succeeded"
    outputs = shown(result)
    assert (outputs["all"]["secret"], outputs["all"]["text"], outputs["all"]["size"]) == ("***", "fine", 4)
    assert (outputs["one"], outputs["part"], outputs["cut"], outputs["plain"]) == ("***", "***", "***", "fine")


async def test_a_secret_that_the_provider_made_and_repeats_elsewhere_is_masked_there_too(stack, world, make) -> None:
    made = "made-by-the-service"
    world.boxes["", "home"] = {"name": "home", "secret": made, "text": f"https://{made}@host/"}
    entries = make.template(
        {"home": make.box("home")}, outputs={"url": {"type": "string", "value": "[reference('home').text]"}}
    )
    assert shown(await stack.deploy(entries)) == {"url": "https://***@host/"}


@pytest.mark.reported("K12")
async def test_a_secret_of_an_existing_resource_is_shown_and_recorded_nowhere(stack, world, make, tmp_path) -> None:
    world.boxes["", "there"] = {"name": "there", "secret": SECRET, "text": f"see {SECRET}"}
    entries = make.template(
        {
            "there": make.box("there", _existing=True),
            "copy": make.box(
                "copy", text="[base64(reference('there').secret)]", labels={"a": "[reference('there').text]"}
            ),
        },
        outputs={
            "all": {"type": "object", "value": "[reference('there')]"},
            "copy": {"type": "string", "value": "[reference('copy').text]"},
        },
    )
    told = [await stack.what_if(entries), await stack.deploy(entries), await stack.what_if(entries), stack.show()]
    assert world.boxes["", "copy"]["text"] == b64encode(SECRET.encode()).decode()
    assert shown(told[1])["copy"] == "***"
    kept = b"".join(path.read_bytes() for path in (tmp_path / ".extensor").iterdir())
    for form in (SECRET, b64encode(SECRET.encode()).decode()):
        assert form not in repr((told, stack.events))
        assert form.encode() not in kept


async def test_a_plain_output_that_depends_on_a_secure_parameter_is_masked(stack, make) -> None:
    result = await stack.deploy(
        make.template(
            {},
            parameters={"pw": {"type": "securestring"}, "who": {"type": "string", "defaultValue": "me"}},
            outputs={
                "kind": {"type": "string", "value": "[if(empty(parameters('pw')), 'anonymous', 'basic')]"},
                "who": {"type": "string", "value": "[parameters('who')]"},
                "pin": {"type": "object", "value": {"short": "[parameters('pw')]", "who": "[parameters('who')]"}},
            },
        ),
        {"pw": "abc"},
    )
    assert shown(result) == {"kind": "***", "who": "me", "pin": {"short": "***", "who": "me"}}


async def test_a_secret_property_is_masked_where_another_resource_takes_it(stack, world, make) -> None:
    def entries(secret):
        return make.template(
            {"a": make.box("a", secret=secret), "b": make.box("b", text="[format('{0}!', reference('a').secret)]")}
        )

    await stack.deploy(entries("abc"))
    result = await stack.what_if(entries("abd"))
    told = {change.symbolic_name: [(item.before, item.after) for item in change.delta] for change in result.changes}
    assert told == {"a": [("***", "***")], "b": [("***", "***")]}


async def test_a_secret_property_is_no_identifier_of_another_resource(stack, world, make) -> None:
    entries = make.template({"a": make.box("a", secret=SECRET), "b": make.box("[reference('a').secret]")})
    assert [fault.fault.code for fault in (await stack.what_if(entries)).faults] == ["SecretIdentifier"]
    result = await stack.deploy(entries)
    assert {error.fault.code for error in result.errors} == {"SecretIdentifier"}
    assert world.names() == {"a"}
    assert SECRET not in repr((result, stack.events, stack.show()))


async def test_an_output_that_cannot_be_is_told_before_anything_is_made(stack, world, make) -> None:
    entries = make.template({"a": make.box("a")}, outputs={"x": {"type": "string", "value": "[toUper('a')]"}})
    result = await stack.deploy(entries)
    assert [error.fault.path for error in result.errors] == ["$.outputs.x.value"]
    assert world.boxes == {}


async def test_a_configuration_made_of_a_resources_secret_is_not_recorded_and_deletes_while_it_is_known(
    stack, world, make, tmp_path
) -> None:
    def entries(**more):
        imports = {
            "b": {"provider": "boxes", "version": "1.0.0"},
            "late": {"provider": "boxes", "version": "1.0.0", "config": {"key": "[reference('a').secret]"}},
        }
        return make.template({"a": make.box("a", secret=SECRET), **more}, imports=imports)

    await stack.deploy(entries(c={**make.box("c"), "import": "late"}))
    assert all(SECRET.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    result = await stack.destroy()
    assert result.status == "Failed"
    assert "[reference('a').secret]" in result.errors[0].fault.message
    assert world.names() == {"a", "c"}
    assert (await stack.deploy(entries())).status == "Succeeded"
    assert world.names() == {"a"}
    assert world.calls[-1].data.imported.config == {"key": SECRET}
