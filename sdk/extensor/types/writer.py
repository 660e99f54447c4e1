"""Types to bicep-types JSON: the shape that the Bicep compiler reads. The same input gives the same bytes."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from extensor.contract.json import Json, JsonObject
from extensor.types import model
from extensor.types.index import TypeIndex
from extensor.types.model import Type

TYPES = "types.json"
_SETTINGS = {
    "name": "name",
    "version": "version",
    "is_singleton": "isSingleton",
    "is_preview": "isPreview",
    "is_deprecated": "isDeprecated",
}


def write_index(index: TypeIndex) -> tuple[str, dict[str, str]]:
    """The text of `index.json` and of the one types file, by path; resources in the order of their names."""
    names = sorted(index.resources, key=lambda name: (name.lower(), name))
    numbers = Numbering()
    for name in names:
        numbers.add(index.resources[name])
    wire: JsonObject = {
        "resources": {name: numbers.ref(index.resources[name], TYPES) for name in names},
        "resourceFunctions": {
            type_: {
                version: [numbers.ref(function, TYPES) for function in functions]
                for version, functions in versions.items()
            }
            for type_, versions in index.resource_functions.items()
        },
        "namespaceFunctions": [numbers.ref(function, TYPES) for function in index.namespace_functions],
    }
    if index.settings is not None:
        settings: JsonObject = {
            key: value for name, key in _SETTINGS.items() if (value := getattr(index.settings, name)) is not None
        }
        if index.config_type is not None:
            settings["configurationType"] = numbers.ref(index.config_type, TYPES)
        wire["settings"] = settings
    if index.fallback is not None:
        wire["fallbackResourceType"] = numbers.ref(index.fallback, TYPES)
    return _text(wire), {TYPES: _text(numbers.entries())}


def resolve_inline(type_: Type) -> JsonObject:
    """One type with everything it refers to: ``{"types": […], "type": {"$ref": "#/n"}}``.

    `types` is a types file of its own, so that recursive types need no special case: each reference in the answer, the
    one under `type` included, is the position of an element of `types`. `extensor.types.reader.read_inline` reads it.
    """
    numbers = Numbering()
    ref = numbers.ref(type_)
    return {"types": numbers.entries(), "type": ref}


class Numbering:
    """Gives each type its position: children before parents, plain types that are alike shared."""

    def __init__(self) -> None:
        self._position: dict[int, int] = {}
        self._alike: dict[tuple[Any, ...], int] = {}
        self._order: list[Type] = []

    def add(self, type_: Type) -> int:
        """The position of a type; it and what it refers to get one if they have none."""
        waiting: list[tuple[Type, bool]] = [(type_, False)]
        entered: set[int] = set()
        while waiting:
            item, done = waiting.pop()
            if id(item) in self._position or (not done and id(item) in entered):
                continue
            if done:
                self._number(item)
                continue
            entered.add(id(item))
            waiting.append((item, True))
            waiting.extend((child, False) for child in reversed(list(model.children(item))))
        return self._position[id(type_)]

    def ref(self, type_: Type, file: str = "") -> JsonObject:
        """A reference to a type, from another file when `file` is given."""
        return {"$ref": f"{file}#/{self.add(type_)}"}

    def entries(self) -> list[JsonObject]:
        """The content of the types file."""
        return [_WRITE[type(item)](self, item) for item in self._order]

    def _number(self, item: Type) -> None:
        if type(item) in _PLAIN:
            kind = model.AnyType if type(item) is model.NumberType else type(item)
            alike = (
                kind,
                *(() if kind is model.AnyType else (getattr(item, name) for name in item.__slots__)),
            )
            position = self._alike.setdefault(alike, len(self._order))
        else:
            position = len(self._order)
        self._position[id(item)] = position
        if position == len(self._order):
            self._order.append(item)

    def properties(self, properties: dict[str, model.Property]) -> JsonObject:
        """The `properties` member."""
        wire: JsonObject = {}
        for name, item in properties.items():
            one: JsonObject = {"type": self.ref(item.type), "flags": item.flags.value}
            wire[name] = one
            words = [
                word
                for word, said in (
                    ("(number)", type(item.type) is model.NumberType),
                    ("(immutable)", item.immutable),
                    ("(calculated)", item.calculated),
                )
                if said
            ]
            if item.description is not None or words:
                one["description"] = " ".join(words if item.description is None else [item.description, *words])
        return wire

    def parameters(self, parameters: Iterable[model.FunctionParameter]) -> list[Json]:
        """The `parameters` member."""
        return [
            _without_none(
                {"name": item.name, "type": self.ref(item.type), "description": item.description, "flags": item.flags}
            )
            for item in parameters
        ]


_PLAIN = {
    model.AnyType,
    model.NullType,
    model.BooleanType,
    model.IntegerType,
    model.NumberType,
    model.StringType,
    model.StringLiteralType,
}


def _resource(numbers: Numbering, item: model.ResourceType) -> JsonObject:
    wire: JsonObject = {
        "$type": "ResourceType",
        "name": item.name,
        "body": numbers.ref(item.body),
        "readableScopes": item.readable_scopes,
        "writableScopes": item.writable_scopes,
    }
    if item.functions:
        wire["functions"] = {
            name: _without_none({"type": numbers.ref(function.type), "description": function.description})
            for name, function in item.functions.items()
        }
    return wire


_WRITE: dict[type, Callable[[Numbering, Any], JsonObject]] = {
    model.AnyType: lambda _, __: {"$type": "AnyType"},
    model.NumberType: lambda _, __: {"$type": "AnyType"},
    model.NullType: lambda _, __: {"$type": "NullType"},
    model.BooleanType: lambda _, __: {"$type": "BooleanType"},
    model.IntegerType: lambda _, item: _without_none(
        {"$type": "IntegerType", "minValue": item.min_value, "maxValue": item.max_value}
    ),
    model.StringType: lambda _, item: _without_none(
        {
            "$type": "StringType",
            "sensitive": item.sensitive or None,
            "minLength": item.min_length,
            "maxLength": item.max_length,
            "pattern": item.pattern,
        }
    ),
    model.StringLiteralType: lambda _, item: _without_none(
        {"$type": "StringLiteralType", "value": item.value, "sensitive": item.sensitive or None}
    ),
    model.UnionType: lambda numbers, item: {
        "$type": "UnionType",
        "elements": [numbers.ref(element) for element in item.elements],
    },
    model.ArrayType: lambda numbers, item: _without_none(
        {
            "$type": "ArrayType",
            "itemType": numbers.ref(item.item_type),
            "minLength": item.min_length,
            "maxLength": item.max_length,
        }
    ),
    model.ObjectType: lambda numbers, item: _without_none(
        {
            "$type": "ObjectType",
            "name": item.name,
            "properties": numbers.properties(item.properties),
            "additionalProperties": None
            if item.additional_properties is None
            else numbers.ref(item.additional_properties),
            "sensitive": item.sensitive or None,
        }
    ),
    model.DiscriminatedObjectType: lambda numbers, item: {
        "$type": "DiscriminatedObjectType",
        "name": item.name,
        "discriminator": item.discriminator,
        "baseProperties": numbers.properties(item.base_properties),
        "elements": {value: numbers.ref(element) for value, element in item.elements.items()},
    },
    model.ResourceType: _resource,
    model.FunctionType: lambda numbers, item: {
        "$type": "FunctionType",
        "parameters": numbers.parameters(item.parameters),
        "output": numbers.ref(item.output),
    },
    model.ResourceFunctionType: lambda numbers, item: _without_none(
        {
            "$type": "ResourceFunctionType",
            "name": item.name,
            "resourceType": item.resource_type,
            "apiVersion": item.api_version,
            "output": numbers.ref(item.output),
            "input": None if item.input is None else numbers.ref(item.input),
        }
    ),
    model.NamespaceFunctionType: lambda numbers, item: _without_none(
        {
            "$type": "NamespaceFunctionType",
            "name": item.name,
            "description": item.description,
            "evaluatedLanguageExpression": item.expression,
            "parameters": numbers.parameters(item.parameters),
            "outputType": numbers.ref(item.output_type),
            "visibleInFileKind": item.visible_in,
        }
    ),
}


def _without_none(wire: JsonObject) -> JsonObject:
    return {key: value for key, value in wire.items() if value is not None}


def _text(wire: Json) -> str:
    return json.dumps(wire, indent=2, ensure_ascii=False) + "\n"
