"""Which resources wait for which, and what `reference` gives."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from extensor.contract import Json
from extensor.errors import TemplateError
from extensor.template import ReferenceExpr, Scope, check_template, references_of
from extensor.template.refusal import Refusal


def file(**members: Any) -> dict[str, Any]:
    return {"import": "files", "type": "file@1.0", "properties": {}, **members}


RESOURCES: dict[str, Any] = {
    "one": file(),
    "many": file(copy={"name": "loopName", "count": 3}),
    "parent::child": file(),
    "user": file(),
}
VARIABLES = {"v": "[variables('w')]", "w": {"deep": ["[reference('one').x]"]}}


def waits_for(
    scope: Callable[..., Scope], properties: Json = None, depends_on: list[str] | None = None, **more: Any
) -> set[str]:
    user = file(properties=properties or {}, dependsOn=depends_on or [], **more)
    made = scope(resources={**RESOURCES, "user": user}, variables=VARIABLES)
    declared = made.template.resources["user"]
    loops = made.loops(declared) if "copy" in more else [None]
    assert isinstance(loops, list)
    return made.dependencies(declared, loop=loops[-1])


@pytest.mark.parametrize(
    ("depends_on", "due"),
    [
        (["one"], {"one"}),
        (["ONE", "one"], {"one"}),
        (["many"], {"many"}),
        (["LoopName"], {"many"}),
        (["[format('many[{0}]', add(1, 1))]"], {"many[2]"}),
        (["Many[0]"], {"many[0]"}),
        (["parent::child"], {"parent::child"}),
        (["[concat('o', 'ne')]"], {"one"}),
    ],
)
def test_declared_dependencies_are_found_in_any_form_and_letter_case(
    scope: Callable[..., Scope], depends_on: list[str], due: set[str]
) -> None:
    assert waits_for(scope, depends_on=depends_on) == due


@pytest.mark.parametrize(
    ("properties", "due"),
    [
        ({"a": {"b": ["[reference('one').x]"]}}, {"one"}),
        ({"[reference('one').x]": 1}, {"one"}),
        ({"a": "[variables('v')]"}, {"one"}),
        ({"a": "[if(false(), reference('ONE').x, 1)]"}, {"one"}),
        ({"a": "[references('many')]"}, {"many"}),
        ({"a": "[reference('many[1]').x]"}, {"many[1]"}),
        ({"a": "[reference(format('many[{0}]', 2)).x]"}, {"many[2]"}),
        ({"a": "[map(range(0, 2), lambda('i', reference(format('many[{0}]', lambdaVariables('i'))).x))]"}, {"many"}),
        ({"a": "[reference(format('many[{0}]', reference('one').n)).x]"}, {"many", "one"}),
        (
            {"copy": [{"name": "p", "count": 2, "input": "[reference(format('many[{0}]', copyIndex('p'))).x]"}]},
            {"many"},
        ),
        ({"a": "[[reference('one')]"}, set[str]()),
        ({"a": "reference('one')"}, set[str]()),
    ],
)
def test_what_the_properties_read_is_a_dependency(scope: Callable[..., Scope], properties: Json, due: set[str]) -> None:
    assert waits_for(scope, properties) == due


def test_each_element_of_a_loop_waits_for_its_own(scope: Callable[..., Scope]) -> None:
    own = {"a": "[reference(format('many[{0}]', copyIndex())).x]"}
    assert waits_for(scope, own, copy={"name": "user", "count": 3}) == {"many[2]"}
    depends_on = ["[format('many[{0}]', sub(copyIndex(), 1))]"]
    assert waits_for(scope, depends_on=depends_on, copy={"name": "user", "count": 2}) == {"many[0]"}


def test_the_condition_and_the_loop_count_read_resources_too(scope: Callable[..., Scope]) -> None:
    assert waits_for(scope, condition="[equals(reference('one').x, 1)]") == {"one"}


@pytest.mark.parametrize(
    ("depends_on", "properties", "path", "says"),
    [
        (["onee"], {}, "$.resources.user.dependsOn[0]", "there is no resource 'onee'; did you mean 'one'?"),
        (["one[0]"], {}, "$.resources.user.dependsOn[0]", "'one' has no loop; name it without '[0]'"),
        (["[concat('x'"], {}, "$.resources.user.dependsOn[0]", "there is no resource"),
        (["[concat('x']"], {}, "$.resources.user.dependsOn[0]", "',' or ')' is due"),
        ([], {"a": "[reference('two')]"}, "$.resources.user.properties", "there is no resource 'two'"),
        ([], {"a": "[reference(reference('one').n)]"}, "$.resources.user.properties", "name it by a literal string"),
    ],
)
def test_a_dependency_on_nothing_is_named_with_its_place(
    scope: Callable[..., Scope], depends_on: list[str], properties: Json, path: str, says: str
) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)) as caught:
        waits_for(scope, properties, depends_on)
    assert caught.value.path == path


def test_references_of_a_value_are_names_or_expressions() -> None:
    found = references_of({"a": ["[reference('x').y]", "[reference(format('l[{0}]', copyIndex()))]"], "b": "[concat("})
    assert "x" in found
    (expression,) = found - {"x"}
    assert isinstance(expression, ReferenceExpr)
    assert (expression.symbol, expression.text) == ("l", "format('l[{0}]', copyIndex())")


# What reference() gives -----------------------------------------------------------------------------------------------


def read(scope: Callable[..., Scope], expression: str) -> Json:
    def reference(name: str) -> Json:
        return {"name": name}

    return scope(resources=RESOURCES, reference=reference).evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("[reference('ONE').name]", "one"),
        ("[reference('many[1]').Name]", "many[1]"),
        ("[reference(format('LOOPNAME[{0}]', 2)).name]", "many[2]"),
        ("[map(references('many'), lambda('r', lambdaVariables('r').name))]", ["many[0]", "many[1]", "many[2]"]),
        (
            "[reference('one', '1.0', 'full')]",
            {"type": "file", "apiVersion": "1.0", "properties": {"name": "one"}},
        ),
        ("[references('many', 'full')[0].properties.name]", "many[0]"),
    ],
)
def test_reference_asks_for_the_resource_by_its_declared_name(
    scope: Callable[..., Scope], expression: str, due: Json
) -> None:
    assert read(scope, expression) == due


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("[reference('many')]", "is a loop; use references('many')"),
        ("[reference('many[3]')]", "'many[3]' is outside the loop 'many' of 3 elements"),
        ("[references('one')]", "'one' is a single resource; use reference('one')"),
        ("[reference('one[0]')]", "has no loop"),
        ("[reference('one', '1.0', 'half')]", "may only be 'full'"),
        ("[reference('one').nam]", "did you mean 'name'?"),
    ],
)
def test_a_wrong_reference_says_what_to_write(scope: Callable[..., Scope], expression: str, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)):
        read(scope, expression)


def test_resolve_understands_names_in_any_letter_case(scope: Callable[..., Scope]) -> None:
    made = scope(resources=RESOURCES)
    assert (str(made.resolve("MANY[2]")), made.resolve("MANY[2]").index) == ("many[2]", 2)
    with pytest.raises(Refusal, match="did you mean 'parent::child'"):
        made.resolve("parent::chil")


# Checks before anything is evaluated ----------------------------------------------------------------------------------


def test_all_faults_of_all_expressions_are_told_with_their_places(scope: Callable[..., Scope]) -> None:
    template = scope(
        parameters={"p": {"type": "string", "defaultValue": "[toUper('x')]"}},
        variables={"v": ["[concat('a'", "[concat('a']"], "w": {"[parameters('q')]": 1}},
        functions=[
            {
                "namespace": "my",
                "members": {
                    "f": {
                        "parameters": [{"name": "x", "type": "int"}],
                        "output": {"type": "int", "value": "[parameters('p')]"},
                    }
                },
            }
        ],
        resources={
            "r": file(
                properties={
                    "a": "[my.f()]",
                    "b": "[reference('s').x]",
                    "c": "[if(true(), 1)]",
                    "d": "[variables('V')]",
                },
                dependsOn=["R", "t"],
            )
        },
        outputs={"o": {"type": "string", "value": "[my.g(variables('x'))]"}},
    ).template
    assert [fault.path for fault in check_template(template)] == [
        "$.parameters.p.defaultValue",
        "$.variables.v[1]",
        "$.variables.w['[parameters(\\'q\\')]']",
        "$.functions[0].members.f.output.value",
        "$.resources.r.properties.a",
        "$.resources.r.properties.b",
        "$.resources.r.properties.c",
        "$.outputs.o.value",
        "$.outputs.o.value",
        "$.resources.r.dependsOn[1]",
    ]
