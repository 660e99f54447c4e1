"""From a model to JSON, once, unknowns included."""

from typing import Any

from pydantic import BaseModel

from extensor.contract.json import Json, JsonObject
from extensor.contract.unknown import Unknown


def dump(model: BaseModel, *, only: str | None = None) -> JsonObject:
    """A model's properties as JSON values, spelled as on the wire; ``None`` counts as not there. `only` names a field.

    Values of other types than the fields' are written as they are: the check against the type tells what is wrong
    with them.
    """
    include = None if only is None else {only}
    write = type(model).__pydantic_serializer__.to_python  # what model_dump does, less a layer
    return write(model, mode="json", by_alias=True, exclude_none=True, include=include, warnings=False)


def dump_with_unknowns(model: BaseModel, *, only_given: bool = False) -> JsonObject:
    """The same for a model that may hold `Unknown` values, which stay as they are; `only_given` leaves out defaults."""
    stand_ins: dict[str, Unknown] = {}

    def stand_in(value: Any) -> str:
        if type(value) is not Unknown:
            raise TypeError(f"a value of type {type(value).__name__} has no JSON form")
        name = f"\ue000unknown\ue000{id(stand_ins)}\ue000{len(stand_ins)}"
        stand_ins[name] = value
        return name

    dumped = model.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_unset=only_given, warnings=False, fallback=stand_in
    )
    return _replace(dumped, stand_ins) if stand_ins else dumped


def _replace(value: Json, stand_ins: dict[str, Unknown]) -> Json:
    if isinstance(value, str):
        return stand_ins.get(value, value)
    if isinstance(value, dict):
        return {key: _replace(item, stand_ins) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, stand_ins) for item in value]
    return value
