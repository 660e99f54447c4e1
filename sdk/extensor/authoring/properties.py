"""The model of a resource's properties, and what the runtime reads from it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from extensor.contract.json import JsonObject
from extensor.contract.redaction import MASK
from extensor.contract.unknown import has_unknown
from extensor.types.flags import SECRET

M = TypeVar("M", bound=BaseModel)


class Properties(BaseModel):
    """What a resource is made of: subclass it and annotate the fields.

    Say what a field is with `Identifier`, `ReadOnly`, `WriteOnly`, `Immutable`, `Calculated` and `Secret`. Properties
    that the model does not name are refused. In a preview, and only there, a field may hold an `Unknown` instead of a
    value of its type. A field that is ``None`` counts as not there and is left out of answers.

    The validator is built when the type is first used, so a provider's start pays only for the types it is asked for.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True, populate_by_name=True, protected_namespaces=())

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            from extensor.authoring.materialise import materialise_into

            if not has_unknown(data) or not materialise_into(self, data):
                raise error from None

    # pydantic then validates nested models without calling the method above: only direct construction needs it.
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess] - pydantic's own switch

    def over(self, current: Self) -> Self:
        """`current` with the properties given here put over it; what was not given stays as it is.

        This is what the contract asks of a save, and what the default preview shows. Nested models are merged in the
        same way; lists and maps are replaced as a whole. Neither object is changed.
        """
        return _merge(current, self)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        secret = secret_fields(type(self))
        for name, value in super().__repr_args__():
            yield name, MASK if name in secret and value is not None else value


@lru_cache(maxsize=1024)
def secret_fields(model: type[BaseModel]) -> frozenset[str]:
    """The names of a model's own fields that hold a secret, as a whole or somewhere in a union or a list."""
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if SECRET in field.metadata or _holds_secret(field.annotation)
    )


def _holds_secret(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated and SECRET in get_args(annotation)[1:]:
        return True
    return any(_holds_secret(item) for item in get_args(annotation))


def given(model: BaseModel) -> JsonObject:
    """The fields that were set, by field name, as they are."""
    return {name: getattr(model, name) for name in type(model).model_fields if name in model.model_fields_set}


def _merge(current: M, desired: M) -> M:
    changes: JsonObject = dict(desired.model_extra or {})
    for name, value in given(desired).items():
        before = getattr(current, name, None)
        nested = isinstance(value, BaseModel) and type(before) is type(value)
        changes[name] = _merge(before, value) if nested else value
    return current.model_copy(update=changes)
