"""The report: everything a run found, as data. The JSON form is the source of all other formats."""

from dataclasses import dataclass, field

from extensor.contract import Json, JsonObject
from extensor_conformance.verdicts import Evidence, Outcome, Verdict

REPORT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Level:
    """One of the four levels."""

    number: int
    name: str
    earned: bool
    blocked_by: tuple[str, ...] = ()
    """Ids of the checks that stand in the way."""
    evidence: Evidence = Evidence.SELF_REPORTED


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that the kit made and could not remove."""

    type: str
    identifiers: JsonObject
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a run returns."""

    kit: str
    requirements: str
    seed: int
    started: str
    """RFC 3339."""
    seconds: float
    subject: JsonObject
    """``command`` or ``address``, ``wire``."""
    provider: JsonObject
    """``name``, ``version``, ``protocol``, ``startSeconds``, ``limits``, ``capabilities``; empty when it did not
    start."""
    types: tuple[str, ...]
    config_keys: tuple[str, ...]
    settings: JsonObject
    outcomes: tuple[Outcome, ...]
    levels: tuple[Level, ...] = ()
    created: int = 0
    removed: int = 0
    unverified: dict[str, int] = field(default_factory=dict[str, int])
    """How many of the removed nobody could look at after their delete, by reason."""
    leftovers: tuple[Leftover, ...] = ()
    start_failure: str | None = None
    """Why the provider could not be started or greeted."""
    interrupted: bool = False
    stale_waivers: tuple[str, ...] = ()
    expired_waivers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    latency: JsonObject = field(default_factory=dict[str, Json])
    """By method: ``count``, ``p50``, ``p95``, ``max`` in seconds."""
    kit_faults: tuple[str, ...] = ()
    """Tracebacks of the kit's own faults."""
    ledger: str | None = None
    """The ledger's path, when something is left."""

    @property
    def level(self) -> int:
        """The highest level earned, with all below it; 0 for none."""
        earned = 0
        for level in self.levels:
            if not level.earned:
                break
            earned = level.number
        return earned

    @property
    def made(self) -> str:
        """``446 created, 446 removed, 3 of them not verified: its type has no get``."""
        text = f"{self.created} created, {self.removed} removed"
        if self.unverified:
            reasons = "; ".join(self.unverified)
            text += f", {sum(self.unverified.values())} of them not verified: {reasons}"
        return text

    @property
    def counts(self) -> dict[str, int]:
        """How many outcomes have each verdict; verdicts without any are left out."""
        found: dict[str, int] = {}
        for outcome in self.outcomes:
            found[outcome.verdict] = found.get(outcome.verdict, 0) + 1
        return {str(verdict): found[verdict] for verdict in Verdict if verdict in found}


def outcome_to_json(outcome: Outcome) -> JsonObject:
    """One outcome as in the JSON report; members without content are left out."""
    wire: JsonObject = {
        "check": outcome.check,
        "type": outcome.type,
        "verdict": str(outcome.verdict),
        "seconds": round(outcome.seconds, 6),
        "cases": outcome.cases,
        "evidence": str(outcome.evidence),
    }
    if outcome.reason is not None:
        wire["reason"] = outcome.reason
    if outcome.problems:
        wire["problems"] = [problem.to_json() for problem in outcome.problems]
    if outcome.tries is not None:
        wire["tries"] = {"failed": outcome.tries[0], "of": outcome.tries[1]}
    if outcome.case is not None:
        wire["case"] = outcome.case.to_json()
    if outcome.original is not None:
        wire["original"] = outcome.original.to_json()
    if outcome.transcript:
        wire["transcript"] = [entry.to_json() for entry in outcome.transcript]
    if outcome.facts:
        wire["facts"] = outcome.facts
    return wire
