"""JSON Schema for tools; that it accepts what the validator accepts is a law in test_laws."""

from pathlib import Path

import jsonschema
import pytest

from extensor.types import ArrayType, Flag, NumberType, ObjectType, Property, ResourceType, StringType, TypeIndex
from extensor.types.json_schema import json_schema

NODE = ObjectType("a node", {"name": Property(StringType(), Flag.REQUIRED, "What it is called.")})
NODE.properties["inside"] = Property(ArrayType(NODE, 0, 3))
NODE.properties["size"] = Property(NumberType(above=0), Flag.READ_ONLY)


def test_a_type_reads_as_a_schema_with_definitions() -> None:
    assert json_schema(ResourceType("node@1.0", NODE)) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "node@1.0",
        "$ref": "#/$defs/a_node",
        "$defs": {
            "a_node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "What it is called."},
                    "inside": {
                        "type": ["array", "null"],
                        "items": {"$ref": "#/$defs/a_node"},
                        "minItems": 0,
                        "maxItems": 3,
                    },
                    "size": {"type": "null", "readOnly": True},
                },
                "additionalProperties": False,
                "required": ["name"],
            }
        },
    }
    result = json_schema(NODE, purpose="result")
    assert result["$defs"]["a_node"]["properties"]["size"] == {
        "type": ["number", "null"],
        "exclusiveMinimum": 0,
        "readOnly": True,
    }


@pytest.mark.parametrize("package", ["kubernetes/v1.33.0", "microsoftgraph/v1.0", "baselines/foo", "baselines/http"])
def test_foreign_types_make_valid_schemas(shared: Path, package: str) -> None:
    index = TypeIndex.read_directory(shared / "data/types" / package)
    for name in list(index.resources)[::27]:
        jsonschema.Draft202012Validator.check_schema(json_schema(index.resource(name)))
