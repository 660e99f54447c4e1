"""The wires over which a provider can be judged; a check names the features it needs and never a wire."""

from extensor_conformance.adapters.base import Adapter, Feature
from extensor_conformance.adapters.choose import adapter_for

__all__ = ["Adapter", "Feature", "adapter_for"]
