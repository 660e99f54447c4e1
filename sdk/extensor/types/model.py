"""The types of bicep-types as objects that refer to each other directly, cycles included.

Types compare by identity; `same_type` compares their meaning. They are filled by the reader or the model converter and
not changed afterwards. A file's positions and references are the business of reader and writer alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from extensor.types.flags import Flag

ALL_SCOPES = 31
"""Tenant 1, management group 2, subscription 4, resource group 8, extension 16."""


class _Named:
    """A short `repr`, so that a cyclic type can be printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        name = getattr(self, "name", "")
        return f"<{type(self).__name__} {name}>" if name else f"<{type(self).__name__}>"


@dataclass(slots=True, eq=False, repr=False)
class AnyType(_Named):
    """Any JSON value."""


@dataclass(slots=True, eq=False, repr=False)
class NullType(_Named):
    """JSON null alone."""


@dataclass(slots=True, eq=False, repr=False)
class BooleanType(_Named):
    """A boolean."""


@dataclass(slots=True, eq=False, repr=False)
class IntegerType(_Named):
    """A whole number; the bounds are inclusive."""

    min_value: int | None = None
    max_value: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class NumberType(_Named):
    """A number with a fraction. `min_value` and `max_value` are inclusive, `above` and `below` are not.

    bicep-types has none. It is written as AnyType, which the compiler lets pass, and the property's description ends in
    ``(number)``, from which it is read back, without its bounds.
    """

    min_value: float | None = None
    max_value: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(slots=True, eq=False, repr=False)
class StringType(_Named):
    """A text. Lengths count code points; `pattern` may match anywhere, as in JSON Schema."""

    sensitive: bool = False
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class StringLiteralType(_Named):
    """One text."""

    value: str
    sensitive: bool = False


@dataclass(slots=True, eq=False, repr=False)
class UnionType(_Named):
    """A value of any of the elements."""

    elements: "list[Type]" = field(default_factory=list["Type"])


@dataclass(slots=True, eq=False, repr=False)
class ArrayType(_Named):
    """A list of values of one type."""

    item_type: "Type"
    min_length: int | None = None
    max_length: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class Property(_Named):
    """A property of an object. `immutable` and `calculated` travel as the last words of the description."""

    type: "Type"
    flags: Flag = Flag.NONE
    description: str | None = None
    immutable: bool = False
    calculated: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return Flag.REQUIRED in self.flags

    @property
    def read_only(self) -> bool:
        """Whether the provider alone sets it."""
        return Flag.READ_ONLY in self.flags

    @property
    def write_only(self) -> bool:
        """Whether it is left out of results."""
        return Flag.WRITE_ONLY in self.flags

    @property
    def identifier(self) -> bool:
        """Whether it names the resource."""
        return Flag.IDENTIFIER in self.flags


@dataclass(slots=True, eq=False, repr=False)
class ObjectType(_Named):
    """An object. Without `additional_properties` no other than the named properties may occur."""

    name: str = ""
    properties: dict[str, Property] = field(default_factory=dict[str, Property])
    additional_properties: "Type | None" = None
    sensitive: bool = False
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """What other modules derived from this type and keep with it."""


@dataclass(slots=True, eq=False, repr=False)
class DiscriminatedObjectType(_Named):
    """An object whose `discriminator` property tells which element describes it."""

    name: str = ""
    discriminator: str = ""
    base_properties: dict[str, Property] = field(default_factory=dict[str, Property])
    elements: dict[str, "ObjectType"] = field(default_factory=dict[str, ObjectType])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """What other modules derived from this type and keep with it."""

    @property
    def variants(self) -> dict[str, ObjectType]:
        """For each value of the discriminator the whole object: base properties, which the element's own replace.

        The discriminator is always among them, required. Names are matched without case, as Bicep does.
        """
        found: dict[str, ObjectType] | None = self.facts.get("variants")
        if found is None:
            found = {value: self._variant(value, element) for value, element in self.elements.items()}
            self.facts["variants"] = found
        return found

    def _variant(self, value: str, element: ObjectType) -> ObjectType:
        own = {name.lower() for name in element.properties}
        properties = {name: item for name, item in self.base_properties.items() if name.lower() not in own}
        properties.update(element.properties)
        told = properties.get(self.discriminator)
        properties[self.discriminator] = Property(
            StringLiteralType(value),
            (told.flags if told else Flag.NONE) | Flag.REQUIRED,
            told.description if told else None,
        )
        return ObjectType(element.name, properties, element.additional_properties, element.sensitive)


Body: TypeAlias = ObjectType | DiscriminatedObjectType
"""What a resource's properties or a configuration can be."""


