"""A template that asks for too much ends in an error, soon."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from extensor.contract import Json
from extensor.errors import TemplateError

DOUBLED = 40
TREE = "reduce(range(0, 40), 1, lambda('a', 'b', createArray(lambdaVariables('a'), lambdaVariables('a'))))"


def doubling(first: str, call: str) -> dict[str, Json]:
    steps = {f"v{n}": call.format(f"variables('v{n - 1}')") for n in range(1, DOUBLED)}
    return {"v0": first, **{name: f"[{text}]" for name, text in steps.items()}}


@pytest.mark.parametrize(
    ("first", "call"),
    [
        ("x", "concat({0}, {0})"),
        ("x", "format('{{0}}{{0}}', {0})"),
        ("x", "join(createArray({0}, {0}), '')"),
        ("aaaa", "replace({0}, 'a', 'aa')"),
        ("[createArray(1)]", "concat({0}, {0})"),
        ("[createArray(1)]", "createArray({0}, {0})"),
        ("[createObject('a', 1)]", "createObject('a', {0}, 'b', {0})"),
    ],
)
def test_values_that_double_are_stopped(value: Callable[..., Json], first: str, call: str) -> None:
    with pytest.raises(TemplateError, match=r"more than|allowed") as caught:
        value(f"[variables('v{DOUBLED - 1}')]", variables=doubling(first, call))
    assert str(caught.value.path).startswith("$.variables.v")


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.template.scope.MAX_WORK", 20_000)


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize(
    "expression",
    [
        f"[{TREE}]",
        f"[string({TREE})]",
        f"[equals({TREE}, {TREE})]",
        "[map(range(0, 10000), lambda('i', range(0, 10000)))]",
        "[length(map(range(0, 10000), lambda('i', map(range(0, 10000), lambda('j', 1)))))]",
        "[" + "base64(" * 99 + "'" + "x" * 20_000 + "'" + ")" * 99 + "]",
        "[split(padLeft('', 9999999, 'a'), 'a')]",
        "[format('{0,9999999}{0,9999999}', 'x')]",
    ],
    ids=["doubling", "text of it", "comparison of it", "wide", "deep", "growing text", "many parts", "wide formats"],
)
def test_expressions_that_grow_are_stopped(value: Callable[..., Json], expression: str) -> None:
    with pytest.raises(TemplateError, match=r"more than|allowed"):
        value(expression)


@pytest.mark.usefixtures("little_work")
def test_loops_in_loops_are_stopped(value: Callable[..., Json]) -> None:
    inner = {"copy": [{"name": "q", "count": 100_000, "input": 1}]}
    with pytest.raises(TemplateError, match="more than 20000 calls, iterations"):
        value({"copy": [{"name": "p", "count": 100_000, "input": inner}]})


@pytest.mark.usefixtures("little_work")
def test_functions_that_call_each_other_twice_are_stopped(value: Callable[..., Json]) -> None:
    members = {
        f"f{n}": {"output": {"type": "int", "value": f"[add(n.f{n + 1}(), n.f{n + 1}())]" if n < 30 else 1}}
        for n in range(31)
    }
    with pytest.raises(TemplateError, match="more than 20000 calls"):
        value("[n.f0()]", functions=[{"namespace": "n", "members": members}])


def test_the_language_is_imported_without_heavy_libraries() -> None:
    heavy = ["pydantic", "jsonschema", "anyio", "asyncio", "sqlite3", "ipaddress", "uuid", "difflib"]
    program = f"import sys, extensor.template; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
