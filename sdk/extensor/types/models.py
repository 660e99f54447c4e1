"""pydantic models to types: fields with marks become properties with flags.

| Python | bicep-types |
|---|---|
| `str`, and what pydantic writes as a text (`datetime`, `UUID`, `Path`, `Decimal`, …) | StringType |
| `int`, `bool`, `None`, `Any` | IntegerType, BooleanType, NullType, AnyType |
| `float` | NumberType, written as AnyType (see `extensor.types.model.NumberType`) |
| `Literal`, `Enum` of texts | UnionType of StringLiteralType; of whole numbers IntegerType with bounds |
| `T \\| None` with a default | T, not required; without one UnionType with NullType |
| `list`, `tuple`, `set`; `dict` | ArrayType; ObjectType with additional properties |
| a model; a union with a discriminator | ObjectType; DiscriminatedObjectType |

This is the one module of the room that imports pydantic.
"""

import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from inspect import cleandoc
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, RootModel, SecretBytes, SecretStr, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from extensor.contract.names import TypeName
from extensor.contract.unknown import Unknown
from extensor.errors import TypesError
from extensor.types import model
from extensor.types.annotations import Annotations
from extensor.types.flags import CALCULATED, IDENTIFIER, IMMUTABLE, READ_ONLY, SECRET, WRITE_ONLY, Flag, Mark
from extensor.types.index import TypeIndex

_FLAGS = {IDENTIFIER: Flag.IDENTIFIER, READ_ONLY: Flag.READ_ONLY, WRITE_ONLY: Flag.WRITE_ONLY}


def index_of(
    name: str,
    version: str,
    models: Mapping[str, type[BaseModel]],
    config: type[BaseModel] | None = None,
    *,
    without_get: Collection[str] = (),
    without_save: Collection[str] = (),
) -> TypeIndex:
    """The types of a provider from its models by ``name@version``.

    Types in `without_get` cannot be `existing` in a template, those in `without_save` only that. Raises `TypesError`
    for a name or a field that has no counterpart, naming model and field.
    """
    converter = _Converter()
    resources: dict[str, model.ResourceType] = {}
    folded: dict[str, str] = {}
    for type_name, cls in models.items():
        try:
            key = TypeName.parse(type_name).key
        except ValueError as error:
            raise TypesError(f"{cls.__name__}: {error}") from None
        if key in folded:
            raise TypesError(f"{type_name!r} and {folded[key]!r} are one type, since names compare without case")
        folded[key] = type_name
        resources[type_name] = model.ResourceType(
            type_name,
            converter.body(cls),
            0 if type_name in without_get else model.ALL_SCOPES,
            0 if type_name in without_save else model.ALL_SCOPES,
        )
    return TypeIndex(
        model.Settings(name, version), resources, config_type=None if config is None else converter.body(config)
    )


def body_of(cls: type[BaseModel]) -> model.Body:
    """The object type of one model. Raises `TypesError` as `index_of` does."""
    return _Converter().body(cls)


