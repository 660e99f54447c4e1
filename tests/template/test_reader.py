"""Template JSON to the model, and what is refused on the way."""

import json
import re
from typing import Any

import pytest

from extensor.errors import TemplateError
from extensor.template import Template, parse_template
from extensor.template.limits import MAX_DEPTH, MAX_TEMPLATE_BYTES

RESOURCE = {"import": "files", "type": "file@1.0", "properties": {"path": "a"}}


def document(**members: Any) -> dict[str, Any]:
    imports = {"files": {"provider": "files", "version": "1.0.0"}}
    return {"languageVersion": "2.0", "imports": imports, "resources": {}, **members}


def resource(**members: Any) -> dict[str, Any]:
    return document(resources={"a": {**RESOURCE, **members}})


def read(**members: Any) -> Template:
    return parse_template(document(**members))


def test_a_resource_of_the_imports_form_has_its_version_split_off() -> None:
    one = parse_template(resource(existing=True, dependsOn=["b"])).resources["a"]
    assert (one.import_alias, one.type, one.api_version, one.existing) == ("files", "file", "1.0", True)
    assert one.depends_on == ("b",)
    assert one.condition is True
    assert one.copy is None


def test_the_extensions_form_gives_the_same_model_as_the_imports_form() -> None:
    imports = parse_template(
        {
            "languageVersion": "2.1-experimental",
            "imports": {"f": {"provider": "files", "version": "1", "config": {"root": "x"}}},
            "resources": {"a": {"import": "f", "type": "file@1.0", "properties": {}}},
        }
    )
    extensions = parse_template(
        {
            "languageVersion": "2.2-experimental",
            "extensions": {"f": {"name": "files", "version": "1", "config": {"root": {"defaultValue": "x"}}}},
            "resources": {"a": {"extension": "f", "type": "file", "apiVersion": "1.0", "properties": {}}},
        }
    )
    assert extensions.resources == imports.resources
    assert extensions.imports["f"].config == imports.imports["f"].config == {"root": "x"}
    assert extensions.imports["f"].config_paths["root"] == ("extensions", "f", "config", "root", "defaultValue")


def test_a_type_without_a_version_has_none() -> None:
    assert parse_template(resource(type="file")).resources["a"].api_version is None


def test_a_serial_loop_runs_one_at_a_time_unless_a_batch_size_is_given() -> None:
    loop = {"name": "a", "count": 3}
    copies = [
        parse_template(resource(copy={**loop, **more})).resources["a"].copy
        for more in ({}, {"mode": "serial"}, {"mode": "Serial", "batchSize": 2})
    ]
    assert [(one.mode, one.batch_size) for one in copies if one] == [("parallel", None), ("serial", 1), ("serial", 2)]


def test_a_classic_template_without_resources_is_accepted() -> None:
    template = parse_template({"resources": [], "outputs": {"o": {"type": "int", "value": 1}}})
    assert template.resources == {}
    assert template.language_version is None


def test_metadata_is_ignored_everywhere() -> None:
    template = parse_template({**resource(metadata={"description": "x"}), "metadata": {"_generator": {}}})
    assert "a" in template.resources


