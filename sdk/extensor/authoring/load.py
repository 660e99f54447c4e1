"""From ``module:attribute`` to a provider."""

from importlib import import_module

from extensor.authoring.provider import Provider
from extensor.errors import ProviderNotFound


def load(target: str) -> Provider:
    """Import the module and take its attribute. Raises `ProviderNotFound`, and whatever the module raises."""
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise ProviderNotFound(f"a provider is named module:attribute, this is {target!r}")
    found: object = import_module(module_name)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise ProviderNotFound(f"{module_name} has no attribute {attribute!r}")
        found = getattr(found, name)
    if not isinstance(found, Provider):
        raise ProviderNotFound(f"{target} is a {type(found).__name__}, not a Provider")
    return found
