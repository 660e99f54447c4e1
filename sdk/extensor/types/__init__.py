"""bicep-types: from models to `index.json`/`types.json` and back, and bodies checked against types.

Names are loaded when first used, so that the marks (`extensor.types.flags`) cost nothing. pydantic is imported by
`extensor.types.models` alone. `validate` and `json_schema` are imported from the modules of their names.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extensor.types.flags import (
        CALCULATED,
        IDENTIFIER,
        IMMUTABLE,
        READ_ONLY,
        SECRET,
        WRITE_ONLY,
        Calculated,
        Flag,
        Identifier,
        Immutable,
        Mark,
        ReadOnly,
        Secret,
        WriteOnly,
    )
    from extensor.types.index import TypeIndex
    from extensor.types.model import (
        AnyType,
        ArrayType,
        Body,
        BooleanType,
        DiscriminatedObjectType,
        IntegerType,
        NullType,
        NumberType,
        ObjectType,
        Property,
        ResourceType,
        Settings,
        StringLiteralType,
        StringType,
        Type,
        UnionType,
        same_type,
    )
    from extensor.types.models import index_of
    from extensor.types.reader import read_inline
    from extensor.types.shape import Shape, shape_of
    from extensor.types.writer import resolve_inline

_HOMES = {
    "flags": (
        "CALCULATED IDENTIFIER IMMUTABLE READ_ONLY SECRET WRITE_ONLY "
        "Calculated Flag Identifier Immutable Mark ReadOnly Secret WriteOnly"
    ),
    "index": "TypeIndex",
    "model": (
        "AnyType ArrayType Body BooleanType DiscriminatedObjectType IntegerType NullType NumberType ObjectType "
        "Property ResourceType Settings StringLiteralType StringType Type UnionType same_type"
    ),
    "models": "index_of",
    "reader": "read_inline",
    "shape": "Shape shape_of",
    "writer": "resolve_inline",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


__all__ = [
    "CALCULATED",
    "IDENTIFIER",
    "IMMUTABLE",
    "READ_ONLY",
    "SECRET",
    "WRITE_ONLY",
    "AnyType",
    "ArrayType",
    "Body",
    "BooleanType",
    "Calculated",
    "DiscriminatedObjectType",
    "Flag",
    "Identifier",
    "Immutable",
    "IntegerType",
    "Mark",
    "NullType",
    "NumberType",
    "ObjectType",
    "Property",
    "ReadOnly",
    "ResourceType",
    "Secret",
    "Settings",
    "Shape",
    "StringLiteralType",
    "StringType",
    "Type",
    "TypeIndex",
    "UnionType",
    "WriteOnly",
    "index_of",
    "read_inline",
    "resolve_inline",
    "same_type",
    "shape_of",
]
