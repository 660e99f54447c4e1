"""What is known of the provider once it has greeted and named its types."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from extensor.contract import ErrorCode, Json, JsonObject, Limits
from extensor.contract.verbs import VERB_BY_WIRE
from extensor.errors import OperationFailed, TypesError
from extensor.types import TypeIndex
from extensor.types.model import Body
from extensor.types.validate import validate
from extensor_conformance.connection import Connection
from extensor_conformance.fixture import Fixture, FixtureError
from extensor_conformance.kind import Kind


@dataclass(frozen=True, eq=False)
class Provider:
    """Facts, and the types under test."""

    name: str
    version: str
    protocol: str
    capabilities: JsonObject
    limits: Limits
    start_seconds: float
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    """By the provider's own spelling of ``name@version``, in its order."""
    index: TypeIndex | None = None
    config_type: Body | None = None
    trouble: str | None = None
    """Why its types could not be read."""

    def to_json(self) -> JsonObject:
        """As in the report."""
        facts: dict[str, Json] = {
            "name": self.name,
            "version": self.version,
            "protocol": self.protocol,
            "startSeconds": round(self.start_seconds, 3),
            "capabilities": self.capabilities,
            "limits": self.limits.to_wire(),
        }
        return facts if self.trouble is None else {**facts, "trouble": self.trouble}


class ConfigurationMissing(FixtureError):
    """The author's file leaves out configuration without which the provider does nothing."""


def require_config(provider: Provider, fixture: Fixture) -> None:
    """Raises `ConfigurationMissing`, naming what the configuration's type requires and the file does not give."""
    if provider.config_type is None:
        return
    faults = validate(fixture.config, provider.config_type, purpose="config", path=())
    missing = [fault.path for fault in faults if fault.code == ErrorCode.MISSING_PROPERTY and fault.path]
    if missing:
        told = ", ".join(path.removeprefix("$.") for path in missing)
        where = f"[config] of {fixture.source}" if fixture.source else "[config] of a conformance.toml"
        raise ConfigurationMissing(
            f"{provider.name} needs a configuration that is not given: {told}. Give it in {where}; "
            "`provider-conformance init` writes one that names everything"
        )


def read_provider(connection: Connection, fixture: Fixture, start_seconds: float) -> Provider:
    """Ask a greeted connection for the types. What cannot be read is told in `trouble`, never raised.

    Raises `NoAnswer` and `ConnectionEnded`.
    """
    hello = connection.hello
    assert hello is not None
    listed = connection.list_types()
    files = connection.type_files()
    kinds: dict[str, Kind] = {}
    index: TypeIndex | None = None
    config_type: Body | None = None
    trouble: str | None = None
    if listed.error is not None or files.error is not None:
        trouble = f"its types cannot be asked for: {listed.error or files.error}"
    else:
        try:
            index = TypeIndex.from_files(files.result["indexFile"], files.result["typeFiles"])
            config_type = index.config_type
            for item in listed.result["types"]:
                operations = frozenset(VERB_BY_WIRE[word] for word in item["operations"] if word in VERB_BY_WIRE)
                name = str(item["type"])
                kinds[name] = Kind(name, index.resource(name), operations, fixture.for_type(name))
        except (
            OperationFailed,
            TypesError,
            KeyError,
            TypeError,
            AttributeError,
            ValueError,
            json.JSONDecodeError,
        ) as error:
            trouble = f"its types cannot be read: {error!r}"
    return Provider(
        hello.name,
        hello.version,
        hello.protocol,
        hello.capabilities,
        hello.limits,
        start_seconds,
        kinds,
        index,
        config_type,
        trouble,
    )