class _Converter:
    """One run: each model becomes one type, so that recursive models end in a cycle."""

    def __init__(self) -> None:
        self._objects: dict[tuple[type[BaseModel], str | None, str | None], model.ObjectType] = {}
        self._unions: dict[tuple[Any, ...], model.DiscriminatedObjectType] = {}
        self._running: list[Any] = []

    def body(self, cls: type[BaseModel]) -> model.Body:
        """The object type of a resource's or a configuration's model."""
        found = self._class(cls, Annotations((), cls.__name__), cls.__name__)
        if not isinstance(found, model.ObjectType | model.DiscriminatedObjectType):
            raise TypesError(
                f"{cls.__name__}: a resource or a configuration is an object, or a union of models with a discriminator"
            )
        return found

    def of(self, annotation: Any, said: Annotations, where: str) -> model.Type:
        """The type of an annotation; `said` is what stands beside it."""
        if isinstance(annotation, TypeVar):
            return model.AnyType()
        if hasattr(annotation, "__value__"):  # a `type` statement's alias
            return self.of(annotation.__value__, said, where)
        if hasattr(annotation, "__supertype__"):  # NewType
            return self.of(annotation.__supertype__, said, where)
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.of(args[0], Annotations((*args[1:], *said.items), where), where)
        if hasattr(origin, "__value__"):
            return self.of(origin.__value__[args], said, where)
        if origin is Union or origin is types.UnionType:
            return self._union(args, said, where)
        if origin is Literal:
            return _choices(args, said, where)
        kind = origin or annotation
        if kind is Any or kind is object:
            return _no_secret(model.AnyType(), said, where)
        if kind is None or kind is type(None):
            return model.NullType()
        if isinstance(kind, type):
            return self._class_or_container(kind, args, said, where)
        return self._from_schema(annotation, said, where)

    def _class_or_container(self, kind: type, args: tuple[Any, ...], said: Annotations, where: str) -> model.Type:
        if issubclass(kind, BaseModel):
            return self._class(kind, said, where)
        if issubclass(kind, Enum):
            return _choices([item.value for item in kind], said, where)
        if kind is bool:
            return _no_secret(model.BooleanType(), said, where)
        if kind is int:
            return _no_secret(said.integer(), said, where)
        if kind is float:
            return _no_secret(said.number(), said, where)
        if issubclass(kind, str | SecretStr | SecretBytes):
            return said.text(sensitive=not issubclass(kind, str))
        if issubclass(kind, Mapping) and not hasattr(kind, "__annotations__"):
            values = self.of(args[1], Annotations((), where), f"{where}[…]") if len(args) == 2 else model.AnyType()
            return model.ObjectType(_title(where), {}, values, SECRET in said.marks)
        if issubclass(kind, Sequence | AbstractSet) and not issubclass(kind, bytes | bytearray | memoryview):
            return self._array(kind, args, said, where)
        return self._from_schema(kind, said, where)

    def _array(self, kind: type, args: tuple[Any, ...], said: Annotations, where: str) -> model.Type:
        inner = Annotations((SECRET,) if SECRET in said.marks else (), where)
        shortest, longest = said.shortest, said.longest
        if issubclass(kind, tuple) and args and args[-1] is not Ellipsis:
            found = [self.of(item, inner, f"{where}[]") for item in args]
            item_type, shortest, longest = _joined(found), len(args), len(args)
        elif args:
            item_type = self.of(args[0], inner, f"{where}[]")
        else:
            item_type = _no_secret(model.AnyType(), inner, where)
        return model.ArrayType(item_type, shortest, longest)

    def _union(self, args: tuple[Any, ...], said: Annotations, where: str) -> model.Type:
        args = tuple(arm for arm in args if arm is not Unknown)
        arms = [arm for arm in args if arm is not type(None)]
        if len(arms) == 1:
            found = self.of(arms[0], said, where)
        elif said.discriminator is not None:
            found = self._discriminated(arms, said.discriminator, where)
        else:
            found = _joined([self.of(arm, said, where) for arm in arms])
        return found if len(arms) == len(args) else _joined([found, model.NullType()])

    def _discriminated(self, arms: Sequence[Any], discriminator: str, where: str) -> model.Type:
        models = self._models(arms, where)
        key = (discriminator, *models)
        known = self._unions.get(key)
        if known is not None:
            return known
        made = self._unions[key] = model.DiscriminatedObjectType(_title(where))
        for arm in models:
            field = arm.model_fields.get(discriminator)
            if field is None:
                raise TypesError(
                    f"{where}: {arm.__name__} has no field {discriminator!r}, by which the variants are told apart"
                )
            wire_name = _wire_name(discriminator, field, where)
            if made.discriminator not in ("", wire_name):
                raise TypesError(
                    f"{where}: the variants write {discriminator!r} as {made.discriminator!r} and as {wire_name!r}"
                )
            made.discriminator = wire_name
            for value in _texts(field.annotation, f"{arm.__name__}.{discriminator}"):
                if value in made.elements:
                    raise TypesError(f"{where}: two variants have {wire_name!r} {value!r}")
                made.elements[value] = self._object(arm, discriminator, value)
        return made

    def _models(self, arms: Iterable[Any], where: str) -> list[type[BaseModel]]:
        found: list[type[BaseModel]] = []
        for arm in arms:
            while get_origin(arm) is Annotated:
                arm = get_args(arm)[0]
            if get_origin(arm) in (Union, types.UnionType):
                found.extend(self._models(get_args(arm), where))
            elif isinstance(arm, type) and issubclass(arm, BaseModel):
                found.append(arm)
            else:
                raise TypesError(f"{where}: the variants of a discriminated union are models, this is {arm!r}")
        return found

    def _class(self, cls: type[BaseModel], said: Annotations, where: str) -> model.Type:
        if issubclass(cls, RootModel):
            if cls in self._running:
                raise TypesError(
                    f"{where}: {cls.__name__} contains itself; give the recursion a model with a named field"
                )
            self._running.append(cls)
            cls.model_rebuild()
            root = cls.model_fields["root"]
            try:
                return self.of(root.annotation, Annotations((root, *said.items), cls.__name__), cls.__name__)
            finally:
                self._running.pop()
        return self._object(cls, sensitive=SECRET in said.marks)

    def _object(
        self,
        cls: type[BaseModel],
        discriminator: str | None = None,
        value: str | None = None,
        *,
        sensitive: bool = False,
    ) -> model.ObjectType:
        key = (cls, discriminator, "secret" if sensitive else value)
        known = self._objects.get(key)
        if known is not None:
            return known
        made = self._objects[key] = model.ObjectType(cls.__name__, sensitive=sensitive)
        try:
            cls.model_rebuild()
        except PydanticUserError as error:
            raise TypesError(f"{cls.__name__}: {error}") from None
        for name, field in cls.model_fields.items():
            wire_name = _wire_name(name, field, cls.__name__)
            if wire_name in made.properties:
                raise TypesError(f"{cls.__name__}: two fields are written as {wire_name!r}")
            told = name == discriminator and value is not None
            made.properties[wire_name] = self._property(field, f"{cls.__name__}.{name}", value if told else None)
        for name, computed in cls.model_computed_fields.items():
            type_ = self.of(computed.return_type, Annotations((), ""), f"{cls.__name__}.{name}")
            made.properties[computed.alias or name] = model.Property(type_, Flag.READ_ONLY, computed.description)
        if cls.model_config.get("extra") == "allow":
            made.additional_properties = model.AnyType()
        return made

    def _property(self, field: FieldInfo, where: str, value: str | None) -> model.Property:
        annotation, hoisted = _unwrapped(field.annotation)
        said = Annotations((*hoisted, field), where)
        type_ = self.of(annotation, said, where) if value is None else model.StringLiteralType(value)
        flags = Flag.NONE
        for mark, flag in _FLAGS.items():
            if mark in said.marks:
                flags |= flag
        if field.exclude is True:
            flags |= Flag.WRITE_ONLY
        if Flag.READ_ONLY | Flag.WRITE_ONLY in flags:
            raise TypesError(f"{where}: cannot be both read-only and write-only")
        if (field.is_required() or value is not None) and Flag.READ_ONLY not in flags:
            flags |= Flag.REQUIRED
        elif isinstance(type_, model.UnionType) and Flag.REQUIRED not in flags:
            type_ = _without_null(type_)
        description = field.description or said.description or _first_paragraph(annotation)
        return model.Property(type_, flags, description, IMMUTABLE in said.marks, CALCULATED in said.marks)

    def _from_schema(self, annotation: Any, said: Annotations, where: str) -> model.Type:
        """What pydantic writes for a type of the standard library or of its own: mostly a text."""
        try:
            schema = TypeAdapter(annotation).json_schema(mode="serialization")
        except (PydanticUserError, TypeError) as error:
            raise TypesError(f"{where}: {annotation!r} has no counterpart in bicep-types") from error
        match schema.get("type"):
            case "string":
                return said.text()
            case "integer":
                return _no_secret(said.integer(), said, where)
            case "number":
                return _no_secret(said.number(), said, where)
            case "boolean":
                return _no_secret(model.BooleanType(), said, where)
            case "object":
                return model.ObjectType(_title(where), {}, model.AnyType(), SECRET in said.marks)
            case "array":
                return model.ArrayType(_no_secret(model.AnyType(), said, where))
            case _:
                return _no_secret(model.AnyType(), said, where)


