"""What happens to an expression of which a part is not known yet."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from extensor.contract import Json, Unknown, find_unknowns, is_unknown
from extensor.errors import TemplateError
from extensor.template import Scope, parse_template
from extensor.template.refusal import Refusal

A = {"a": {"import": "files", "type": "file@1.0", "properties": {}}}


def open_scope(**members: Any) -> Scope:
    options = {name: members.pop(name) for name in ("given", "reference") if name in members}
    document = {
        "languageVersion": "2.0",
        "imports": {"files": {"provider": "files", "version": "1.0.0"}},
        "resources": A,
        **members,
    }
    return Scope(parse_template(document), options.get("given", {}), reference=options.get("reference"))


def rest(expression: Json, **members: Any) -> str | None:
    found = open_scope(**members).evaluate(expression)
    assert is_unknown(found), f"{found!r} is known"
    return found.expression


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        ("[reference('A')]", "[reference('a')]"),
        ("[reference('a').x.y[0]['a b']]", "[reference('a').x.y[0]['a b']]"),
        ("[toUpper(reference('a').x)]", "[toUpper(reference('a').x)]"),
        ("[length(reference('a').x)]", "[length(reference('a').x)]"),
        ("[format('{0}/{1}', add(1, 2), reference('a').id)]", "[format('{0}/{1}', 3, reference('a').id)]"),
        ("[concat('it''s ', reference('a').x)]", "[concat('it''s ', reference('a').x)]"),
        ("[equals(createObject('k', null()), reference('a'))]", "[equals(createObject('k', null()), reference('a'))]"),
        ("[equals(json('1.5'), reference('a'))]", "[equals(json('1.5'), reference('a'))]"),
        ("[add(2147483648, reference('a').n)]", "[add(json('2147483648'), reference('a').n)]"),
        ("[createArray('x', 'y')[reference('a').n]]", "[createArray('x', 'y')[reference('a').n]]"),
        ("[reference('a')[add(1, 1)]]", "[reference('a')[2]]"),
        ("[variables(reference('a').n)]", "[variables(reference('a').n)]"),
        ("[coalesce(null(), reference('a').x, 'z')]", "[coalesce(reference('a').x, 'z')]"),
        ("[coalesce(null(), reference('a').x)]", "[reference('a').x]"),
        ("[if(reference('a').on, add(1, 1), div(1, 0))]", "[if(reference('a').on, 2, div(1, 0))]"),
        ("[and(true(), reference('a').on)]", "[and(reference('a').on, true())]"),
        ("[or(reference('a').on, equals(div(1, 0), 1))]", "[or(reference('a').on, equals(div(1, 0), 1))]"),
        (
            "[filter(range(0, 2), lambda('i', equals(lambdaVariables('i'), reference('a').n)))]",
            "[filter(createArray(0, 1), lambda('i', equals(lambdaVariables('i'), reference('a').n)))]",
        ),
        (
            "[first(map(createArray('k'), lambda('x', concat(lambdaVariables('x'), reference('a').x))))]",
            "[concat('k', reference('a').x)]",
        ),
    ],
)
def test_a_result_that_is_not_known_keeps_the_text_of_what_is_left(expression: str, left: str) -> None:
    assert rest(expression) == left


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("[if(true(), 1, reference('a').x)]", 1),
        ("[and(false(), reference('a').x)]", False),
        ("[and(reference('a').x, false())]", False),
        ("[or(reference('a').x, true())]", True),
        ("[coalesce('x', reference('a'))]", "x"),
        ("[length(createArray(reference('a'), 2))]", 2),
        ("[createObject('k', reference('a'), 'l', 2).l]", 2),
        ("[last(createArray(reference('a'), 2))]", 2),
        ("[contains(createObject('k', reference('a')), 'K')]", True),
        ("[objectKeys(createObject('b', reference('a'), 'a', 1))]", ["a", "b"]),
        ("[empty(createArray(reference('a')))]", False),
        ("[tryGet(createObject('k', reference('a')), 'z')]", None),
    ],
)
def test_what_does_not_need_the_unknown_is_known(expression: str, known: Json) -> None:
    assert open_scope().evaluate(expression) == known


@pytest.mark.reported("T02")
def test_a_guarded_reference_is_not_evaluated() -> None:
    def refuse(name: str) -> Json:
        raise Refusal(f"the resource '{name}' takes no part")

    scope = open_scope(reference=refuse)
    assert scope.evaluate("[if(false(), reference('a').x, 'none')]") == "none"
    with pytest.raises(TemplateError, match="the resource 'a' takes no part") as caught:
        scope.evaluate({"p": "[reference('a').x]"}, ("resources", "b", "properties"))
    assert caught.value.path == "$.resources.b.properties.p"


def test_structures_keep_what_is_known_and_say_where_the_rest_stands() -> None:
    scope = open_scope(variables={"all": {"x": "[reference('a').x]", "y": 1}})
    found = scope.evaluate({"p": "[createArray(1, reference('a').id)]", "q": "[variables('all')]"}, ("outputs", "o"))
    assert found["p"][0] == 1
    assert found["q"]["y"] == 1
    assert [(path, unknown.expression, unknown.path) for path, unknown in find_unknowns(found)] == [
        (("p", 1), "[reference('a').id]", "$.outputs.o.p"),
        (("q", "x"), "[reference('a').x]", "$.outputs.o.q"),
    ]


def test_a_variable_that_was_not_known_is_evaluated_again_when_it_may_be() -> None:
    values: dict[str, Json] = {}
    scope = open_scope(variables={"v": "[reference('a').x]"}, reference=lambda name: values.get(name, Unknown()))
    assert is_unknown(scope.evaluate("[variables('v')]"))
    values["a"] = {"x": 5}
    assert scope.evaluate("[variables('v')]") == 5


def test_an_unknown_inside_a_referenced_resource_travels_on() -> None:
    scope = open_scope(reference=lambda _: {"id": Unknown("[reference('a').id]"), "name": "n"})
    assert scope.evaluate("[reference('a').name]") == "n"
    found = scope.evaluate("[toLower(reference('a').id)]")
    assert is_unknown(found)
    assert found.expression == "[toLower(reference('a').id)]"


def test_an_unknown_without_text_makes_a_rest_without_text() -> None:
    scope = open_scope(parameters={"p": {"type": "string"}}, given={"p": Unknown()})
    found = scope.evaluate("[concat('a', parameters('p'))]")
    assert is_unknown(found)
    assert found.expression is None


def test_a_rest_that_would_be_too_long_has_no_text() -> None:
    doubling = {
        "v0": "[reference('a').x]",
        **{f"v{n}": f"[concat(variables('v{n - 1}'), variables('v{n - 1}'))]" for n in range(1, 60)},
    }
    assert rest("[variables('v59')]", variables=doubling) is None


def test_a_name_that_is_not_known_makes_the_object_unknown() -> None:
    assert is_unknown(open_scope().evaluate({"[reference('a').x]": 1}))


def test_a_loop_whose_count_is_not_known_is_unknown() -> None:
    found = open_scope().evaluate({"copy": [{"name": "p", "count": "[reference('a').n]", "input": 1}], "q": 2})
    assert is_unknown(found["p"])
    assert found["q"] == 2


# Laws ---------------------------------------------------------------------------------------------------------------

RESOURCE = {"i": 3, "s": "Text", "b": True, "l": [1, "two", None], "o": {"k": 1, "Other": [True]}}


LEAVES = {
    "int": ["1", "0", "-3", "12", "reference('a').i"],
    "text": ["'k'", "'it''s'", "''", "'Text'", "'{'", "reference('a').s"],
    "bool": ["true()", "false()", "reference('a').b"],
    "list": ["createArray()", "reference('a').l"],
    "object": ["createObject()", "reference('a').o"],
    "any": ["null()"],
    "inner": [
        "lambda('x', lambdaVariables('x'))",
        "lambda('x', equals(lambdaVariables('x'), reference('a').i))",
        "lambda('x', createArray(lambdaVariables('x'), reference('a').s))",
        "lambda('x', map(createArray(1), lambda('y', createArray(lambdaVariables('y'), lambdaVariables('x')))))",
    ],
    "test": [
        "lambda('x', equals(lambdaVariables('x'), 1))",
        "lambda('x', equals(lambdaVariables('x'), reference('a').s))",
        "lambda('x', reference('a').b)",
    ],
    "before": ["lambda('x', 'y', less(string(lambdaVariables('x')), string(lambdaVariables('y'))))"],
}
SHAPES = {
    "int": [
        *(f"{name}({{int}}, {{int}})" for name in ("add", "sub", "mul", "div", "mod", "min")),
        "length({text})",
        "length({list})",
        "if({bool}, {int}, {int})",
        "indexOf({text}, {text})",
    ],
    "text": [
        "concat({text}, {text})",
        "format('{{0}}-{{1}}', {any}, {any})",
        "toUpper({text})",
        "string({any})",
        "take({text}, {int})",
        "coalesce(null(), {text}, {text})",
        "join({list}, {text})",
        "if({bool}, {text}, {text})",
    ],
    "bool": [
        "equals({any}, {any})",
        "and({bool}, {bool})",
        "or({bool}, {bool}, {bool})",
        "not({bool})",
        "less({int}, {int})",
        "contains({list}, {any})",
        "contains({text}, {text})",
        "contains({object}, {text})",
        "empty({object})",
    ],
    "list": [
        "createArray({any}, {any})",
        "concat({list}, {list})",
        "map({list}, {inner})",
        "filter({list}, {test})",
        "sort({list}, {before})",
        "skip({list}, {int})",
        "union({list}, {list})",
        "items({object})",
        "flatten(createArray({list}, {list}))",
    ],
    "object": [
        "createObject({text}, {any})",
        "union({object}, {object})",
        "shallowMerge(createArray({object}, {object}))",
        "toObject({list}, lambda('x', string(lambdaVariables('x'))), {inner})",
    ],
    "any": ["{int}", "{text}", "{bool}", "{list}", "{object}", "tryGet({object}, {text})", "first({list})"],
}


def expression_of(choices: bytes, kind: str = "any") -> str:
    """An expression that is right in its types, one choice a byte; leaves where the choices end."""
    left = iter(choices)

    def one(kind: str, depth: int) -> str:
        choice = next(left, None)
        if choice is None or depth > 6 or kind not in SHAPES:
            return LEAVES[kind][(choice or 0) % len(LEAVES[kind])]
        options = [*SHAPES[kind], *LEAVES[kind]]
        shape = options[choice % len(options)]
        if shape in LEAVES[kind]:
            return shape
        parts = {name: Hole(lambda name=name: one(name, depth + 1)) for name in LEAVES}
        return shape.format_map(parts)

    return one(kind, 0)


class Hole:
    """Filled anew at each place of a shape that names it."""

    def __init__(self, fill: Callable[[], str]) -> None:
        self.fill = fill

    def __format__(self, _: str) -> str:
        return self.fill()


expressions = st.binary(max_size=40).map(expression_of)


PLAIN = parse_template(
    {
        "languageVersion": "2.0",
        "imports": {"files": {"provider": "files", "version": "1.0.0"}},
        "resources": A,
    }
)


def outcome(expression: str, reference: Callable[[str], Json]) -> tuple[bool, Json]:
    try:
        return True, Scope(PLAIN, reference=reference).evaluate(expression)
    except TemplateError as error:
        return False, str(error)


def filled(value: Json) -> Json:
    if is_unknown(value):
        assume(value.expression is not None)  # too long to be written
        worked, found = outcome(value.expression, lambda _: RESOURCE)
        if not worked:
            raise LookupError(found)
        return found
    if isinstance(value, list):
        return [filled(item) for item in value]
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    return value


@given(expressions)
@settings(max_examples=600)
def test_evaluating_in_two_steps_gives_what_one_step_gives(expression: str) -> None:
    worked, whole = outcome(f"[{expression}]", lambda _: RESOURCE)
    partly_worked, partly = outcome(f"[{expression}]", lambda _: Unknown())
    if not partly_worked:
        assert not worked, f"only the preview fails: {partly}"
    elif worked:
        assert repr(filled(partly)) == repr(whole)


SECRET = "hunter2 and more"


@given(expressions)
@settings(max_examples=300)
def test_no_text_that_is_left_holds_a_secret(expression: str) -> None:
    text = expression.replace("'k'", "parameters('pw')").replace("'Text'", "variables('coded')")
    scope = open_scope(
        parameters={"pw": {"type": "securestring"}},
        variables={"coded": "[base64(parameters('pw'))]"},
        given={"pw": SECRET},
    )
    failure = ""
    found: Json = None
    try:
        found = scope.evaluate(f"[{text}]")
    except TemplateError as error:
        failure = str(error)
    assert SECRET not in failure
    coded = base64.b64encode(SECRET.encode()).decode()
    for _, unknown in find_unknowns(found):
        for hidden in (SECRET, SECRET.upper(), coded, coded.upper()):
            assert unknown.expression is None or hidden not in unknown.expression


def test_what_is_left_names_the_secure_parameter() -> None:
    scope = open_scope(
        parameters={"pw": {"type": "secureString"}},
        variables={"both": "[format('{0}:{1}', base64(parameters('pw')), 7)]"},
        given={"pw": SECRET},
    )
    found = scope.evaluate("[concat(variables('both'), reference('a').x)]")
    assert is_unknown(found)
    assert found.expression == "[concat(format('{0}:{1}', base64(parameters('pw')), 7), reference('a').x)]"


def test_a_scope_without_secrets_keeps_their_names(scope: Callable[..., Scope]) -> None:
    made = scope(
        parameters={"pw": {"type": "securestring"}, "user": {"type": "string"}},
        given={"pw": SECRET, "user": "ann"},
        secure_as_unknown=True,
        imports={
            "files": {
                "provider": "files",
                "version": "1",
                "config": {"p": "[parameters('PW')]", "u": "[parameters('user')]"},
            }
        },
    )
    config = made.evaluate_config("files")
    assert config["p"].expression == "[parameters('pw')]"
    assert config["u"] == "ann"
    assert made.secrets() == [SECRET]


def test_secrets_are_every_text_and_number_in_secure_values_given_or_by_default(scope: Callable[..., Scope]) -> None:
    made = scope(
        parameters={
            "a": {"type": "secureObject"},
            "b": {"type": "securestring", "defaultValue": "[concat('de', 'fault')]"},
            "c": {"type": "string", "defaultValue": "shown"},
            "d": {"type": "securestring", "defaultValue": "[div(1, 0)]"},
        },
        given={"a": {"user": "u", "keys": ["k1", 5, ""]}},
    )
    assert made.secrets() == ["u", "k1", "5", "default"]