@pytest.mark.parametrize(
    ("content", "path", "says"),
    [
        ({"resources": [{"type": "Microsoft.Storage/x"}]}, "$.resources[0]", "resources need a provider"),
        (document(resources={"s": {"type": "Microsoft.Storage/x"}}), "$.resources.s", "extension <name>"),
        (
            {
                "languageVersion": "2.0",
                "extensions": {"az": {"name": "AzureResourceManager", "version": "0.2.896"}},
                "resources": {"s": {"extension": "az", "type": "Microsoft.Storage/x", "name": "s"}},
            },
            "$.resources.s.extension",
            "resources of Azure Resource Manager itself are not deployed here",
        ),
        (document(languageVersion="3.0"), "$.languageVersion", "supported are 2.0, 2.1-experimental, 2.2-experimental"),
        ({"resources": {"a": RESOURCE}}, "$.languageVersion", "resources by name need a languageVersion"),
        (document(resource={}), "$.resource", "did you mean 'resources'?"),
        ({"languageVersion": "2.0"}, "$", "no 'resources'"),
        ({"$schema": "https://x/deploymentParameters.json#", "parameters": {}}, "$['$schema']", "a parameter file"),
        (resource(propertys={}), "$.resources.a.propertys", "did you mean 'properties'?"),
        (resource(**{"import": "file"}), "$.resources.a.import", "did you mean 'files'?"),
        (resource(extension="files"), "$.resources.a.extension", "once"),
        (resource(type="[concat('a')]"), "$.resources.a.type", "must be a literal"),
        (resource(type=7), "$.resources.a.type", "a string is due here, not an integer"),
        (resource(type="file@"), "$.resources.a.type", "name@version"),
        (resource(apiVersion="2.0"), "$.resources.a.apiVersion", "the type says version '1.0'"),
        (resource(condition="yes"), "$.resources.a.condition", "true, false or an expression"),
        (resource(existing="yes"), "$.resources.a.existing", "true or false"),
        (resource(properties=[]), "$.resources.a.properties", "an object is due here, not an array"),
        (resource(dependsOn="b"), "$.resources.a.dependsOn", "an array is due here, not a string"),
        (resource(dependsOn=["b", 1]), "$.resources.a.dependsOn[1]", "a string is due"),
        (resource(copy={"name": "a"}), "$.resources.a.copy.count", "an integer of at least 0"),
        (resource(copy={"name": "a", "count": -1}), "$.resources.a.copy.count", "an integer of at least 0"),
        (resource(copy={"name": "a", "count": 1, "mode": "x"}), "$.resources.a.copy.mode", "'serial' or 'parallel'"),
        (resource(copy={"name": "a", "count": 1, "batchSize": 0}), "$.resources.a.copy.batchSize", "at least 1"),
        (resource(**{"@options": {"retry": []}}), "$.resources.a['@options'].retry", "did you mean 'retryOn'?"),
        (document(parameters={"p": {"type": "strin"}}), "$.parameters.p.type", "did you mean 'string'?"),
        (
            document(parameters={"p": {"type": "int", "default": 1}}),
            "$.parameters.p.default",
            "did you mean 'defaultValue'?",
        ),
        (
            document(parameters={"p": {"type": "int"}, "P": {"type": "int"}}),
            "$.parameters.P",
            "letter case does not count",
        ),
        (document(outputs={"o": {"type": "int"}}), "$.outputs.o", "no 'value'"),
        (document(outputs={"o": {"type": "array", "copy": {"count": 1}}}), "$.outputs.o.copy", "'count' and 'input'"),
        (document(variables={"copy": [{"name": "v", "count": 1}]}), "$.variables.copy[0]", "no 'input'"),
        (
            document(variables={"v": 1, "copy": [{"name": "V", "count": 1, "input": 1}]}),
            "$.variables.copy[0].name",
            "another variable",
        ),
        (document(imports={"f": {"provider": "files"}}), "$.imports.f.version", "a string is due here, not null"),
        (
            document(extensions={"FILES": {"name": "files", "version": "1"}}),
            "$.extensions.FILES",
            "'imports' declares 'FILES' too",
        ),
        (
            document(functions=[{"namespace": "n", "members": {"f": {}}}]),
            "$.functions[0].members.f.output",
            "an object",
        ),
        (document(asserts={"a": True}), "$.asserts", "not supported"),
        (document(resources={"a[0]": RESOURCE}), "$.resources['a[0]']", "nor contain '['"),
    ],
)
def test_what_is_wrong_or_not_supported_is_named_with_its_place(content: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)) as caught:
        parse_template(json.dumps(content))
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("text", "path", "says"),
    [
        ('{"resources": {}, "variables": {"a": {"b": 1, "b": 2}}}', "$.variables.a.b", "stands twice"),
        ('{"resources": {}, "resources": {}}', "$.resources", "stands twice"),
        ('{"resources": {}, "variables": {"a": 9223372036854775808}}', "$.variables.a", "64 bits"),
        ('{"resources": {}, "variables": {"a": [' + "9" * 5000 + "]}}", "$.variables.a[0]", "64 bits"),
        ('{"resources": {}, "variables": {"a": NaN}}', "$.variables.a", "not finite"),
        ('{"resources": {}, "variables": {"a": 1e999}}', "$.variables.a", "not finite"),
        ('{"resources": {},}', None, "line 1, column"),
        ("", None, "is not JSON"),
        ("[]", "$", "must be a JSON object, not an array"),
        ("[" * 100_000, None, "nests deeper"),
        (b'{"resources": "\xff"}', None, "not UTF-8"),
        (b" " * (MAX_TEMPLATE_BYTES + 1), None, "larger than"),
    ],
)
def test_hostile_text_is_refused(text: str | bytes, path: str | None, says: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(says)) as caught:
        parse_template(text, source="main.json")
    assert caught.value.path == path


def test_nesting_is_bounded_also_in_a_parsed_document() -> None:
    deep: Any = {}
    for _ in range(MAX_DEPTH):
        deep = {"x": deep}
    with pytest.raises(TemplateError, match="nests deeper than 128 levels"):
        read(variables=deep)


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_template(b'\xef\xbb\xbf{"resources": []}').resources == {}
    assert parse_template('\ufeff{"resources": []}').resources == {}


@pytest.mark.reported("T16")
def test_integers_keep_all_64_bits() -> None:
    template = parse_template('{"resources": [], "variables": {"a": [9007199254740993, -9223372036854775808]}}')
    assert template.variables["a"] == [2**53 + 1, -(2**63)]


def test_half_of_a_character_is_refused_at_its_place_and_a_whole_one_is_read() -> None:
    text = json.dumps(resource(properties={"path": "a", "tags": ["😀", "x"]}))
    assert "\\ud83d" in text
    assert parse_template(text).resources["a"].properties["tags"] == ["😀", "x"]
    for content in (text.replace('"x"', '"x\\uD83d"'), text.replace('"x"', '"x\\uD83d"').encode()):
        with pytest.raises(TemplateError, match="half of a character") as caught:
            parse_template(content)
        assert caught.value.path == "$.resources.a.properties.tags[1]"
