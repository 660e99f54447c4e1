"""The types of bicep-types as objects that refer to each other directly, cycles included.

Types compare by identity; `same_type` compares their meaning. They are filled by the reader or the model converter and
not changed afterwards. A file's positions and references are the business of reader and writer alone. The classes are
written out, since dataclasses would make their import cost ten times as much.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from extensor.types.flags import Flag

ALL_SCOPES = 31
"""Tenant 1, management group 2, subscription 4, resource group 8, extension 16."""


class _Named:
    """A short `repr`, so that a cyclic type can be printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        name = getattr(self, "name", "")
        return f"<{type(self).__name__} {name}>" if name else f"<{type(self).__name__}>"


class AnyType(_Named):
    """Any JSON value."""

    __slots__ = ()


class NullType(_Named):
    """JSON null alone."""

    __slots__ = ()


class BooleanType(_Named):
    """A boolean."""

    __slots__ = ()


class IntegerType(_Named):
    """A whole number; the bounds are inclusive."""

    __slots__ = ("max_value", "min_value")

    def __init__(self, min_value: int | None = None, max_value: int | None = None) -> None:
        self.min_value = min_value
        self.max_value = max_value


class NumberType(_Named):
    """A number with a fraction. `min_value` and `max_value` are inclusive, `above` and `below` are not.

    bicep-types has none. It is written as AnyType, which the compiler lets pass, and the property's description ends in
    ``(number)``, from which it is read back, without its bounds.
    """

    __slots__ = ("above", "below", "max_value", "min_value")

    def __init__(
        self,
        min_value: float | None = None,
        max_value: float | None = None,
        above: float | None = None,
        below: float | None = None,
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.above = above
        self.below = below


class StringType(_Named):
    """A text. Lengths count code points; `pattern` may match anywhere, as in JSON Schema."""

    __slots__ = ("max_length", "min_length", "pattern", "sensitive")

    def __init__(
        self,
        sensitive: bool = False,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
    ) -> None:
        self.sensitive = sensitive
        self.min_length = min_length
        self.max_length = max_length
        self.pattern = pattern


class StringLiteralType(_Named):
    """One text."""

    __slots__ = ("sensitive", "value")

    def __init__(self, value: str, sensitive: bool = False) -> None:
        self.value = value
        self.sensitive = sensitive


class UnionType(_Named):
    """A value of any of the elements."""

    __slots__ = ("elements",)

    def __init__(self, elements: "list[Type] | None" = None) -> None:
        self.elements: list[Type] = [] if elements is None else elements


class ArrayType(_Named):
    """A list of values of one type."""

    __slots__ = ("item_type", "max_length", "min_length")

    def __init__(self, item_type: "Type", min_length: int | None = None, max_length: int | None = None) -> None:
        self.item_type = item_type
        self.min_length = min_length
        self.max_length = max_length


class Property(_Named):
    """A property of an object. `immutable` and `calculated` travel as the last words of the description."""

    __slots__ = ("calculated", "description", "flags", "immutable", "type")

    def __init__(
        self,
        type: "Type",  # noqa: A002
        flags: Flag = Flag.NONE,
        description: str | None = None,
        immutable: bool = False,
        calculated: bool = False,
    ) -> None:
        self.type = type
        self.flags = flags
        self.description = description
        self.immutable = immutable
        self.calculated = calculated

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


class ObjectType(_Named):
    """An object. Without `additional_properties` no other than the named properties may occur."""

    __slots__ = ("additional_properties", "facts", "name", "properties", "sensitive")

    def __init__(
        self,
        name: str = "",
        properties: dict[str, Property] | None = None,
        additional_properties: "Type | None" = None,
        sensitive: bool = False,
    ) -> None:
        self.name = name
        self.properties: dict[str, Property] = {} if properties is None else properties
        self.additional_properties = additional_properties
        self.sensitive = sensitive
        self.facts: dict[str, Any] = {}
        """What other modules derived from this type and keep with it."""


class DiscriminatedObjectType(_Named):
    """An object whose `discriminator` property tells which element describes it."""

    __slots__ = ("base_properties", "discriminator", "elements", "facts", "name")

    def __init__(
        self,
        name: str = "",
        discriminator: str = "",
        base_properties: dict[str, Property] | None = None,
        elements: dict[str, ObjectType] | None = None,
    ) -> None:
        self.name = name
        self.discriminator = discriminator
        self.base_properties: dict[str, Property] = {} if base_properties is None else base_properties
        self.elements: dict[str, ObjectType] = {} if elements is None else elements
        self.facts: dict[str, Any] = {}
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


class FunctionParameter(_Named):
    """A parameter of a function.

    `flags`: 1 required, 2 compile-time constant, 4 deploy-time constant; ``None`` where that kind of function has none.
    """

    __slots__ = ("description", "flags", "name", "type")

    def __init__(self, name: str, type: "Type", description: str | None = None, flags: int | None = None) -> None:  # noqa: A002
        self.name = name
        self.type = type
        self.description = description
        self.flags = flags


class FunctionType(_Named):
    """A function that a resource offers."""

    __slots__ = ("output", "parameters")

    def __init__(self, parameters: list[FunctionParameter] | None = None, output: "Type | None" = None) -> None:
        self.parameters: list[FunctionParameter] = [] if parameters is None else parameters
        self.output: Type = AnyType() if output is None else output


class ResourceFunction(_Named):
    """The name under which a resource offers a function is its key; this is the rest."""

    __slots__ = ("description", "type")

    def __init__(self, type: FunctionType, description: str | None = None) -> None:  # noqa: A002
        self.type = type
        self.description = description


class ResourceType(_Named):
    """A resource type, ``name@version``. Scope bits as in `ALL_SCOPES`; both 0 means everywhere, as Bicep reads it."""

    __slots__ = ("body", "functions", "name", "readable_scopes", "writable_scopes")

    def __init__(
        self,
        name: str,
        body: "Body",
        readable_scopes: int = ALL_SCOPES,
        writable_scopes: int = ALL_SCOPES,
        functions: dict[str, ResourceFunction] | None = None,
    ) -> None:
        self.name = name
        self.body = body
        self.readable_scopes = readable_scopes
        self.writable_scopes = writable_scopes
        self.functions: dict[str, ResourceFunction] = {} if functions is None else functions

    @property
    def readable(self) -> bool:
        """Whether it can be an `existing` resource."""
        return bool(self.readable_scopes) or not self.writable_scopes

    @property
    def writable(self) -> bool:
        """Whether it can be deployed."""
        return bool(self.writable_scopes) or not self.readable_scopes


class ResourceFunctionType(_Named):
    """A function on an Azure resource type, such as ``listKeys``."""

    __slots__ = ("api_version", "input", "name", "output", "resource_type")

    def __init__(
        self,
        name: str,
        resource_type: str,
        api_version: str,
        output: "Type | None" = None,
        input: "Type | None" = None,  # noqa: A002
    ) -> None:
        self.name = name
        self.resource_type = resource_type
        self.api_version = api_version
        self.output: Type = AnyType() if output is None else output
        self.input = input


class NamespaceFunctionType(_Named):
    """A function of the extension itself. `visible_in`: 1 Bicep files, 2 parameter files."""

    __slots__ = ("description", "expression", "name", "output_type", "parameters", "visible_in")

    def __init__(
        self,
        name: str,
        parameters: list[FunctionParameter] | None = None,
        output_type: "Type | None" = None,
        description: str | None = None,
        expression: str | None = None,
        visible_in: int | None = None,
    ) -> None:
        self.name = name
        self.parameters: list[FunctionParameter] = [] if parameters is None else parameters
        self.output_type: Type = AnyType() if output_type is None else output_type
        self.description = description
        self.expression = expression
        self.visible_in = visible_in


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


class Settings(NamedTuple):
    """Who the types belong to."""

    name: str
    version: str
    is_singleton: bool = False
    is_preview: bool | None = None
    is_deprecated: bool | None = None


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
    return [_plain(getattr(type_, name)) for name in type_.__slots__ if name != "facts"]


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
