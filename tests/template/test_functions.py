"""What the functions give, family by family, beyond the recorded vectors."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import Json
from extensor.errors import TemplateError
from extensor.template import Scope, parse_template
from extensor.template.functions import FUNCTIONS
from extensor.template.functions.hashes import guid, unique_string
from extensor.template.parser import quote

EMPTY = Scope(parse_template({"resources": []}))


def run(expression: str) -> Json:
    return EMPTY.evaluate(f"[{expression}]")


def typed(found: Json) -> tuple[type, Json]:
    return type(found), found


@pytest.mark.reported("T16")
@pytest.mark.parametrize(
    ("expression", "due"),
    [
        # strings
        ("concat('a', 1, true())", "a1True"),
        ("toUpper('straße')", "STRAßE"),
        ("trim(' \u00a0x\u2003')", "x"),
        ("split('a,b;c', createArray(',', ';'))", ["a", "b", "c"]),
        ("split('abc', '')", ["abc"]),
        ("replace('aaa', 'a', 'b')", "bbb"),
        ("padLeft(7, 3, '0')", "007"),
        ("padLeft('long', 2)", "long"),
        ("like('A[1].txt', 'a[1].*')", True),
        ("like('abc', 'a?')", False),
        ("substring('abc', 3)", ""),
        ("indexOf('', '')", 0),
        ("join(createArray(1, true(), null(), 'x', createObject('a', 1)), ',')", '1,True,,x,{"a":1}'),
        # format
        ("format('{0}{1}', true(), null())", "True"),
        ("format('{0}', createObject('a', 'b', '!c', 2))", "{'a':'b','!c':2}"),
        ("format('{0}', createArray(true(), 2893, 'abc', null()))", "[true,2893,'abc',null]"),
        ("format('{0}', createArray('it''s \"x\"'))", "['it\\'s \"x\"']"),
        ("format('{{{0}}}', 1)", "{1}"),
        ("format('|{0,5}|{0,-5}|', 'ab')", "|   ab|ab   |"),
        ("format('{0:x}{0:X4}', 255)", "ff00FF"),
        ("format('{0:D5}', -42)", "-00042"),
        ("format('{0:N0} {0:N2}', 1234567)", "1,234,567 1,234,567.00"),
        ("format('{0:F1}', json('2.25'))", "2.2"),
        ("format('{0:000.0#}', json('7.5'))", "007.5"),
        ("format('{0:#,##0}', 1234567)", "1,234,567"),
        ("format('{0:x}', -1)", "ffffffffffffffff"),
        ("format('{0:x}', 'text')", "text"),
        # conversion
        ("string(true())", "True"),
        ("string(null())", ""),
        ("string(json('1.5'))", "1.5"),
        ("string(createArray('ä', 1))", '["ä",1]'),
        ("int(' 12 ')", 12),
        ("int('-9223372036854775808')", -(2**63)),
        ("int(json('3.0'))", 3),
        ("float('1.5')", 1.5),
        ("bool('FALSE')", False),
        ("bool('0')", False),
        ("bool(2)", True),
        ("json('{''a'': ''it\\''s'', \"b\": \"x''y\"}')", {"a": "it's", "b": "x'y"}),
        ("json('9007199254740993')", 2**53 + 1),
        ("json('')", None),
        ("base64ToJson(base64('[1]'))", [1]),
        ("dataUriToString('data:text/plain,a%20b')", "a b"),
        # numbers
        ("div(-7, 2)", -3),
        ("div(7, -2)", -3),
        ("mod(-7, 2)", -1),
        ("mod(7, -2)", 1),
        ("add(4611686018427387904, 4611686018427387903)", 2**63 - 1),
        ("mul(4294967296, 2147483647)", 2**63 - 2**32),
        ("sub(0, 2147483648)", -(2**31)),
        # logic
        ("equals(1, true())", False),
        ("equals(createArray(1), createArray(true()))", False),
        ("equals(1, json('1.0'))", True),
        ("equals(null(), null())", True),
        ("less(json('1.5'), 2)", True),
        ("if(false(), div(1, 0), 'fine')", "fine"),
        ("and(false(), equals(div(1, 0), 1))", False),
        ("or(true(), equals(div(1, 0), 1))", True),
        ("coalesce(null(), 1, div(1, 0))", 1),
        # arrays
        ("first(createArray())", None),
        ("last('')", ""),
        ("take('abc', -1)", ""),
        ("skip(createArray(1, 2), 5)", []),
        ("distinct(createArray(1, true(), json('1.0'), '1', createArray(1), createArray(1)))", [1, True, "1", [1]]),
        ("union(createArray(1, 2), createArray(2, 3), createArray())", [1, 2, 3]),
        ("flatten(createArray(createArray(1, createArray(2)), createArray()))", [1, [2]]),
        ("contains(createArray('A'), 'a')", False),
        ("contains('ABC', 'b')", False),
        ("contains(createObject('Key', 1), 'kEY')", True),
        ("range(-1, 3)", [-1, 0, 1]),
        ("lastIndexOf(createArray(1, 2, 1), 1)", 2),
        ("intersection(createArray(3, 1, 2), createArray(1, 3))", [3, 1]),
        ("max(createArray(1, 5, 3))", 5),
        # objects
        (
            "union(createObject('a', createObject('x', 1)), createObject('A', createObject('y', 2), 'b', 1))",
            {"a": {"x": 1, "y": 2}, "b": 1},
        ),
        ("shallowMerge(createArray(createObject('a', 1), createObject('A', 2)))", {"a": 2}),
        (
            "items(createObject('def', 1, 'ABC', 2, 'abc', 3, 'DEF', 4))",
            [{"key": key, "value": n} for key, n in (("ABC", 2), ("abc", 3), ("def", 1), ("DEF", 4))],
        ),
        ("objectKeys(createObject('b', 1, 'A', 2))", ["A", "b"]),
        ("tryGet(createObject('a', createObject('b', 1)), 'A', 'B')", 1),
        ("tryGet(null(), 'a')", None),
        ("tryGet(createObject(), 'a', 'b')", None),
        ("tryGet(createArray(1, createArray(5, 6)), 1, createObject('value', 1, 'fromEnd', true()))", 6),
        ("indexFromEnd(createArray(1, 2, 3), 1)", 3),
        ("tryIndexFromEnd(createArray(1, 2, 3), 0)", None),
        ("createObject('a', 1).A", 1),
        # lambdas
        ("map(createArray('a'), lambda('x', 'i', concat(lambdaVariables('x'), string(lambdaVariables('i')))))", ["a0"]),
        ("filter(range(0, 5), lambda('x', 'i', equals(mod(lambdaVariables('i'), 2), 0)))", [0, 2, 4]),
        ("reduce(createArray(), 7, lambda('a', 'b', 1))", 7),
        ("reduce(range(5, 3), 1, lambda('a', 'b', 'i', add(lambdaVariables('a'), lambdaVariables('i'))))", 4),
        ("sort(createArray(3, 1, 2), lambda('a', 'b', less(lambdaVariables('a'), lambdaVariables('b'))))", [1, 2, 3]),
        ("toObject(createArray('a', 'b', 'a'), lambda('x', lambdaVariables('x')))", {"a": "a", "b": "b"}),
        (
            "groupBy(createArray('aa', 'b', 'ac'), lambda('x', first(lambdaVariables('x'))))",
            {"a": ["aa", "ac"], "b": ["b"]},
        ),
        ("mapValues(createObject('a', 1), lambda('v', add(lambdaVariables('v'), 1)))", {"a": 2}),
        (
            "map(range(1, 2), lambda('a', map(range(5, 2), lambda('b', add(lambdaVariables('A'), 1)))))",
            [[2, 2], [3, 3]],
        ),
        ("map(createArray(1), lambda('x', first(map(createArray(2), lambda('x', lambdaVariables('x'))))))", [2]),
        # dates
        ("dateTimeAdd('2024-01-31T00:00:00Z', 'P1M')", "2024-02-29T00:00:00Z"),
        ("dateTimeAdd('2024-02-29 12:00:00Z', '-P1Y', 'yyyy-MM-dd HH:mm')", "2023-02-28 12:00"),
        ("dateTimeAdd('20240101T000000Z', 'PT36H30M', 'ddd, dd MMM yyyy hh:mm tt')", "Tue, 02 Jan 2024 12:30 PM"),
        ("dateTimeAdd('2024-01-01T00:00:00+02:00', 'P0D', 'o')", "2023-12-31T22:00:00.0000000Z"),
        ("dateTimeFromEpoch(0)", "1970-01-01T00:00:00Z"),
        ("dateTimeToEpoch('1970-01-02T00:00:00Z')", 86_400),
        # URIs
        ("uri('ftp://h/a/b', '../c')", "ftp://h/c"),
        ("uriComponent('a(b)*ä')", "a%28b%29%2A%C3%A4"),
        (
            "parseUri('HTTPS://user@Host:8443/a/b?x=1#f')",
            {"scheme": "https", "host": "host", "port": 8443, "path": "/a/b", "query": "?x=1"},
        ),
        (
            "buildUri(createObject('scheme', 'https', 'host', 'h', 'port', 443, 'path', 'a'))",
            "https://h/a",
        ),
        # address blocks
        ("cidrSubnet('10.0.0.0/8', 8, 0)", "10.0.0.0/8"),
        ("cidrHost('10.0.0.0/31', 1)", "10.0.0.1"),
    ],
)
def test_a_function_gives(expression: str, due: Json) -> None:
    assert typed(run(expression)) == typed(due)


@pytest.mark.reported("T16")
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("toUppr('a')", "there is no function 'toUppr'; did you mean 'toUpper'?"),
        ("any('a')", "there is no function 'any'"),
        ("toUpper()", "toUpper() takes 1 argument, not 0"),
        ("if(true(), 1)", "if() takes 3 arguments, not 2"),
        ("substring('a')", "substring() takes 2 to 3 arguments, not 1"),
        ("format()", "format() takes at least 1 argument, not 0"),
        ("add(9223372036854775807, 1)", "add(): the result does not fit into 64 bits"),
        ("mul(4294967296, 4294967296)", "mul(): the result does not fit into 64 bits"),
        ("sub(-9223372036854775808, 1)", "sub(): the result does not fit into 64 bits"),
        ("div(-9223372036854775808, -1)", "div(): the result does not fit into 64 bits"),
        ("div(1, 0)", "div(): division by zero"),
        ("add(1, json('3.14'))", "add(): the second operand must be an integer, not a number with a fraction"),
        ("int('3.14')", "int(): the string is not a 64-bit integer"),
        ("int(json('3.14'))", "int(): the number has a fraction"),
        ("int('9223372036854775808')", "int(): the result does not fit into 64 bits"),
        ("json('9223372036854775808')", "an integer does not fit into 64 bits"),
        ("json('[1')", "json(): the string is not JSON"),
        ("json('NaN')", "json(): the string is not JSON"),
        ("and(true(), 1)", "and(): argument 2 must be a boolean, not an integer"),
        ("not('true')", "not(): the argument must be a boolean, not a string"),
        ("less('1', 2)", "less(): two numbers or two strings can be ordered, not a string and an integer"),
        ("createObject('a', 1).b", "no property 'b'; available properties: a"),
        ("createObject('name', 1).nam", "no property 'nam'; did you mean 'name'?"),
        ("createObject().b", "there are no available properties"),
        ("null().b", "property 'b' is asked of null; use tryGet()"),
        ("createArray(1)[1]", "index 1 is outside the array of 1 elements"),
        ("createArray(1)[-1]", "index -1 is outside the array"),
        ("createArray(1)['a']", "property 'a' is asked of an array"),
        ("createObject('a', 1)[0]", "named by a string, not by an integer"),
        ("first(5)", "first(): the argument must be an array or a string, not an integer"),
        ("map(createArray(1), 'x')", "map(): the last argument must be a lambda, not a string"),
        ("map(createArray(1), lambda('a', 'b', 'c', 1))", "map(): the lambda must take 1 or 2 arguments, it takes 3"),
        ("filter(createArray(1), lambda('x', 1))", "filter(): the lambda's result must be a boolean, not an integer"),
        ("createArray(lambda('x', 1))", "lambda(): it may stand only as an argument of map"),
        ("lambda('x', 1)", "lambda(): it may stand only as an argument of map"),
        ("map(createArray(1), lambda('x', lambdaVariables('y')))", "no lambda around binds 'y'"),
        ("join(lambda('x', 1), ',')", "lambda(): it may stand only as an argument of map"),
        ("map(createArray(1), if(true(), lambda('x', 1), 2))", "lambda(): it may stand only as an argument of map"),
        ("map(createArray(1), lambda(string('x'), 1))", "named by literal strings"),
        ("lambdaVariables('x')", "there are no lambda variables here"),
        ("copyIndex()", "copyIndex(): no copy loop runs here"),
        ("copyIndex('x')", "no copy loop 'x' runs here"),
        ("parameters('x')", "there is no parameter 'x'"),
        ("variables('x')", "there is no variable 'x'"),
        ("reference('x')", "there is no resource 'x'"),
        ("user.f()", "there is no function 'user.f'"),
        ("utcNow()", "utcNow(): it may stand only in the default value of a parameter"),
        ("resourceGroup().location", "resourceGroup(): it asks Azure Resource Manager"),
        ("format('{1}', 'x')", "format(): the format asks for value 1, but 1 values follow"),
        ("format('{0:q}', 5)", "format(): the number format 'q' does not suit an integer"),
        ("format('{x}', 5)", "format(): the format is wrong at character 0"),
        ("range(0, 10001)", "range(): the count must be from 0 to 10000, not 10001"),
        ("replace('a', '', 'b')", "replace(): the text to replace is empty"),
        ("padLeft('a', 3, 'ab')", "padLeft(): the third argument must be a single character"),
        ("padLeft('a', 999999999)", "more than the 16777216 allowed"),
        ("dateTimeAdd('2024-01-01', 'P')", "dateTimeAdd(): the duration is not written as in ISO 8601"),
        ("dateTimeAdd('x', 'P1D')", "dateTimeAdd(): the date is not written as in ISO 8601"),
        ("dateTimeAdd('9999-12-31', 'P1D')", "dateTimeAdd(): the date lies outside the years"),
        ("cidrSubnet('10.0.0.0/24', 25, 2)", "cidrSubnet(): the block has 2 subnets of that size; index 2 is outside"),
        ("uri('a/b', 'c')", "uri(): the base must be an absolute URI"),
        ("shallowMerge(createArray(1))", "shallowMerge(): element 0 must be an object, not an integer"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_what_to_do(expression: str, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)):
        run(expression)


def test_a_message_shows_the_expression_but_no_value() -> None:
    scope = Scope(parse_template({"resources": [], "parameters": {"p": {"type": "securestring"}}}), {"p": "hunter2"})
    with pytest.raises(TemplateError) as caught:
        scope.evaluate({"x": "[int(parameters('p'))]"}, ("outputs",))
    assert str(caught.value) == "$.outputs.x: int(): the string is not a 64-bit integer; in [int(parameters('p'))]"


def test_every_function_refuses_arguments_of_the_wrong_kind_with_a_template_error() -> None:
    odd = ["null()", "true()", "-1", "'x'", "createArray()", "createObject()", "json('1.5')", "lambda('x', 1)"]
    for function in FUNCTIONS.values():
        most = function.least + 1 if function.most is None else function.most
        for count in range(function.least, most + 1):
            for one in odd:
                try:
                    EMPTY.evaluate({"v": f"[{function.name}({', '.join([one] * count)})]"})
                except TemplateError as error:
                    assert error.path == "$.v"  # noqa: PT017 both outcomes are fine, a crash is not


@pytest.mark.parametrize(
    ("name", "due"),
    [
        ("/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/myRg", "js26ofeqkqeve"),
        ("snap-crackle-pop", "byghxckddilkc"),
        ("asd-asdf-asdf", "iizpqit7ih3cc"),
    ],
)
def test_unique_strings_are_those_of_azure(name: str, due: str) -> None:
    assert unique_string(name) == due


def test_guids_are_those_of_azure() -> None:
    assert guid("foo-bar-baz") == "2ed86837-7c7c-5eaa-9864-dd077fd19b0d"
    assert run("guid('asdf')") == "228d27cc-6fdb-5934-b7ac-1efccebade04"
    assert run("uniqueString('snap', 'crackle', 'pop')") == "byghxckddilkc"


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_division_and_remainder_belong_together(left: int, right: int) -> None:
    if right == 0 or (left == -(2**63) and right == -1):
        return
    quotient, remainder = run(f"div({left}, {right})"), run(f"mod({left}, {right})")
    assert quotient * right + remainder == left
    assert abs(remainder) < abs(right)
    assert remainder == math.copysign(abs(remainder), left) or remainder == 0


@given(st.text(max_size=30))
def test_texts_survive_their_conversions(text: str) -> None:
    if text.encode("utf-8", "replace").decode() != text:
        return
    literal = quote(text)
    assert run(f"base64ToString(base64({literal}))") == text
    assert run(f"uriComponentToString(uriComponent({literal}))") == text
    assert run(f"dataUriToString(dataUri({literal}))") == text
    assert run(f"json(string(createArray({literal})))") == [text]


NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("call", "due"),
    [
        ("utcNow()", "20260102T030405Z"),
        ("utcNow('d')", "01/02/2026"),
        ("utcNow('yyyy-MM-dd')", "2026-01-02"),
        ("utcNow('H:m:s.fff')", "3:4:5.678"),
        ("utcNow('R')", "Fri, 02 Jan 2026 03:04:05 GMT"),
        ("utcNow('%d')", "2"),
    ],
)
def test_the_time_is_read_in_parameter_defaults_only(scope: Callable[..., Scope], call: str, due: str) -> None:
    made = scope(parameters={"t": {"type": "string", "defaultValue": f"[{call}]"}}, now=NOW)
    assert made.evaluate("[parameters('t')]") == due


def test_a_new_guid_is_the_same_wherever_the_parameter_is_read(scope: Callable[..., Scope]) -> None:
    made = scope(parameters={"g": {"type": "string", "defaultValue": "[newGuid()]"}})
    first, second = made.evaluate(["[parameters('g')]", "[parameters('G')]"])
    assert first == second
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", first)


FUNCTION = [
    {
        "namespace": "my",
        "members": {
            "greet": {
                "parameters": [{"name": "who", "type": "string"}],
                "output": {
                    "type": "string",
                    "value": "[format('{0} {1}{2}', variables('hi'), parameters('WHO'), my.end())]",
                },
            },
            "end": {"output": {"type": "string", "value": "!"}},
            "loop": {"output": {"type": "string", "value": "[my.loop()]"}},
        },
    }
]


def test_a_user_function_sees_its_arguments_variables_and_other_functions(value: Callable[..., Json]) -> None:
    assert value("[My.Greet('Ann')]", functions=FUNCTION, variables={"hi": "Hello"}) == "Hello Ann!"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("[my.gret('x')]", "did you mean 'my.greet'?"),
        ("[my.greet()]", "my.greet() takes 1 arguments, 0 are given"),
        ("[my.loop()]", "nests too deep"),
    ],
)
def test_a_user_function_called_wrongly_says_so(value: Callable[..., Json], call: str, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)):
        value(call, functions=FUNCTION, variables={"hi": "Hello"})
