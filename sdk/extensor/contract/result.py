"""What a provider answers: ResourceResult (P-RESULT-*)."""

from dataclasses import field

from extensor.contract.codes import ErrorCode
from extensor.contract.data import json_kind
from extensor.contract.faults import ContractViolation, Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.unknown import decode_unknowns, encode_unknowns
from extensor.contract.value import value


@value
class PreviewMetadata:
    """Paths in four classes, each path in one at most. On previews only (P-RESULT-05)."""

    read_only: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    calculated: tuple[str, ...] = ()
    """Differs each time."""
    unknown: tuple[str, ...] = ()
    """Cannot be told yet."""

    def to_wire(self) -> JsonObject:
        """The `metadata` member; empty lists are left out."""
        lists = (
            ("readOnly", self.read_only),
            ("immutable", self.immutable),
            ("calculated", self.calculated),
            ("unknown", self.unknown),
        )
        return {name: list(paths) for name, paths in lists if paths}

    @classmethod
    def from_wire(cls, wire: Json) -> "PreviewMetadata":
        """Read the member leniently: what is no list of texts counts as empty."""
        data: JsonObject = wire if isinstance(wire, dict) else {}

        def paths(name: str) -> tuple[str, ...]:
            value = data.get(name)
            return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

        return cls(paths("readOnly"), paths("immutable"), paths("calculated"), paths("unknown"))


@value
class ResourceResult:
    """The result of all four verbs, decoded. `properties` is ``None`` only after a delete (P-RESULT-03)."""

    properties: JsonObject | None
    identifiers: JsonObject = field(default_factory=dict[str, Json])
    config_id: str | None = None
    metadata: PreviewMetadata | None = None

    def to_wire(self, *, plain: bool = False) -> JsonObject:
        """The `result` member, markers and escapes applied; `plain` says that nothing here needs them."""
        wire: JsonObject = {
            "properties": self.properties if plain else encode_unknowns(self.properties),
            "identifiers": self.identifiers if plain else encode_unknowns(self.identifiers),
        }
        if self.config_id is not None:
            wire["configId"] = self.config_id
        if self.metadata is not None:
            wire["metadata"] = self.metadata.to_wire()
        return wire

    @classmethod
    def from_wire(cls, wire: Json) -> "ResourceResult":
        """Read a provider's result. Raises `ContractViolation` with every fault."""
        faults: list[Fault] = []
        if not isinstance(wire, dict):
            raise ContractViolation(_fault("$", f"expected an object, got {json_kind(wire)}"))
        properties = wire.get("properties")
        if "properties" not in wire:
            faults.append(_fault("$.properties", "is required"))
        elif properties is not None and not isinstance(properties, dict):
            faults.append(_fault("$.properties", f"expected an object or null, got {json_kind(properties)}"))
        identifiers = wire.get("identifiers", {})
        if not isinstance(identifiers, dict):
            faults.append(_fault("$.identifiers", f"expected an object, got {json_kind(identifiers)}"))
        config_id = wire.get("configId")
        if config_id is not None and not isinstance(config_id, str):
            faults.append(_fault("$.configId", f"expected a text, got {json_kind(config_id)}"))
        if faults:
            raise ContractViolation(*faults)
        return cls(
            decode_unknowns(properties, ("properties",)),
            decode_unknowns(identifiers, ("identifiers",)),
            config_id,
            PreviewMetadata.from_wire(wire["metadata"]) if wire.get("metadata") is not None else None,
        )


def _fault(path: str, message: str) -> Fault:
    return Fault(ErrorCode.INVALID_REQUEST, message, path)
