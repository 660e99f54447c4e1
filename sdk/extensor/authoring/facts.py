"""What the runtime needs to know about one registered type, made when the type is first used."""

from functools import cached_property

from extensor.authoring.provider import Provider, Registration
from extensor.contract.json import Json, JsonObject
from extensor.contract.verbs import Verb
from extensor.types.model import ArrayType, DiscriminatedObjectType, ObjectType, ResourceType, Type
from extensor.types.shape import Shape, shape_of
from extensor.types.validate import Purpose, surely_fits

DEPLOYMENT_INSTRUCTIONS = frozenset({"dependsOn"})
"""What a host's language adds to every resource and no provider gets, unless its type has a property of that name."""


class TypeFacts:
    """A type's registration, its bicep type and its shape."""

    def __init__(self, provider: Provider, registration: Registration) -> None:
        self._provider = provider
        self.registration = registration
        self.name = str(registration.name)
        """``name@version``."""
        self.model = registration.model

    @cached_property
    def type(self) -> ResourceType:
        """The type against which requests and results are checked."""
        return self._provider.types.resource(self.name)

    @cached_property
    def shape(self) -> Shape:
        """Which properties are identifiers, read-only, secret, …"""
        return shape_of(self.type)

    @cached_property
    def identifier_fields(self) -> tuple[tuple[str, str], ...]:
        """The model's fields that name the resource, each with its name on the wire; nested ones are not among them."""
        names = {str(path[0]) for path in self.shape.identifiers if len(path) == 1}
        fields = self.registration.model.model_fields.items()
        spelled = ((field, info.serialization_alias or info.alias or field) for field, info in fields)
        return tuple((field, name) for field, name in spelled if name in names)

    @cached_property
    def guards_immutables(self) -> bool:
        """Whether a change of an immutable property can be found out."""
        return bool(self.shape.immutable) and Verb.GET in self.registration.verbs

    @cached_property
    def instructions(self) -> frozenset[str]:
        """The names to drop from every request of this type."""
        body = self.type.body
        known = set(body.properties) if isinstance(body, ObjectType) else set(body.base_properties)
        return DEPLOYMENT_INSTRUCTIONS - known

    def surely_takes(self, properties: JsonObject, purpose: Purpose) -> bool:
        """Whether a request's properties have no faults and nothing for `clean` to take out; ``False`` says nothing."""
        return surely_fits(properties, self.type, purpose=purpose) and self.instructions.isdisjoint(properties)

    def clean(self, properties: JsonObject) -> JsonObject:
        """Without deployment instructions and without nulls, which stand for properties that are not given."""
        if not self.instructions.isdisjoint(properties):
            properties = {name: value for name, value in properties.items() if name not in self.instructions}
        return without_nulls(properties, self.type.body) if _has_null(properties) else properties


def without_nulls(value: Json, type_: Type | None) -> Json:
    """`value` without the declared properties that are null, at every depth that the type describes."""
    if isinstance(type_, DiscriminatedObjectType) and isinstance(value, dict):
        told = value.get(type_.discriminator)
        type_ = type_.variants.get(told) if isinstance(told, str) else None
    if isinstance(type_, ObjectType) and isinstance(value, dict):
        return {
            name: without_nulls(item, type_.properties[name].type) if name in type_.properties else item
            for name, item in value.items()
            if item is not None or name not in type_.properties
        }
    if isinstance(type_, ArrayType) and isinstance(value, list):
        return [without_nulls(item, type_.item_type) for item in value]
    return value


def _has_null(value: JsonObject | list[Json]) -> bool:
    item: Json
    for item in value.values() if isinstance(value, dict) else value:
        if item is None:
            return True
        kind = type(item)
        if (kind is dict or kind is list) and _has_null(item):
            return True
    return False
