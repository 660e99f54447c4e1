"""The JSON value as the wire layer sees it."""

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` or ``dict`` of the same."""

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object."""
