"""What a secret leaves behind in a run: nothing, in events, results, errors and on disk."""

import base64
import json
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.contract import Fault, JsonObject, Unknown, Verb
from extensor.contract.faults import Failure
from extensor.errors import ExtensorError, OperationFailed, TemplateError

pytestmark = pytest.mark.anyio

SECRET = "Zq'7\\pA\u00e9s/Secret=VALUE99"
PARAMETERS: JsonObject = {
    "s": {"type": "secureString"},
    "o": {"type": "secureObject", "defaultValue": {"user": "someone"}},
}
GIVEN = "parameters('s')"

secrets = st.builds(
    "".join,
    st.lists(
        st.one_of(
            st.text("abcxyzABCXYZ0123456789", min_size=4, max_size=8),
            st.sampled_from(["'", "\\", '"', "/", " ", "\u00e9", "\U0001f600", "[", "]", "{0}", "\n", "; in [", "%"]),
        ),
        min_size=3,
        max_size=6,
    ),
).map(lambda text: f"Q{text}7K4vT")
derived = st.sampled_from(
    [
        GIVEN,
        f"toUpper({GIVEN})",
        f"concat('pre', {GIVEN})",
        f"format('{{0}}-{{0}}', {GIVEN})",
        f"substring({GIVEN}, 1, sub(length({GIVEN}), 1))",
        "parameters('o').key",
        f"first(createArray({GIVEN}))",
    ]
)
uses = st.just("{0}") | st.sampled_from(
    [
        "variables({0})",
        "parameters({0})",
        "reference({0}).x",
        "reference('other')[{0}]",
        "reference('other').text[{0}]",
        "int({0})",
        "bool({0})",
        "json({0})",
        "createObject('a', 1)[{0}]",
        "parameters('o')[{0}]",
        "copyIndex({0})",
        "format(concat('{{9:', {0}, '}}'), 1)",
        "dateTimeAdd('2020-01-01', {0})",
        "substring({0}, 99999, 1)",
        "range(0, length({0}))[99999]",
        "base64ToString({0})",
        "cidrSubnet({0}, 24, 0)",
        "createObject({0}, {0}).zz",
        "utcNow({0})",
    ]
)
places = st.sampled_from(["text", "name", "labels", "items", "property", "secret", "condition", "count", "output"])
told_by_providers = st.sampled_from(["nothing", "code", "message", "path", "identifiers", "plane", "retry", "resource"])


def forms(secret: str) -> set[str]:
    """Spellings in which a secret, or what was made of it, could be read back."""
    found: set[str] = set()
    for text in (secret, secret.upper(), f"pre{secret}", secret[1:]):
        found |= {
            text,
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
            repr(text)[1:-1],
            quote(text),
            base64.b64encode(text.encode()).decode().rstrip("="),
        }
    return found


def written(told: Any) -> str:
    """Whatever was told, as one text: plainly, and as JSON."""

    def plain(item: Any) -> Any:
        if type(item) is Unknown:
            return [item.expression, item.path]
        return asdict(item) if is_dataclass(item) and not isinstance(item, type) else str(item)

    return "\n".join((str(told), json.dumps(told, default=plain), json.dumps(told, default=plain, ensure_ascii=False)))


def template_of(make: Any, place: str, expression: str) -> JsonObject:
    text = f"[{expression}]"
    properties: JsonObject = {"name": "a", "text": "x"}
    more: JsonObject = {}
    entry: JsonObject = {}
    if place in ("text", "name", "secret"):
        properties[place] = text
    elif place == "labels":
        properties["labels"] = {"plain": "x", text: "y", "z": text}
    elif place == "items":
        properties["items"] = ["x", text]
    elif place == "property":
        properties[text] = "x"
    elif place == "condition":
        entry["_condition"] = f"[equals({expression}, 'x')]"
    elif place == "count":
        entry["_copy"] = {"name": "a", "count": text}
    else:
        more["outputs"] = {"o": {"type": "int", "value": text}, "p": {"type": "string", "value": text}}
    name = properties.pop("name")
    return make.template(
        {"other": make.box("other", text="t"), "a": make.box(name, **entry, **properties)},
        parameters=PARAMETERS,
        **more,
    )


def indiscreet(what: str, secret: str) -> Callable[[Verb, Any], None]:
    """A provider that tells a secret in one part of a fault."""

    def before(verb: Verb, data: Any) -> None:
        if verb not in (Verb.SAVE, Verb.PREVIEW_SAVE) or what in ("nothing", "identifiers", "plane"):
            return
        fault = Fault(
            secret if what == "code" else "InvalidProperty",
            f"not {secret}" if what == "message" else "no",
            f"$.properties['{secret}']" if what == "path" else "$.properties.text",
        )
        resource = {"identifiers": {"name": secret}} if what == "resource" else None
        raise OperationFailed.of(Failure((fault,), what == "retry", None, resource, secret))

    return before