@dataclass(slots=True, eq=False, repr=False)
class FunctionParameter(_Named):
    """A parameter of a function.

    `flags`: 1 required, 2 compile-time constant, 4 deploy-time constant; ``None`` where that kind of function has none.
    """

    name: str
    type: "Type"
    description: str | None = None
    flags: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class FunctionType(_Named):
    """A function that a resource offers."""

    parameters: list[FunctionParameter] = field(default_factory=list[FunctionParameter])
    output: "Type" = field(default_factory=AnyType)


@dataclass(slots=True, eq=False, repr=False)
class ResourceFunction(_Named):
    """The name under which a resource offers a function is its key; this is the rest."""

    type: FunctionType
    description: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class ResourceType(_Named):
    """A resource type, ``name@version``. Scope bits as in `ALL_SCOPES`; both 0 means everywhere, as Bicep reads it."""

    name: str
    body: "Body"
    readable_scopes: int = ALL_SCOPES
    writable_scopes: int = ALL_SCOPES
    functions: dict[str, ResourceFunction] = field(default_factory=dict[str, ResourceFunction])

    @property
    def readable(self) -> bool:
        """Whether it can be an `existing` resource."""
        return bool(self.readable_scopes) or not self.writable_scopes

    @property
    def writable(self) -> bool:
        """Whether it can be deployed."""
        return bool(self.writable_scopes) or not self.readable_scopes


@dataclass(slots=True, eq=False, repr=False)
class ResourceFunctionType(_Named):
    """A function on an Azure resource type, such as ``listKeys``."""

    name: str
    resource_type: str
    api_version: str
    output: "Type" = field(default_factory=AnyType)
    input: "Type | None" = None


@dataclass(slots=True, eq=False, repr=False)
class NamespaceFunctionType(_Named):
    """A function of the extension itself. `visible_in`: 1 Bicep files, 2 parameter files."""

    name: str
    parameters: list[FunctionParameter] = field(default_factory=list[FunctionParameter])
    output_type: "Type" = field(default_factory=AnyType)
    description: str | None = None
    expression: str | None = None
    visible_in: int | None = None


ValueType: TypeAlias = (
    AnyType
    | NullType
    | BooleanType
    | IntegerType
    | NumberType
    | StringType
    | StringLiteralType
    | UnionType
    | ArrayType
    | ObjectType
    | DiscriminatedObjectType
)
"""The types that JSON values have."""

Type: TypeAlias = ValueType | ResourceType | FunctionType | ResourceFunctionType | NamespaceFunctionType
"""Everything that has a position of its own in a types file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Who the types belong to."""

    name: str
    version: str
    is_singleton: bool = False
    is_preview: bool | None = None
    is_deprecated: bool | None = None

    WIRE: ClassVar[dict[str, str]] = {
        "name": "name",
        "version": "version",
        "is_singleton": "isSingleton",
        "is_preview": "isPreview",
        "is_deprecated": "isDeprecated",
    }


def children(type_: Type) -> "Iterator[Type]":
    """The types that a type refers to, in the order in which they are written."""
    match type_:
        case UnionType():
            yield from type_.elements
        case ArrayType():
            yield type_.item_type
        case ObjectType():
            for item in type_.properties.values():
                yield item.type
            if type_.additional_properties is not None:
                yield type_.additional_properties
        case DiscriminatedObjectType():
            for item in type_.base_properties.values():
                yield item.type
            yield from type_.elements.values()
        case ResourceType():
            yield type_.body
            for function in type_.functions.values():
                yield function.type
        case FunctionType():
            for parameter in type_.parameters:
                yield parameter.type
            yield type_.output
        case ResourceFunctionType():
            yield type_.output
            if type_.input is not None:
                yield type_.input
        case NamespaceFunctionType():
            for parameter in type_.parameters:
                yield parameter.type
            yield type_.output_type
        case _:
            return


def same_type(one: Type, other: Type) -> bool:
    """Whether two types mean the same, names and descriptions included, cyclic ones too."""
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Type, Type]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if left is right or (id(left), id(right)) in seen:
            continue
        seen.add((id(left), id(right)))
        if type(left) is not type(right) or _outline(left) != _outline(right):
            return False
        ours, theirs = list(children(left)), list(children(right))
        if len(ours) != len(theirs):
            return False
        waiting.extend(zip(ours, theirs, strict=True))
    return True


def _outline(type_: Type) -> list[Any]:
    """All of a type but the types it refers to, in the order of `children`."""
    return [_plain(getattr(type_, name)) for name in type_.__dataclass_fields__ if name != "facts"]


def _plain(value: Any) -> Any:
    if isinstance(value, Property):
        return (value.flags, value.description, value.immutable, value.calculated)
    if isinstance(value, FunctionParameter):
        return (value.name, value.description, value.flags)
    if isinstance(value, ResourceFunction):
        return value.description
    if isinstance(value, _Named):
        return None
    if isinstance(value, dict):
        return [(key, _plain(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
