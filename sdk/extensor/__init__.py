"""Write, prove, ship and run infrastructure providers.

These names are what a provider's author needs; they are loaded when they are first used, so that importing `extensor`
costs next to nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extensor.authoring.context import Context, SaveContext
    from extensor.authoring.handler import ResourceHandler
    from extensor.authoring.preview import Preview
    from extensor.authoring.properties import Properties
    from extensor.authoring.provider import Provider
    from extensor.contract.unknown import Unknown, is_unknown
    from extensor.entry import run
    from extensor.errors import (
        Conflict,
        InvalidProperty,
        NotFound,
        OperationFailed,
        PermissionDenied,
        PreviewNotSupported,
        Throttled,
        Unauthorized,
        Unavailable,
    )
    from extensor.types.flags import Calculated, Identifier, Immutable, ReadOnly, Secret, WriteOnly

__all__ = [
    "Calculated",
    "Conflict",
    "Context",
    "Identifier",
    "Immutable",
    "InvalidProperty",
    "NotFound",
    "OperationFailed",
    "PermissionDenied",
    "Preview",
    "PreviewNotSupported",
    "Properties",
    "Provider",
    "ReadOnly",
    "ResourceHandler",
    "SaveContext",
    "Secret",
    "Throttled",
    "Unauthorized",
    "Unavailable",
    "Unknown",
    "WriteOnly",
    "is_unknown",
    "run",
]

_HOME = {
    "Context": "extensor.authoring.context",
    "SaveContext": "extensor.authoring.context",
    "ResourceHandler": "extensor.authoring.handler",
    "Preview": "extensor.authoring.preview",
    "Properties": "extensor.authoring.properties",
    "Provider": "extensor.authoring.provider",
    "Unknown": "extensor.contract.unknown",
    "is_unknown": "extensor.contract.unknown",
    "run": "extensor.entry",
    **dict.fromkeys(
        ("Calculated", "Identifier", "Immutable", "ReadOnly", "Secret", "WriteOnly"), "extensor.types.flags"
    ),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'extensor' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME.get(name, "extensor.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
