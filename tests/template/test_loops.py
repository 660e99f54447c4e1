"""Copy loops: of resources, properties, variables and outputs."""

from collections.abc import Callable

import pytest

from extensor.contract import Json, Unknown, is_unknown
from extensor.errors import TemplateError
from extensor.template import CopyContext, Scope

LOOP = {
    "r": {
        "import": "files",
        "type": "file@1.0",
        "copy": {"name": "rs", "count": "[length(variables('names'))]"},
        "condition": "[not(equals(copyIndex(), 1))]",
        "properties": {
            "path": "[variables('names')[copyIndex()]]",
            "offset": "[copyIndex(10)]",
            "named": "[copyIndex('RS', 1)]",
            "copy": [
                {
                    "name": "inner",
                    "count": 2,
                    "input": {
                        "own": "[copyIndex('inner')]",
                        "outer": "[copyIndex()]",
                        "copy": [
                            {"name": "deep", "count": "[add(copyIndex('inner'), 1)]", "input": "[copyIndex('deep')]"}
                        ],
                    },
                }
            ],
        },
    }
}
NAMES = {"names": ["a", "b", "c"]}


def test_a_resource_loop_gives_one_context_an_element(scope: Callable[..., Scope]) -> None:
    made = scope(resources=LOOP, variables=NAMES)
    declared = made.template.resources["r"]
    assert made.copy_count(declared) == 3
    loops = made.loops(declared)
    assert loops == [CopyContext("rs", 0), CopyContext("rs", 1), CopyContext("rs", 2)]
    assert [made.evaluate_condition(declared, loop=loop) for loop in loops] == [True, False, True]
    assert made.evaluate_properties(declared, loop=loops[2]) == {
        "path": "c",
        "offset": 12,
        "named": 3,
        "inner": [{"own": 0, "outer": 2, "deep": [0]}, {"own": 1, "outer": 2, "deep": [0, 1]}],
    }


def test_a_resource_without_a_loop_has_no_count(scope: Callable[..., Scope]) -> None:
    made = scope(resources={"r": {"import": "files", "type": "file@1.0"}})
    assert made.copy_count(made.template.resources["r"]) is None
    with pytest.raises(ValueError, match="r has no loop"):
        made.loops(made.template.resources["r"])


def test_a_count_that_is_not_known_is_unknown(scope: Callable[..., Scope]) -> None:
    made = scope(
        resources={
            "a": {"import": "files", "type": "file@1.0"},
            "r": {"import": "files", "type": "file@1.0", "copy": {"name": "r", "count": "[reference('a').n]"}},
        },
        outputs={"o": {"type": "array", "value": "[references('r')]"}},
    )
    assert is_unknown(made.loops(made.template.resources["r"]))
    found = made.outputs()["o"]
    assert isinstance(found, Unknown)
    assert found.expression == "[references('r')]"


@pytest.mark.parametrize("count", ["[sub(0, 1)]", "[concat('a')]", "[true()]", "[100001]"])
def test_a_count_must_be_sensible(scope: Callable[..., Scope], count: str) -> None:
    made = scope(resources={"r": {"import": "files", "type": "file@1.0", "copy": {"name": "r", "count": count}}})
    with pytest.raises(TemplateError, match="an integer from 0 to 100000") as caught:
        made.copy_count(made.template.resources["r"])
    assert caught.value.path == "$.resources.r.copy.count"


def test_a_variable_loop_gives_an_array(value: Callable[..., Json]) -> None:
    loop = {"copy": [{"name": "Squares", "count": 3, "input": "[mul(copyIndex('squares'), copyIndex())]"}]}
    assert value("[variables('squares')]", variables=loop) == [0, 1, 4]


def test_a_loop_inside_a_variable_gives_a_property(value: Callable[..., Json]) -> None:
    nested = {"v": {"copy": [{"name": "p", "count": 2, "input": {"i": "[copyIndex('p')]"}}], "q": 1}}
    assert value("[variables('v')]", variables=nested) == {"p": [{"i": 0}, {"i": 1}], "q": 1}


def test_an_output_loop_gives_an_array_and_a_false_condition_no_output(scope: Callable[..., Scope]) -> None:
    made = scope(
        outputs={
            "all": {"type": "array", "copy": {"count": 2, "input": "[format('n{0}', copyIndex())]"}},
            "none": {"type": "string", "condition": "[equals(1, 2)]", "value": "[div(1, 0)]"},
        }
    )
    assert made.outputs() == {"all": ["n0", "n1"]}


def test_an_output_must_fit_its_type(scope: Callable[..., Scope]) -> None:
    made = scope(outputs={"o": {"type": "int", "value": "[concat('a')]"}})
    with pytest.raises(TemplateError, match="an integer is due here, not a string") as caught:
        made.outputs()
    assert caught.value.path == "$.outputs.o.value"


def test_a_property_called_copy_is_written_by_an_expression(value: Callable[..., Json]) -> None:
    assert value({"[string('copy')]": [1], "x": {"copy": "text"}}) == {"copy": [1], "x": {"copy": "text"}}


@pytest.mark.parametrize(
    ("members", "path", "says"),
    [
        ({"copy": [{"name": "p", "count": 1}]}, "$.copy[0]", "'name', 'count' and 'input'"),
        ({"copy": [{"name": "", "count": 1, "input": 1}]}, "$.copy[0].name", "a literal string"),
        ({"p": 1, "copy": [{"name": "p", "count": 1, "input": 1}]}, "$.copy[0].name", "another property 'p'"),
        ({"copy": [{"name": "p", "count": "[div(1, 0)]", "input": 1}]}, "$.copy[0].count", "division by zero"),
        ({"copy": [{"name": "p", "count": 1, "input": ["[div(1, 0)]"]}]}, "$.copy[0].input[0]", "division by zero"),
        ({"a": 1, "[concat('a')]": 2}, "$['[concat(\\'a\\')]']", "'a' stands twice"),
        ({"[add(1, 1)]": 2}, "$['[add(1, 1)]']", "a name must be a string"),
    ],
)
def test_a_wrong_loop_or_name_is_named_with_its_place(
    value: Callable[..., Json], members: Json, path: str, says: str
) -> None:
    with pytest.raises(TemplateError, match=says) as caught:
        value(members)
    assert caught.value.path == path


@pytest.mark.reported("T21")
def test_one_bracket_is_taken_off_a_level(value: Callable[..., Json]) -> None:
    nested = {"template": {"outputs": {"o": "[[concat('a', 'b')]", "p": "[[[[x]"}, "[[k]": "[x"}}
    assert value(nested) == {"template": {"outputs": {"o": "[concat('a', 'b')]", "p": "[[[x]"}, "[k]": "[x"}}
