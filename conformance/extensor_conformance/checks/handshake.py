"""PROTO-01: how a provider greets."""

from extensor_conformance.adapters import Feature
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.verdicts import Problem


@check("PROTO-01", features={Feature.HANDSHAKE})
class Handshake(Procedure):
    """The first answer says who is there, and a request before it is no accident."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        connection = bench.fresh(greet=False)
        hello = connection.greet(timeout=bench.settings.start_timeout)
        problems: list[Problem] = []
        if not hello.name:
            problems.append(Problem("the provider has no name", "$.provider.name"))
        return problems
