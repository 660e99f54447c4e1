"""bicep-types JSON to types: `index.json`, types files and the inline form, in all the spellings found in the wild.

Understood beside today's form: BuiltInType, the old scope fields, and what the Go writer does differently. A reference
is ``#/n`` inside a file and ``path/types.json#/n`` from the index's folder. Every error names file and position.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeVar

from extensor.contract.json import Json, JsonObject
from extensor.contract.names import TypeName
from extensor.errors import TypesError
from extensor.types import model
from extensor.types.flags import Flag
from extensor.types.index import Lazily, TypeIndex
from extensor.types.model import Type

_T = TypeVar("_T", bound=Type)
INDEX = "index.json"
_REF = re.compile(r"(?P<file>[^#]*)#/(?P<position>0|[1-9][0-9]{0,8})\Z")
_WORDS = re.compile(r"(\A| )\((immutable|calculated|number)\)\Z")
_BUILT_IN = {1: "Any", 2: "Null", 3: "Bool", 4: "Int", 5: "String", 6: "Object", 7: "Array", 8: "ResourceRef"}


class Place(NamedTuple):
    """Where something stands: a file and a JSON Pointer in it."""

    file: str
    pointer: str = ""

    def __truediv__(self, step: object) -> "Place":
        return Place(self.file, f"{self.pointer}/{str(step).replace('~', '~0').replace('/', '~1')}")

    def __str__(self) -> str:
        return f"{self.file}#{self.pointer}" if self.pointer else self.file

    def wrong(self, message: str) -> NoReturn:
        """Raise `TypesError` about this place."""
        raise TypesError(f"{self}: {message}")


def read_index(text: str, file_reader: Callable[[str], str]) -> TypeIndex:
    """An index whose types are read when asked for. Raises `TypesError` for what is wrong in the index itself."""
    top = Place(INDEX)
    wire = _object(_parse(text, INDEX), top)
    package = Package(file_reader)
    resources: dict[str, Callable[[], model.ResourceType]] = {}
    folded: dict[str, str] = {}
    for name, ref in _object(wire.get("resources", {}), top / "resources").items():
        place = top / "resources" / name
        try:
            key = TypeName.parse(name).key
        except ValueError as error:
            place.wrong(str(error))
        if key in folded:
            place.wrong(f"the same type as {folded[key]!r}, since names compare without case")
        folded[key] = name
        _target(ref, place, INDEX)
        resources[name] = partial(package.resource, ref, place, name)
    fallback = wire.get("fallbackResourceType")
    settings, config = _settings(wire.get("settings"), top / "settings")
    return TypeIndex(
        settings,
        Lazily(resources),
        config_type=None if config is None else partial(package.body, config, top / "settings" / "configurationType"),
        fallback=None if fallback is None else partial(package.resource, fallback, top / "fallbackResourceType", None),
        namespace_functions=partial(
            package.namespace_functions, wire.get("namespaceFunctions"), top / "namespaceFunctions"
        ),
        resource_functions=partial(
            package.resource_functions, wire.get("resourceFunctions"), top / "resourceFunctions"
        ),
    )


def read_inline(wire: Json, source: str = "type") -> Type:
    """A type from its self-contained form, ``{"types": […], "type": {"$ref": "#/n"}}``. Raises `TypesError`.

    `source` names the document in errors.
    """
    top = Place(source)
    whole = _object(wire, top)
    package = Package(_no_files, {source: _array(whole.get("types"), top / "types")}, "/types")
    return package.get(whole.get("type"), top / "type", source)


class Package:
    """The types files of one index, each parsed once, each type made once and only when something reaches it."""

    def __init__(
        self, file_reader: Callable[[str], str], parsed: dict[str, list[Json]] | None = None, prefix: str = ""
    ) -> None:
        self._read = file_reader
        self._files = {} if parsed is None else parsed
        self._prefix = prefix
        self._made: dict[tuple[str, int], Type] = {}
        self._waiting: list[tuple[Type, JsonObject, Place]] = []

    def get(self, ref: Json, place: Place, file: str) -> Type:
        """The type behind a reference that stands at `place` in `file`, with all it refers to."""
        found = self._refer(ref, place, file)
        try:
            while self._waiting:
                type_, wire, where = self._waiting.pop()
                _FILL[type(type_)](self, type_, wire, where)
        except TypesError:
            self._made.clear()  # half-filled types must not be found again
            self._waiting.clear()
            raise
        return found

    def resource(self, ref: Json, place: Place, name: str | None) -> model.ResourceType:
        """The resource type behind an index entry, under the index's spelling of its name."""
        found = self.get(ref, place, INDEX)
        if not isinstance(found, model.ResourceType):
            place.wrong(f"refers to {_a(found)}, not to a ResourceType")
        if name is not None and found.name.lower() != name.lower():
            place.wrong(f"refers to the resource type {found.name!r}")
        return found

    def body(self, ref: Json, place: Place) -> model.Body:
        """The object type behind a reference in the index."""
        return self._body(self.get(ref, place, INDEX), place)

    def namespace_functions(self, wire: Json, place: Place) -> list[model.NamespaceFunctionType]:
        """The functions that the index lists."""
        return [
            _expect(self.get(ref, place / n, INDEX), model.NamespaceFunctionType, place / n)
            for n, ref in enumerate([] if wire is None else _array(wire, place))
        ]

    def resource_functions(self, wire: Json, place: Place) -> dict[str, dict[str, list[model.ResourceFunctionType]]]:
        """By type and version; Go's third level, a map by name, becomes a list."""
        found: dict[str, dict[str, list[model.ResourceFunctionType]]] = {}
        for name, versions in _object({} if wire is None else wire, place).items():
            for version, refs in _object(versions, place / name).items():
                at = place / name / version
                items = refs.items() if isinstance(refs, dict) else enumerate(_array(refs, at))
                found.setdefault(name, {})[version] = [
                    _expect(self.get(ref, at / key, INDEX), model.ResourceFunctionType, at / key) for key, ref in items
                ]
        return found

    def _refer(self, ref: Json, place: Place, file: str) -> Type:
        target = _target(ref, place, file)
        found = self._made.get(target)
        return found if found is not None else self._make(*target, place)

    def _make(self, file: str, position: int, asked_at: Place) -> Type:
        entries = self._files.get(file)
        if entries is None:
            entries = self._files[file] = _array(_parse(self._read(file), file), Place(file))
        if position >= len(entries):
            asked_at.wrong(f"there is no type {position} in {file}; it holds {len(entries)} types")
        place = Place(file, f"{self._prefix}/{position}")
        wire = _object(entries[position], place)
        kind = wire.get("$type")
        maker = _MAKE.get(kind) if isinstance(kind, str) else None
        if maker is None:
            (place / "$type").wrong(f"there is no kind of type {kind!r}")
        made = self._made[file, position] = maker(wire, place)
        if type(made) in _FILL:
            self._waiting.append((made, wire, place))
        return made

    def _at(self, wire: JsonObject, key: str, place: Place) -> Type:
        return self._refer(wire.get(key), place / key, place.file)

    def _body(self, found: Type, place: Place) -> model.Body:
        if not isinstance(found, model.ObjectType | model.DiscriminatedObjectType):
            place.wrong(f"refers to {_a(found)}; an ObjectType or a DiscriminatedObjectType belongs here")
        return found

    def _properties(self, wire: Json, place: Place) -> dict[str, model.Property]:
        found: dict[str, model.Property] = {}
        for name, item in _object({} if wire is None else wire, place).items():
            at = place / name
            item = _object(item, at)
            flags = item.get("flags", 0)
            if not _is_int(flags) or not 0 <= flags <= 31:
                (at / "flags").wrong("expected a number made of the bits 1, 2, 4, 8 and 16")
            type_ = self._at(item, "type", at)
            description, words = _words(_text_or_none(item, "description", at))
            if "number" in words and isinstance(type_, model.AnyType):
                type_ = model.NumberType()
            elif "number" in words:
                description = "(number)" if description is None else f"{description} (number)"
            found[name] = model.Property(type_, Flag(flags), description, "immutable" in words, "calculated" in words)
        return found

    def _parameters(self, wire: JsonObject, place: Place) -> list[model.FunctionParameter]:
        found: list[model.FunctionParameter] = []
        for n, item in enumerate(_array(wire.get("parameters", []), place / "parameters")):
            at = place / "parameters" / n
            item = _object(item, at)
            found.append(
                model.FunctionParameter(
                    _text(item, "name", at),
                    self._at(item, "type", at),
                    _text_or_none(item, "description", at),
                    _int(item, "flags", at),
                )
            )
        return found

    def fill_union(self, type_: model.UnionType, wire: JsonObject, place: Place) -> None:
        """Each `fill_…` gives a type, made empty before, the types it refers to."""
        at = place / "elements"
        type_.elements = [
            self._refer(ref, at / n, place.file) for n, ref in enumerate(_array(wire.get("elements"), at))
        ]

    def fill_array(self, type_: model.ArrayType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        if wire.get("$type") != "BuiltInType":
            type_.item_type = self._at(wire, "itemType", place)

    def fill_object(self, type_: model.ObjectType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.properties = self._properties(wire.get("properties"), place / "properties")
        if wire.get("additionalProperties") is not None:
            type_.additional_properties = self._at(wire, "additionalProperties", place)

    def fill_discriminated(self, type_: model.DiscriminatedObjectType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.base_properties = self._properties(wire.get("baseProperties"), place / "baseProperties")
        at = place / "elements"
        for value, ref in _object(wire.get("elements"), at).items():
            type_.elements[value] = _expect(self._refer(ref, at / value, place.file), model.ObjectType, at / value)

    def fill_resource(self, type_: model.ResourceType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.body = self._body(self._at(wire, "body", place), place / "body")
        functions = wire.get("functions")
        for name, item in _object({} if functions is None else functions, place / "functions").items():
            at = place / "functions" / name
            item = _object(item, at)
            type_.functions[name] = model.ResourceFunction(
                _expect(self._at(item, "type", at), model.FunctionType, at / "type"),
                _text_or_none(item, "description", at),
            )

    def fill_function(self, type_: model.FunctionType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.parameters = self._parameters(wire, place)
        type_.output = self._at(wire, "output", place)

    def fill_resource_function(self, type_: model.ResourceFunctionType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.output = self._at(wire, "output", place)
        if wire.get("input") is not None:
            type_.input = self._at(wire, "input", place)

    def fill_namespace_function(self, type_: model.NamespaceFunctionType, wire: JsonObject, place: Place) -> None:
        """See `fill_union`."""
        type_.parameters = self._parameters(wire, place)
        type_.output_type = self._at(wire, "outputType", place)


_FILL: dict[type, Callable[[Package, Any, JsonObject, Place], None]] = {
    model.UnionType: Package.fill_union,
    model.ArrayType: Package.fill_array,
    model.ObjectType: Package.fill_object,
    model.DiscriminatedObjectType: Package.fill_discriminated,
    model.ResourceType: Package.fill_resource,
    model.FunctionType: Package.fill_function,
    model.ResourceFunctionType: Package.fill_resource_function,
    model.NamespaceFunctionType: Package.fill_namespace_function,
}


def _built_in(wire: JsonObject, place: Place) -> Type:
    kind: Any = wire.get("kind")
    maker = _MAKE_BUILT_IN.get(_BUILT_IN.get(kind, "") if _is_int(kind) else str(kind))
    if maker is None:
        (place / "kind").wrong(f"there is no built-in type {kind!r}")
    return maker()


_MAKE_BUILT_IN: dict[str, Callable[[], Type]] = {
    "Any": model.AnyType,
    "Null": model.NullType,
    "Bool": model.BooleanType,
    "Int": model.IntegerType,
    "String": model.StringType,
    "Object": lambda: model.ObjectType("object", {}, model.AnyType()),
    "Array": lambda: model.ArrayType(model.AnyType()),
    "ResourceRef": model.StringType,
}


def _string(wire: JsonObject, place: Place) -> Type:
    return model.StringType(
        wire.get("sensitive") is True,
        _int(wire, "minLength", place),
        _int(wire, "maxLength", place),
        _text_or_none(wire, "pattern", place),
    )


def _resource(wire: JsonObject, place: Place) -> Type:
    new = {"readableScopes", "writableScopes"} & wire.keys()
    old = {"scopeType", "readOnlyScopes", "flags"} & wire.keys()
    if new and old:
        place.wrong(f"mixes old and new scope fields: {', '.join(sorted(new | old))}")
    if len(new) == 1:
        place.wrong("needs readableScopes and writableScopes, not one of them")
    if new:
        readable, writable = _int(wire, "readableScopes", place) or 0, _int(wire, "writableScopes", place) or 0
    else:
        writable = _int(wire, "scopeType", place) or model.ALL_SCOPES
        readable = writable | (_int(wire, "readOnlyScopes", place) or 0)
        if (_int(wire, "flags", place) or 0) & 1:
            writable = 0
    return model.ResourceType(_name(wire, place), model.ObjectType(), readable, writable)


_MAKE: dict[str, Callable[[JsonObject, Place], Type]] = {
    "AnyType": lambda _, __: model.AnyType(),
    "NullType": lambda _, __: model.NullType(),
    "BooleanType": lambda _, __: model.BooleanType(),
    "IntegerType": lambda wire, at: model.IntegerType(_int(wire, "minValue", at), _int(wire, "maxValue", at)),
    "StringType": _string,
    "StringLiteralType": lambda wire, at: model.StringLiteralType(
        _text(wire, "value", at), wire.get("sensitive") is True
    ),
    "BuiltInType": _built_in,
    "UnionType": lambda _, __: model.UnionType(),
    "ArrayType": lambda wire, at: model.ArrayType(
        model.AnyType(), _int(wire, "minLength", at), _int(wire, "maxLength", at)
    ),
    "ObjectType": lambda wire, at: model.ObjectType(_name(wire, at), sensitive=wire.get("sensitive") is True),
    "DiscriminatedObjectType": lambda wire, at: model.DiscriminatedObjectType(
        _name(wire, at), _text(wire, "discriminator", at)
    ),
    "ResourceType": _resource,
    "FunctionType": lambda _, __: model.FunctionType(),
    "ResourceFunctionType": lambda wire, at: model.ResourceFunctionType(
        _name(wire, at), _text(wire, "resourceType", at), _text(wire, "apiVersion", at)
    ),
    "NamespaceFunctionType": lambda wire, at: model.NamespaceFunctionType(
        _name(wire, at),
        description=_text_or_none(wire, "description", at),
        expression=_text_or_none(wire, "evaluatedLanguageExpression", at),
        visible_in=_int(wire, "visibleInFileKind", at),
    ),
}


def _settings(wire: Json, place: Place) -> tuple[model.Settings | None, Json]:
    if wire is None:
        return None, None
    wire = _object(wire, place)
    flags: list[bool | None] = []
    for key in ("isSingleton", "isPreview", "isDeprecated"):
        value = wire.get(key)
        if value is not None and not isinstance(value, bool):
            (place / key).wrong("expected a boolean")
        flags.append(value)
    settings = model.Settings(_text(wire, "name", place), _text(wire, "version", place), bool(flags[0]), *flags[1:])
    config = wire.get("configurationType")
    if config is not None:
        _target(config, place / "configurationType", INDEX)
    return settings, config


def _words(description: str | None) -> tuple[str | None, set[str]]:
    words: set[str] = set()
    while description and (match := _WORDS.search(description)):
        words.add(match[2])
        description = description[: match.start()] if match[1] else None
    return description, words


def _target(ref: Json, place: Place, file: str) -> tuple[str, int]:
    text = ref.get("$ref") if isinstance(ref, dict) else None
    match = _REF.match(text) if isinstance(text, str) else None
    if match is None or not (match["file"] or file != INDEX):
        place.wrong('expected a reference, {"$ref": "' + ("path/types.json" if file == INDEX else "") + '#/0"}')
    return match["file"].removeprefix("./") or file, int(match["position"])


def _parse(text: str, file: str) -> Json:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TypesError(f"{file}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise TypesError(f"{file}: nested too deeply") from None


def _no_files(path: str) -> str:
    raise TypesError(f"a type that stands alone refers to the file {path!r}")


def _expect(found: Type, kind: type[_T], place: Place) -> _T:
    if type(found) is not kind:
        place.wrong(f"refers to {_a(found)}; {kind.__name__} belongs here")
    return found


def _a(found: Type) -> str:
    return f"a type of the kind {type(found).__name__}"


def _object(value: Json, place: Place) -> JsonObject:
    if not isinstance(value, dict):
        place.wrong("expected an object")
    return value


def _array(value: Json, place: Place) -> list[Json]:
    if not isinstance(value, list):
        place.wrong("expected an array")
    return value


def _is_int(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _int(wire: JsonObject, key: str, place: Place) -> int | None:
    value = wire.get(key)
    if value is not None and not _is_int(value):
        (place / key).wrong("expected a whole number")
    return value


def _text(wire: JsonObject, key: str, place: Place) -> str:
    value = wire.get(key)
    if not isinstance(value, str):
        (place / key).wrong("expected a text" if key in wire else "is required")
    return value


def _name(wire: JsonObject, place: Place) -> str:
    return _text(wire, "name", place) if "name" in wire else ""


def _text_or_none(wire: JsonObject, key: str, place: Place) -> str | None:
    return None if wire.get(key) is None else _text(wire, key, place)