def _unwrapped(annotation: Any) -> tuple[Any, list[Any]]:
    """Marks inside ``ReadOnly[int] | None`` speak about the property as they do in ``ReadOnly[int | None]``."""
    hoisted: list[Any] = []
    if get_origin(annotation) in (Union, types.UnionType):
        for arm in get_args(annotation):
            while get_origin(arm) is Annotated:
                arm, *metadata = get_args(arm)
                hoisted.extend(item for item in metadata if isinstance(item, Mark) and item != SECRET)
    return annotation, hoisted


def _no_secret(type_: model.Type, said: Annotations, where: str) -> model.Type:
    if SECRET in said.marks:
        raise TypesError(
            f"{where}: Secret is for texts, objects and arrays of them; bicep-types cannot mark {type(type_).__name__}"
        )
    return type_


def _choices(values: Iterable[Any], said: Annotations, where: str) -> model.Type:
    values = [item.value if isinstance(item, Enum) else item for item in values]
    found: list[model.Type] = [
        model.StringLiteralType(value, SECRET in said.marks)
        for value in dict.fromkeys(values)
        if isinstance(value, str)
    ]
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if numbers:
        found.append(_no_secret(model.IntegerType(min(numbers), max(numbers)), said, where))
    if any(isinstance(value, bool) for value in values):
        found.append(_no_secret(model.BooleanType(), said, where))
    if any(value is None for value in values):
        found.append(model.NullType())
    other = next((value for value in values if value is not None and not isinstance(value, str | int)), None)
    if other is not None:
        raise TypesError(f"{where}: the choice {other!r} has no counterpart in bicep-types")
    return _joined(found)


