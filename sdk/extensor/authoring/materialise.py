"""From decoded JSON to a model, where some values are not known yet.

What holds no unknown is validated as always. On the way from the root to an unknown there is no whole value to
validate: there the models are built field by field, and an author's validator runs only where everything it sees is
known. So field validators run for known fields, with the known fields in ``info.data``, and model validators not at
all.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, core_schema

from extensor.authoring.faults import faults_of
from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import Unknown, has_unknown
from extensor.errors import OperationFailed

M = TypeVar("M", bound=BaseModel)
_SEQUENCES = (list, tuple, set, frozenset, Iterable)


def materialise(model: type[M], data: JsonObject, path: Path = ()) -> M:
    """An instance of `model` that holds `data`, unknowns included. Raises `OperationFailed` with every fault."""
    if not has_unknown(data):
        return validated(model, data, path)
    faults: list[Fault] = []
    built = _model(model, data, path, faults)
    if faults:
        raise OperationFailed.many(faults)
    return built


def validated(model: type[M], data: JsonObject, path: Path = ()) -> M:
    """The same for data without unknowns."""
    try:
        return model.__pydantic_validator__.validate_python(data)  # what model_validate does, less a layer
    except ValidationError as error:
        raise OperationFailed.many(faults_of(error, data, path)) from None


def identify(model: type[M], identifiers: JsonObject, path: Path) -> M:
    """An instance that holds the identifiers alone; other fields hold their defaults, required ones are absent."""
    faults: list[Fault] = []
    built = _model(model, identifiers, path, faults, whole=False)
    if faults:
        raise OperationFailed.many(faults)
    return built


def materialise_into(instance: BaseModel, data: JsonObject) -> bool:
    """Fill a new, empty instance; ``False`` when the known values do not fit."""
    try:
        built = materialise(type(instance), data)
    except OperationFailed:
        return False
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(instance, name, getattr(built, name))
    return True


def _model(model: type[M], data: JsonObject, path: Path, faults: list[Fault], *, whole: bool = True) -> M:
    values: dict[str, Any] = {}
    known: JsonObject = {}
    seen: set[str] = set()
    for name, field in model.model_fields.items():
        key = _key(name, field.validation_alias, field.alias, data)
        if key is None:
            if whole and field.is_required():
                faults.append(
                    Fault(ErrorCode.MISSING_PROPERTY, "Field required", format_path((*path, field.alias or name)))
                )
            continue
        seen.add(key)
        if has_unknown(data[key]):
            values[name] = _value(field.annotation, data[key], (*path, key), faults)
        elif whole or not isinstance(data[key], dict):
            known[key] = data[key]
        else:
            values[name] = _value(field.annotation, data[key], (*path, key), faults, whole=False)
    if model.model_config.get("extra") == "forbid":
        faults.extend(
            Fault(ErrorCode.UNKNOWN_PROPERTY, "Extra inputs are not permitted", format_path((*path, key)))
            for key in data
            if key not in seen
        )
    try:
        values.update(_known_fields(model, frozenset(seen & known.keys()))(known))
    except ValidationError as error:
        faults.extend(faults_of(error, known, path))
    return model.model_construct(_fields_set=set(values), **values)


def _key(name: str, validation_alias: object, alias: str | None, data: JsonObject) -> str | None:
    for key in (validation_alias, alias, name):
        if isinstance(key, str) and key in data:
            return key
    return None


def _value(annotation: Any, value: Json, path: Path, faults: list[Fault], *, whole: bool = True) -> Any:
    if type(value) is Unknown:
        return value
    if whole and not has_unknown(value):
        try:
            return _adapter(annotation).validate_python(value)
        except ValidationError as error:
            faults.extend(faults_of(error, value, path))
            return value
    annotation = _bare(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Union or origin is UnionType:
        return _member([arg for arg in args if arg is not type(None)], value, path, faults, whole)
    if isinstance(value, dict):
        if isinstance(annotation, type) and origin is None and issubclass(annotation, BaseModel):
            return _model(annotation, value, path, faults, whole=whole)
        item = args[1] if len(args) == 2 and isinstance(origin, type) and issubclass(origin, Mapping) else Any
        return {key: _value(item, each, (*path, key), faults) for key, each in value.items()}
    if isinstance(value, list):
        items = _items(origin, args, len(value))
        made = [
            _value(item, each, (*path, at), faults) for at, (item, each) in enumerate(zip(items, value, strict=True))
        ]
        return tuple(made) if origin is tuple else made
    return value


def _items(origin: Any, args: tuple[Any, ...], count: int) -> list[Any]:
    if origin is tuple and args and args[-1] is not Ellipsis and len(args) == count:
        return list(args)
    if args and isinstance(origin, type) and issubclass(origin, _SEQUENCES):
        return [args[0]] * count
    return [Any] * count


def _member(choices: list[Any], value: Json, path: Path, faults: list[Fault], whole: bool) -> Any:
    """The first member of a union whose known parts fit; when none does, the faults of the one with the fewest."""
    best: list[Fault] | None = None
    for choice in choices:
        own: list[Fault] = []
        made = _value(choice, value, path, own, whole=whole)
        if not own and _fits(choice, value):
            return made
        if own and (best is None or len(own) < len(best)):
            best = own
    faults.extend(best or [])
    return value


def _fits(choice: Any, value: Json) -> bool:
    choice = _bare(choice)
    kind = get_origin(choice) or choice
    if choice is Any or not isinstance(kind, type):
        return True
    if isinstance(value, dict):
        return issubclass(kind, BaseModel | Mapping)
    return isinstance(value, list) and issubclass(kind, _SEQUENCES) and not issubclass(kind, str | bytes | Mapping)


def _bare(annotation: Any) -> Any:
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__value__"):  # a `type` statement's alias
            annotation = annotation.__value__
        else:
            return annotation


@lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


@lru_cache(maxsize=1024)
def _known_fields(model: type[BaseModel], keys: frozenset[str]) -> Callable[[JsonObject], JsonObject]:
    """A validator of some of a model's fields, the author's field validators included."""
    if not keys:
        return lambda _: {}
    model.model_rebuild()
    fields, definitions = _fields_of(model)
    wanted = {name: field for name, field in fields.items() if name in keys or field.get("validation_alias") in keys}
    schema: Any = core_schema.model_fields_schema(wanted)
    if definitions:
        schema = core_schema.definitions_schema(schema, definitions)
    validator = SchemaValidator(schema, core_schema.CoreConfig(validate_by_name=True, validate_by_alias=True))

    def validate(values: JsonObject) -> JsonObject:
        made, _, _ = validator.validate_python(values)
        return made

    return validate


def _fields_of(model: type[BaseModel]) -> tuple[dict[str, Any], list[Any]]:
    """The fields in a model's core schema, and the definitions that they refer to."""
    schema: Any = model.__pydantic_core_schema__
    definitions: list[Any] = []
    while schema["type"] != "model-fields":
        if schema["type"] == "definitions":
            definitions = schema["definitions"]
            schema = schema["schema"]
        elif schema["type"] == "definition-ref":
            schema = next(item for item in definitions if item.get("ref") == schema["schema_ref"])
        else:  # the model itself, and the functions of model validators around it
            schema = schema["schema"]
    return schema["fields"], definitions
