"""PROTO-02: what a provider says to a protocol version that it does not speak."""

from extensor.contract import RpcCode
from extensor_conformance.adapters import Feature
from extensor_conformance.bench import Bench
from extensor_conformance.check import Procedure, check
from extensor_conformance.checks.common import greeting
from extensor_conformance.verdicts import NotTested, Problem

UNSPOKEN = "0.0-conformance"


@check("PROTO-02", features={Feature.HANDSHAKE})
class VersionRefusal(Procedure):
    """A version nobody speaks is refused with those that are spoken; the next handshake works."""

    def execute(self, bench: Bench) -> list[Problem]:
        """See `Procedure.execute`."""
        connection = bench.fresh(greet=False)
        refused = greeting(connection, [UNSPOKEN])
        problems: list[Problem] = []
        if refused.error is None:
            told = refused.result.get("protocolVersion") if isinstance(refused.result, dict) else None
            message = f"the protocol version {UNSPOKEN} is accepted, with {told!r}"
            problems.append(Problem(message, "$.protocolVersion", "refuse"))
        else:
            if refused.error.code != RpcCode.INVALID_PARAMS:
                message = f"the refusal has the number {refused.error.code}, not -32602"
                problems.append(Problem(message, "$.error.code", "refuse"))
            data = refused.error.data
            versions = data.get("supportedVersions") if isinstance(data, dict) else None
            if not isinstance(versions, list) or "1" not in versions:
                message = "the refusal does not name the versions that are spoken"
                problems.append(Problem(message, "$.error.data.supportedVersions", "refuse"))
        for step, again in (("greet again", connection), ("greet anew", bench.fresh(greet=False))):
            answer = greeting(again, [UNSPOKEN, "1"])
            if answer.error is not None:
                if step == "greet anew" and not problems:
                    raise NotTested(f"the handshake with version 1 is refused too: {answer.error}")
                message = f"after a refusal the handshake with version 1 is refused: {answer.error}"
                problems.append(Problem(message, "$.protocolVersions", step))
            elif not isinstance(answer.result, dict) or answer.result.get("protocolVersion") != "1":
                message = f"of {UNSPOKEN} and 1 it picks neither version 1"
                problems.append(Problem(message, "$.protocolVersion", step))
        return problems
