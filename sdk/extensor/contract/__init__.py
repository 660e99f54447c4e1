"""The wire of the provider protocol as plain, slotted models; see `docs/protocol.md` for the rules they follow.

Nothing here imports pydantic: `extensor.contract.schema` does, and is imported only to write the JSON Schemas.
"""

from extensor.contract.codes import ErrorCode, RpcCode
from extensor.contract.data import CallContext, Import, ResourceData
from extensor.contract.faults import ContractViolation, Failure, Fault
from extensor.contract.handshake import HostCapabilities, InitializeParams, InitializeResult
from extensor.contract.json import Json, JsonObject
from extensor.contract.limits import Limits
from extensor.contract.names import TypeName, serves
from extensor.contract.paths import Path, format_path, parse_path, to_pointer
from extensor.contract.result import PreviewMetadata, ResourceResult
from extensor.contract.unknown import (
    Unknown,
    UnknownValueError,
    decode_unknowns,
    encode_unknowns,
    find_unknowns,
    has_unknown,
    is_unknown,
)
from extensor.contract.verbs import VERB_BY_METHOD, Verb

__all__ = [
    "VERB_BY_METHOD",
    "CallContext",
    "ContractViolation",
    "ErrorCode",
    "Failure",
    "Fault",
    "HostCapabilities",
    "Import",
    "InitializeParams",
    "InitializeResult",
    "Json",
    "JsonObject",
    "Limits",
    "Path",
    "PreviewMetadata",
    "ResourceData",
    "ResourceResult",
    "RpcCode",
    "TypeName",
    "Unknown",
    "UnknownValueError",
    "Verb",
    "decode_unknowns",
    "encode_unknowns",
    "find_unknowns",
    "format_path",
    "has_unknown",
    "is_unknown",
    "parse_path",
    "serves",
    "to_pointer",
]