@settings(max_examples=70, deadline=None)
@given(secret=secrets, expression=derived, use=uses, place=places, told=told_by_providers, typed=st.booleans())
def test_no_secret_and_nothing_made_of_one_leaves_a_run(
    make: Any,
    make_stack: Callable[[], Any],
    secret: str,
    expression: str,
    use: str,
    place: str,
    told: str,
    typed: bool,
) -> None:
    async def run() -> None:
        stack = make_stack()
        world = stack.world
        if not typed:
            world.types = None
        world.before = indiscreet(told, secret)
        if told == "identifiers":
            world.identify = lambda properties: {"name": properties["name"], "id": secret}
        if told == "plane":
            world.plane = lambda config: secret
        given_values = {"s": secret, "o": {"key": secret, "user": "someone"}}
        source = template_of(make, place, use.format(expression))
        shown: list[Any] = []
        for command in (stack.validate, stack.what_if, stack.deploy, stack.what_if):
            try:
                shown.append(await command(source, given_values))
            except ExtensorError as error:
                shown += [str(error), getattr(error, "faults", ())]
        shown.append(stack.show())
        shown.append(await stack.destroy(given_values))
        text = written([shown, stack.events])
        found = [form for form in forms(secret) if form in text]
        assert not found, text[text.index(found[0]) - 300 :][:500]
        for file in stack.folder.rglob("*"):
            if file.is_file():
                content = file.read_bytes()
                assert not [form for form in forms(secret) if form.encode("utf-8", "surrogatepass") in content], file

    anyio.run(run)


async def test_an_error_of_an_expression_quotes_no_value_made_of_a_secret_and_still_says_what_is_wrong(
    stack, make
) -> None:
    entries = {
        "a": make.box("a", text="[variables(toUpper(parameters('s')))]"),
        "b": make.box("b", text="[int(parameters('s'))]"),
        "c": make.box("c", text="[variables('nope')]"),
    }
    faults = await stack.validate(make.template(entries, parameters=PARAMETERS), {"s": SECRET})
    assert [fault.message.split("; in [")[0] for fault in faults] == [
        "variables(): there is no variable ***",
        "int(): the string is not a 64-bit integer",
        "variables(): there is no variable 'nope'; there are no variables",
    ]
    with pytest.raises(TemplateError) as caught:
        await stack.deploy(make.template({}, parameters={"s": {"type": "secureObject"}}), {"s": 1234567})
    assert "1234567" not in str(caught.value)


async def test_an_identifier_from_a_secret_is_refused_by_every_command_and_shown_by_none(stack, make, world) -> None:
    source = make.template({"a": make.box("[parameters('s')]", text="x")}, parameters=PARAMETERS)
    validated = await stack.validate(source, {"s": SECRET})
    previewed = await stack.what_if(source, {"s": SECRET})
    deployed = await stack.deploy(source, {"s": SECRET})
    assert [fault.code for fault in validated] == ["SecretIdentifier"]
    assert [item.fault.code for item in previewed.faults] == ["SecretIdentifier"]
    assert [item.fault.code for item in deployed.errors] == ["SecretIdentifier"]
    assert world.verbs(Verb.SAVE) == []
    assert not [form for form in forms(SECRET) if form in written([previewed, deployed, stack.events])]


async def test_a_code_that_is_no_word_of_the_protocol_is_told_and_recorded_as_internal_error(
    stack, make, world
) -> None:
    def refuse(verb: Verb, data: Any) -> None:
        raise OperationFailed("no", code="it is <wrong> \u001b[31m")

    world.before = refuse
    result = await stack.deploy(make.template({"a": make.box("a")}))
    assert [item.fault.code for item in result.errors] == ["InternalError"]
    assert stack.show().resources[0].note == "InternalError: no"


async def test_an_identifier_that_only_looks_like_a_secret_is_recorded_whole(stack, make, world) -> None:
    source = make.template(
        {"a": make.box("main-box", secret="[parameters('s')]")}, parameters={"s": {"type": "secureString"}}
    )
    assert (await stack.deploy(source, {"s": "main"})).status == "Succeeded"
    assert stack.show().resources[0].identifiers == {"name": "main-box"}
    assert (await stack.destroy({"s": "main"})).status == "Succeeded"
    assert world.names() == set()


async def test_identifiers_that_a_provider_makes_of_a_secret_are_not_recorded(stack, make, world) -> None:
    world.identify = lambda properties: {"name": properties["name"], "id": SECRET}
    source = make.template({"a": make.box("a", secret="[parameters('s')]")}, parameters=PARAMETERS)
    result = await stack.deploy(source, {"s": SECRET})
    assert [item.fault.code for item in result.errors] == ["SecretIdentifier"]
    assert stack.show().resources[0].identifiers == {"name": "a"}


async def test_a_destruction_tells_the_recorded_identifiers_and_not_those_of_the_answer(stack, make, world) -> None:
    source = make.template({"a": make.box("a", secret="[parameters('s')]")}, parameters=PARAMETERS)
    await stack.deploy(source, {"s": SECRET})
    world.identify = lambda properties: {"name": properties["name"], "id": SECRET}
    stack.events.clear()
    assert (await stack.destroy({"s": SECRET})).status == "Succeeded"
    assert not [form for form in forms(SECRET) if form in written(stack.events)]