def _joined(found: Sequence[model.Type]) -> model.Type:
    """One union, flat, each element once."""
    flat: list[model.Type] = []
    for item in found:
        for element in item.elements if isinstance(item, model.UnionType) else [item]:
            if not any(model.same_type(element, known) for known in flat):
                flat.append(element)
    if any(isinstance(element, model.AnyType) for element in flat):
        return model.AnyType()
    return flat[0] if len(flat) == 1 else model.UnionType(flat)


def _without_null(type_: model.UnionType) -> model.Type:
    rest = [element for element in type_.elements if not isinstance(element, model.NullType)]
    return type_ if not rest or len(rest) == len(type_.elements) else _joined(rest)


def _texts(annotation: Any, where: str) -> list[str]:
    """The values a discriminator field may have."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    values: list[Any] = []
    if get_origin(annotation) is Literal:
        values = [item.value if isinstance(item, Enum) else item for item in get_args(annotation)]
    if not values or not all(isinstance(value, str) for value in values):
        raise TypesError(f"{where}: tells variants apart, so it is a Literal of texts")
    return values


def _wire_name(name: str, field: FieldInfo, where: str) -> str:
    read = field.validation_alias if field.validation_alias is not None else field.alias
    written = field.serialization_alias or field.alias
    if isinstance(read, str):
        if written is not None and written != read:
            raise TypesError(f"{where}.{name}: is read as {read!r} and written as {written!r}; a property has one name")
        return read
    return written or name


def _title(where: str) -> str:
    return "".join(char for char in where if char.isalnum() or char in "._")


def _first_paragraph(annotation: Any) -> str | None:
    """A nested model's own docstring describes the property."""
    for arm in (annotation, *get_args(annotation)):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            text = arm.__dict__.get("__doc__")
            if text:
                return " ".join(cleandoc(text).split("\n\n")[0].split())
    return None
