"""Declared parameters, given values, parameter files."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from extensor.contract import Json
from extensor.errors import TemplateError
from extensor.template import Scope, check_parameters, load_parameters, parse_template


def declared(**parameters: dict[str, Any]) -> dict[str, Any]:
    return {"resources": [], "parameters": parameters}


def faults(given: dict[str, Json], **parameters: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(str(fault.code), fault.path) for fault in check_parameters(parse_template(declared(**parameters)), given)]


@pytest.mark.reported("T13")
def test_defaults_are_resolved_by_need_in_any_order(value: Callable[..., Json]) -> None:
    chain = {
        "c": {"type": "string", "defaultValue": "[concat(parameters('b'), '-c', variables('v'))]"},
        "b": {"type": "string", "defaultValue": "[concat(parameters('A'), '-b')]"},
        "a": {"type": "string"},
    }
    variables = {"v": "[toUpper(parameters('b'))]"}
    assert value("[parameters('c')]", parameters=chain, variables=variables, given={"a": "x"}) == "x-b-cX-B"


@pytest.mark.reported("T13")
def test_a_circle_of_defaults_and_variables_is_named(value: Callable[..., Json]) -> None:
    with pytest.raises(TemplateError, match=re.escape("in a circle: One -> two -> three -> One")) as caught:
        value(
            "[parameters('one')]",
            parameters={
                "One": {"type": "string", "defaultValue": "[variables('two')]"},
                "three": {"type": "string", "defaultValue": "[parameters('one')]"},
            },
            variables={"two": "[concat(parameters('three'))]"},
        )
    assert caught.value.path == "$.parameters.One"


def test_a_value_that_is_not_needed_is_not_evaluated(value: Callable[..., Json]) -> None:
    bad = {"bad": {"type": "string", "defaultValue": "[div(1, 0)]"}}
    assert value("[if(true(), 1, parameters('bad'))]", parameters=bad) == 1


def test_a_failing_default_names_its_own_place(value: Callable[..., Json]) -> None:
    with pytest.raises(TemplateError, match="division by zero") as caught:
        value("[parameters('p')]", parameters={"p": {"type": "int", "defaultValue": "[div(1, 0)]"}})
    assert caught.value.path == "$.parameters.p.defaultValue"


def test_a_default_must_fit_its_own_declaration(value: Callable[..., Json]) -> None:
    with pytest.raises(TemplateError, match="an integer is due here, not a string") as caught:
        value("[parameters('p')]", parameters={"p": {"type": "int", "defaultValue": "[concat('a')]"}})
    assert caught.value.path == "$.parameters.p.defaultValue"


@pytest.mark.parametrize("length", [60, 400, 1500])
def test_a_long_chain_of_variables_is_no_trouble(value: Callable[..., Json], length: int) -> None:
    chain = {"v0": "x", **{f"v{n}": f"[concat(variables('v{n - 1}'), 'y')]" for n in range(1, length)}}
    assert value(f"[length(variables('v{length - 1}'))]", variables=chain) == length


def test_the_first_fault_of_a_long_chain_is_the_one_that_is_told(value: Callable[..., Json]) -> None:
    chain = {"v0": "[div(1, 0)]", **{f"v{n}": f"[concat(variables('v{n - 1}'), 'y')]" for n in range(1, 300)}}
    with pytest.raises(TemplateError, match="division by zero") as caught:
        value("[variables('v299')]", variables=chain)
    assert caught.value.path == "$.variables.v0"


@pytest.mark.reported("T16")
def test_all_faults_of_the_given_values_are_told_at_once() -> None:
    given: dict[str, Json] = {"nmae": "x", "count": 3.14, "kind": "yelow", "tags": {"a": 1}, "list": []}
    template = parse_template(
        declared(
            name={"type": "string"},
            count={"type": "int"},
            kind={"type": "string", "allowedValues": ["red", "yellow"]},
            tags={"type": "object", "additionalProperties": {"type": "string"}},
            list={"type": "array", "minLength": 1},
        )
    )
    with pytest.raises(TemplateError) as caught:
        Scope(template, given)
    assert [(fault.path, fault.message) for fault in caught.value.faults] == [
        ("$.parameters.nmae", "the template has no parameter 'nmae'; did you mean 'name'?"),
        ("$.parameters.count", "an integer is due here, not a number with a fraction"),
        ("$.parameters.kind", "only these values are allowed: 'red', 'yellow'; did you mean 'yellow'?"),
        ("$.parameters.tags.a", "a string is due here, not an integer"),
        ("$.parameters.list", "at least 1 elements due, not 0"),
        ("$.parameters.name", "the parameter 'name' has no value and no default; give it one"),
    ]
    assert "6 faults:" in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        ("string", "", 1),
        ("securestring", "x", {}),
        ("int", -(2**63), True),
        ("bool", False, 0),
        ("object", {}, []),
        ("secureObject", {"a": None}, "x"),
        ("array", [1, "a"], {}),
        ("String", "x", None),
    ],
)
def test_each_type_takes_its_own_values(type_: str, good: Json, bad: Json) -> None:
    assert faults({"p": good}, p={"type": type_}) == []
    assert faults({"p": bad}, p={"type": type_}) == [("InvalidProperty", "$.parameters.p")]


@pytest.mark.parametrize(
    ("schema", "good", "bad", "path"),
    [
        ({"type": "int", "minValue": 1, "maxValue": 3}, [1, 3], [0, 4], "$.parameters.p"),
        ({"type": "string", "minLength": 1, "maxLength": 2}, ["a", "ab"], ["", "abc"], "$.parameters.p"),
        ({"type": "int", "allowedValues": [1, 2]}, [1, 2], [3], "$.parameters.p"),
        ({"type": "array", "allowedValues": ["a", "b"]}, [["a"], ["b", "a"], []], [["c"]], "$.parameters.p"),
        ({"type": "string", "nullable": True}, [None, "x"], [1], "$.parameters.p"),
        ({"type": "array", "items": {"type": "int"}}, [[], [1]], [[1, "a"]], None),
        ({"type": "array", "prefixItems": [{"type": "int"}], "items": False}, [[1]], [[], [1, 2]], None),
        (
            {"type": "object", "properties": {"a": {"type": "int"}}, "additionalProperties": False},
            [{"a": 1}, {"A": 1}],
            [{}, {"a": "x"}, {"a": 1, "b": 2}],
            None,
        ),
        ({"$ref": "#/definitions/tree"}, [{"next": None}, {"next": {"next": {}}}], [{"next": 1}, 5], None),
        (
            {
                "type": "object",
                "discriminator": {
                    "propertyName": "kind",
                    "mapping": {"a": {"type": "object", "properties": {"x": {"type": "int"}}}},
                },
            },
            [{"kind": "a", "x": 1}],
            [{"kind": "b"}, {}, {"kind": "a"}],
            None,
        ),
        ({}, [None, 1, {"any": []}], [], None),
    ],
)
def test_declarations_are_kept(schema: dict[str, Any], good: list[Json], bad: list[Json], path: str | None) -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/definitions/tree", "nullable": True}}}
    template = parse_template({**declared(p=schema), "definitions": {"tree": tree}})
    for one in good:
        assert check_parameters(template, {"p": one}) == []
    for one in bad:
        found = check_parameters(template, {"p": one})
        assert len(found) == 1
        assert path is None or found[0].path == path


def test_a_null_takes_the_default_and_a_nullable_parameter_needs_none(value: Callable[..., Json]) -> None:
    parameters = {
        "a": {"type": "string", "defaultValue": "d"},
        "b": {"type": "string", "nullable": True},
        "c": {"type": "string", "nullable": True},
    }
    found = value(
        ["[parameters('a')]", "[parameters('b')]", "[parameters('c')]"],
        parameters=parameters,
        given={"a": None, "b": None},
    )
    assert found == ["d", None, None]


def test_names_do_not_mind_letter_case() -> None:
    assert faults({"NAME": "x"}, name={"type": "string"}) == []
    assert faults({"NAME": "x", "name": "y"}, name={"type": "string"}) == [("InvalidProperty", "$.parameters.name")]


def test_a_given_value_is_no_expression(value: Callable[..., Json]) -> None:
    assert value("[parameters('p')]", parameters={"p": {"type": "string"}}, given={"p": "[div(1, 0)]"}) == "[div(1, 0)]"


def test_no_fault_shows_a_secret() -> None:
    template = parse_template(declared(p={"type": "securestring", "maxLength": 3, "allowedValues": ["abc"]}))
    assert "hunter" not in str(check_parameters(template, {"p": "hunter2"}))


SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#"


def test_a_parameter_file_gives_its_values() -> None:
    text = '{"$schema": "%s", "contentVersion": "1.0.0.0", "parameters": {"a": {"value": [1]}, "b": {"value": null}}}'
    assert load_parameters(text % SCHEMA) == {"a": [1], "b": None}


def test_a_bare_object_of_values_will_do() -> None:
    assert load_parameters({"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    ("content", "path", "says"),
    [
        (
            {"parameters": {"a": {"reference": {}}}},
            "$.parameters.a.reference",
            "key vault references are not supported",
        ),
        ({"parameters": {"a": {"expression": "[x()]"}}}, "$.parameters.a.expression", "expressions are not supported"),
        ({"parameters": {"a": {"valeu": 1}}}, "$.parameters.a.valeu", "did you mean 'value'?"),
        ({"parameters": {"a": {}}}, "$.parameters.a", "no 'value'"),
        ({"parameters": {"a": 1}}, "$.parameters.a", "an object is due here"),
        ({"$schema": "https://x/deploymentTemplate.json#", "parameters": {}}, "$['$schema']", "this is a template"),
        ({"$schema": SCHEMA, "parameter": {}}, "$.parameter", "did you mean 'parameters'?"),
    ],
)
def test_a_wrong_parameter_file_is_named_with_its_place(content: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)) as caught:
        load_parameters(content)
    assert caught.value.path == path
