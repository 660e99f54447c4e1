"""The checks that monitors judge alone, and when there is nothing for them to judge."""

from extensor_conformance.adapters import Feature
from extensor_conformance.check import Passive, check
from extensor_conformance.provider import Provider

_NO_SECRETS = "no type has a secret property"


def _without_secrets(provider: Provider) -> str | None:
    return None if any(kind.secretive for kind in provider.kinds.values()) else _NO_SECRETS


@check("PROTO-03", features={Feature.STDOUT})
class CleanOutput(Passive):
    """`monitors.stdout`."""


@check("SCH-03")
class ResultsConform(Passive):
    """`monitors.schema`."""


@check("ERR-01")
class ShapeOfErrors(Passive):
    """`monitors.errors`."""


@check("SEC-01")
class CanarySweep(Passive):
    """`monitors.secrets`, results."""

    def moot(self, provider: Provider) -> str | None:
        """See `Passive.moot`."""
        return _without_secrets(provider)


@check("SEC-03")
class SecretsInErrors(Passive):
    """`monitors.secrets`, errors."""

    def moot(self, provider: Provider) -> str | None:
        """See `Passive.moot`."""
        return _without_secrets(provider)
