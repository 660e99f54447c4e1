"""The wire's shapes as pydantic models: the source of `docs/schemas/protocol.json` and what a monitor checks with.

The hot path uses the slotted classes beside this module, of the same names; a property test holds that both accept
the same documents.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from extensor.contract.json import JsonObject

Text = Annotated[str, Field(strict=True)]
Name = Annotated[str, Field(strict=True, min_length=1)]
Object = dict[str, JsonValue]
Paths = list[Annotated[str, Field(pattern=r"^\$")]]
Seconds = Annotated[float, Field(strict=True)]


class Wire(BaseModel):
    """What all share: names in camel case on the wire, members of a newer version are let through."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")


class Import(Wire):
    """The provider asked for."""

    provider: Name
    version: Name
    config: Object | None = Field(None, description="Provider configuration; a deploy-time constant.")
    config_id: Text | None = Field(None, description="The control plane that an earlier answer named.")


class CallContext(Wire):
    """How a call is bounded and named."""

    deadline_seconds: Annotated[float, Field(strict=True, gt=0, lt=1e9)] | None = None
    request_id: Text | None = None
    deployment_id: Text | None = None
    symbolic_name: Text | None = None


class ResourceData(Wire):
    """The params of `resource/save`, `resource/previewSave`, `resource/get` and `resource/delete`."""

    imported: Import = Field(alias="import")
    type: Name = Field(description="name@version, optionally with a provider: prefix.")
    properties: Object
    context: CallContext | None = None


class PreviewMetadata(Wire):
    """Paths in four classes, each path in one at most."""

    read_only: Paths = []
    immutable: Paths = []
    calculated: Paths = []
    unknown: Paths = []


class ResourceResult(Wire):
    """The result of the four verbs."""

    properties: Object | None
    identifiers: Object = {}
    config_id: Text | None = None
    metadata: PreviewMetadata | None = None


class Fault(Wire):
    """One thing that is wrong."""

    code: Name
    message: Name
    path: Annotated[str, Field(pattern=r"^\$")] | None = None


class Failure(Wire):
    """The `data` of errors -32010 and -32800."""

    errors: Annotated[list[Fault], Field(min_length=1)]
    transient: bool = False
    retry_after_seconds: Annotated[float, Field(ge=0)] | None = None
    resource: Object | None = None
    correlation_id: Text | None = None


class NamedVersion(Wire):
    """A program and its version."""

    name: Text
    version: Text


class HostCapabilities(Wire):
    """What a host can take."""

    progress: bool = False
    log: bool = False
    tokens: bool = False


class InitializeParams(Wire):
    """The params of `provider/initialize`."""

    protocol_versions: Annotated[list[Text], Field(min_length=1)]
    client: NamedVersion | None = None
    capabilities: HostCapabilities | None = None
    token: Text | None = None


class ProviderCapabilities(Wire):
    """What a provider can do beyond answering."""

    cancel: bool = False
    progress: bool = False
    batch: bool = False


class Limits(Wire):
    """What a provider accepts."""

    max_message_bytes: Annotated[int, Field(gt=0)]
    max_concurrent_requests: Annotated[int, Field(gt=0)]


class InitializeResult(Wire):
    """The result of `provider/initialize`."""

    protocol_version: Text
    provider: NamedVersion
    capabilities: ProviderCapabilities | None = None
    limits: Limits | None = None


class ListedType(Wire):
    """One type of `provider/listTypes`."""

    type: Name
    operations: list[Literal["save", "previewSave", "get", "delete"]]
    extends: Text | None = None


class ListTypesResult(Wire):
    """The result of `provider/listTypes`."""

    types: list[ListedType]


class TypeFilesResult(Wire):
    """The result of `provider/getTypeFiles`: texts of bicep-types files."""

    index_file: Text
    type_files: dict[str, Text]


class CancelParams(Wire):
    """The params of `$/cancelRequest`."""

    id: int | str


class ProgressParams(Wire):
    """The params of `$/progress`; `percent` from 0 to 100."""

    id: int | str
    message: Text
    percent: Annotated[float, Field(ge=0, le=100)] | None = None


class LogParams(Wire):
    """The params of `$/log`."""

    level: Literal["debug", "info", "warning", "error"]
    message: Text
    id: int | str | None = None


class AcquireTokenParams(Wire):
    """The params of `host/acquireToken`."""

    scopes: Annotated[list[Text], Field(min_length=1)]
    claims: Text | None = None
    force_refresh: bool = False


class AcquireTokenResult(Wire):
    """The result of `host/acquireToken`; `expiresOn` is RFC 3339."""

    token: Name
    expires_on: Text


WIRE_MODELS: tuple[type[BaseModel], ...] = (
    AcquireTokenParams,
    AcquireTokenResult,
    CancelParams,
    Failure,
    InitializeParams,
    InitializeResult,
    ListTypesResult,
    LogParams,
    ProgressParams,
    ResourceData,
    ResourceResult,
    TypeFilesResult,
)


def protocol_schema() -> JsonObject:
    """One JSON Schema (draft 2020-12) with a definition for each shape on the wire."""
    _, schema = models_json_schema(
        [(model, "validation") for model in WIRE_MODELS], title="Provider protocol, version 1"
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
