"""Types as JSON Schema, draft 2020-12, for editors and other tools."""

from typing import Literal

from extensor.contract.json import Json, JsonObject
from extensor.types import model
from extensor.types.leaves import readable_pattern

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(
    type_: model.ResourceType | model.ValueType, *, purpose: Literal["save", "result"] = "save"
) -> JsonObject:
    """The schema that accepts what `validate` accepts for the same purpose.

    ``save``: read-only properties may only be null. ``result``: write-only ones may only be null. Properties carry
    ``readOnly``, ``writeOnly`` and their description; object types stand under ``$defs``, so a recursive type is no
    special case.
    """
    writer = _Schemas(given=purpose == "save")
    if isinstance(type_, model.ResourceType):
        schema = {"$schema": DIALECT, "title": type_.name, **writer.of(type_.body)}
    else:
        schema = {"$schema": DIALECT, **writer.of(type_)}
    if writer.definitions:
        schema["$defs"] = writer.definitions
    return schema


class _Schemas:
    def __init__(self, *, given: bool) -> None:
        self.definitions: dict[str, JsonObject] = {}
        self._given = given
        self._names: dict[int, str] = {}

    def of(self, type_: model.Type) -> JsonObject:
        match type_:
            case model.NullType():
                return {"type": "null"}
            case model.BooleanType():
                return {"type": "boolean"}
            case model.IntegerType():
                return _given({"type": "integer", "minimum": type_.min_value, "maximum": type_.max_value})
            case model.NumberType():
                return _given(
                    {
                        "type": "number",
                        "minimum": type_.min_value,
                        "maximum": type_.max_value,
                        "exclusiveMinimum": type_.above,
                        "exclusiveMaximum": type_.below,
                    }
                )
            case model.StringType():
                return _given(
                    {
                        "type": "string",
                        "minLength": type_.min_length,
                        "maxLength": type_.max_length,
                        "pattern": type_.pattern if readable_pattern(type_.pattern) else None,
                    }
                )
            case model.StringLiteralType():
                return {"type": "string", "const": type_.value}
            case model.UnionType():
                return self._union(type_)
            case model.ArrayType():
                return _given(
                    {
                        "type": "array",
                        "items": self.of(type_.item_type),
                        "minItems": type_.min_length,
                        "maxItems": type_.max_length,
                    }
                )
            case model.ObjectType() | model.DiscriminatedObjectType():
                return self._defined(type_)
            case _:
                return {}

    def _union(self, type_: model.UnionType) -> JsonObject:
        words = [item.value for item in type_.elements if isinstance(item, model.StringLiteralType)]
        if words and len(words) == len(type_.elements):
            return {"type": "string", "enum": list(dict.fromkeys(words))}
        return {"anyOf": [self.of(item) for item in type_.elements]} if type_.elements else {"not": {}}

    def _defined(self, type_: model.Body) -> JsonObject:
        name = self._names.get(id(type_))
        if name is None:
            name = self._name(type_.name)
            self._names[id(type_)] = name
            self.definitions[name] = {}
            if isinstance(type_, model.ObjectType):
                self.definitions[name] = self._object(type_)
            else:
                self.definitions[name] = {"oneOf": [self._object(variant) for variant in type_.variants.values()]}
        return {"$ref": f"#/$defs/{name}"}

    def _name(self, wanted: str) -> str:
        stem = (
            "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in wanted)
            or "object"
        )
        name, n = stem, 1
        while name in self.definitions:
            n += 1
            name = f"{stem}_{n}"
        return name

    def _object(self, type_: model.ObjectType) -> JsonObject:
        schema: JsonObject = {
            "type": "object",
            "properties": {name: self._property(item) for name, item in type_.properties.items()},
            "additionalProperties": False
            if type_.additional_properties is None
            else _or_null(self.of(type_.additional_properties)),
        }
        required = [
            name
            for name, item in type_.properties.items()
            if item.required and not (item.read_only if self._given else item.write_only)
        ]
        if required:
            schema["required"] = required
        return schema

    def _property(self, item: model.Property) -> JsonObject:
        schema: JsonObject
        if item.read_only if self._given else item.write_only:
            schema = {"type": "null"}
        else:
            schema = self.of(item.type) if item.required else _or_null(self.of(item.type))
        notes: dict[str, Json] = {
            "description": item.description or None,
            "readOnly": item.read_only or None,
            "writeOnly": item.write_only or None,
        }
        return {**schema, **_given(notes)}


def _or_null(schema: JsonObject) -> JsonObject:
    if not schema:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str) and "const" not in schema and "enum" not in schema:
        return schema if kind == "null" else {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _given(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if value is not None}
