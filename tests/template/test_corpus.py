"""Templates that a real compiler emitted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extensor.contract import Json
from extensor.template import Scope, check_template, parse_template
from extensor.template.parser import is_expression, parse, unparse


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def templates(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text("utf-8-sig"))
        if isinstance(document, dict) and "resources" in document:
            yield document


def test_every_expression_of_the_corpus_survives_being_parsed_and_written(shared: Path) -> None:
    texts = {
        text.removeprefix("[") if text.startswith("[[") else text
        for document in templates(shared / "corpus/bicep")
        for text in strings(document)
        if is_expression(text) or (text.startswith("[[") and is_expression(text[1:]))
    }
    expressions = {text for text in texts if "(" in text}
    assert len(expressions) > 1900
    for text in expressions:
        tree = parse(text)
        assert parse(f"[{unparse(tree)}]") == tree, text


@pytest.mark.parametrize("variant", ["main.json", "main.symbolicnames.json"])
@pytest.mark.parametrize(
    ("folder", "parameters", "outputs"),
    [
        ("01-hello-world", {"yourName": "Ann"}, {"helloWorld": "Hello World! - Hi Ann"}),
        (
            "10-string-functions",
            {},
            {
                "arrayFromString": [{"element": letter} for letter in "abcd"],
                "found": 'Found "this"',
                "index": 4,
                "indexNotFound": -1,
                "substr": "ThisInString",
            },
        ),
        (
            "20-array-loop",
            {},
            {
                name: [{"element": who} for who in ("Michael", "Dwight", "Jim", "Pam")]
                for name in ("out1", "out2", "out3")
            },
        ),
        (
            "30-json-object-simple",
            {},
            {
                "jsonArray": [{"name": "one"}, {"name": "two"}, {"name": "three"}],
                "jsonArray2": [{"name": "four"}, {"name": "five"}, {"name": "six"}],
            },
        ),
        (
            "31-json-object-complex",
            {},
            {
                "routeArray": [
                    {
                        "name": "OnPrem1",
                        "AddressPrefix": "192.168.0.0/16",
                        "NextHopType": "VirtualNetworkGateway",
                        "NextHopIpAddress": None,
                    },
                    {
                        "name": "OnPrem2",
                        "AddressPrefix": "10.0.1.0/24",
                        "NextHopType": "VirtualAppliance",
                        "NextHopIpAddress": "10.200.1.1",
                    },
                ]
            },
        ),
    ],
)
def test_the_outputs_of_the_first_examples_are_these(
    shared: Path, folder: str, variant: str, parameters: dict[str, Json], outputs: dict[str, Json]
) -> None:
    text = (shared / "corpus/bicep/user_submitted/000" / folder / variant).read_text("utf-8")
    assert Scope(parse_template(text), parameters).outputs() == outputs


def test_an_array_of_objects_is_looked_up_by_name(shared: Path) -> None:
    path = shared / "corpus/bicep/user_submitted/000/22-array-lookup-complex/main.symbolicnames.json"
    found = Scope(parse_template(path.read_bytes())).outputs()["bicepObject"]
    assert len(found) == 6
    assert found[3] == {"name": "websubnet", "AddressSpace": "10.1.1.0/24", "NSG": True, "RouteTable": True}


def test_user_functions_and_lambdas_of_the_baselines_give_these(shared: Path) -> None:
    path = shared / "corpus/bicep/baselines/Functions_LF/main.symbolicnames.json"
    outputs = Scope(parse_template(path.read_bytes())).outputs()
    assert outputs["foo"] == "https://google.com/search"
    assert outputs["hellos"] == ["Hi Evie!", "Hi Casper!"]
    assert outputs["fooValue"] == ["Hello abc!", "Hello def!"]
    assert outputs["distinctTest3"] == [{"a": 1}, {"b": 2}]


def test_extension_resources_are_read_with_their_provider_and_config(shared: Path) -> None:
    path = shared / "corpus/bicep/user_submitted/extensibility/aks/modules/kubernetes.symbolicnames.json"
    template = parse_template(path.read_bytes())
    declared = template.imports["kubernetes"]
    assert (declared.provider, declared.version) == ("Kubernetes", "1.0.0")
    scope = Scope(template, {"kubeConfig": "secret text"})
    assert scope.evaluate_config("kubernetes") == {"kubeConfig": "secret text", "namespace": "default"}
    deployment = template.resources["backDeploy"]
    assert (deployment.type, deployment.api_version, deployment.full_type) == (
        "apps/Deployment",
        "v1",
        "apps/Deployment@v1",
    )
    assert scope.evaluate_properties(deployment)["metadata"] == {"name": "azure-vote-back"}


def test_existing_resources_and_references_of_the_graph_example_are_read(shared: Path) -> None:
    folder = shared / "corpus/bicep/user_submitted/extensibility/microsoftGraph"
    for name in ("main.symbolicnames.json", "main.existing.symbolicnames.json"):
        template = parse_template((folder / name).read_bytes())
        assert check_template(template) == []
        if "existing" in name:
            assert any(resource.existing for resource in template.resources.values())


def test_templates_of_the_corpus_that_need_no_azure_have_no_faults(shared: Path) -> None:
    read = 0
    for document in templates(shared / "corpus/bicep/user_submitted/000"):
        assert check_template(parse_template(document)) == []
        read += 1
    assert read == 12
