"""Error codes: the numbers of JSON-RPC and the words of the provider contract (P-ERROR-03)."""

from enum import IntEnum, StrEnum


class RpcCode(IntEnum):
    """JSON-RPC 2.0 error numbers, with the ones this protocol adds."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    OPERATION_FAILED = -32010
    MESSAGE_TOO_LARGE = -32011
    CANCELED = -32800


class ErrorCode(StrEnum):
    """The reserved words for `code` in an error's list. A provider may add its own PascalCase words."""

    INVALID_REQUEST = "InvalidRequest"
    INVALID_PROPERTY = "InvalidProperty"
    MISSING_PROPERTY = "MissingProperty"
    UNKNOWN_PROPERTY = "UnknownProperty"
    READ_ONLY_PROPERTY = "ReadOnlyProperty"
    IMMUTABLE_PROPERTY = "ImmutableProperty"
    UNKNOWN_VALUE_NOT_ALLOWED = "UnknownValueNotAllowed"
    UNKNOWN_RESOURCE_TYPE = "UnknownResourceType"
    UNSUPPORTED_VERSION = "UnsupportedVersion"
    OPERATION_NOT_SUPPORTED = "OperationNotSupported"
    RESOURCE_NOT_FOUND = "ResourceNotFound"
    CONFLICT = "Conflict"
    CONFIG_MISMATCH = "ConfigMismatch"
    UNAUTHORIZED = "Unauthorized"
    PERMISSION_DENIED = "PermissionDenied"
    THROTTLED = "Throttled"
    UNAVAILABLE = "Unavailable"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    CANCELED = "Canceled"
    PREVIEW_NOT_SUPPORTED = "PreviewNotSupported"
    INTERNAL_ERROR = "InternalError"
