"""What the kit can say about a check, as data."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from extensor.contract import Json, JsonObject

if TYPE_CHECKING:
    from extensor_conformance.case import Case
    from extensor_conformance.transcript import Entry


class Verdict(StrEnum):
    """The end of one check on one type."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    WARN = "WARN"
    """A rule of severity "should" is not kept."""
    FLAKY = "FLAKY"
    """The same case had mixed outcomes on three tries."""
    NOT_APPLICABLE = "NOT-APPLICABLE"
    """The wire cannot express the rule, or the provider did not declare the capability."""
    NOT_TESTED = "NOT-TESTED"
    """A prerequisite is missing; costs the level."""
    ERROR = "ERROR"
    """The kit is at fault."""
    XFAIL = "XFAIL"
    """Fails as a waiver says it would."""
    XPASS = "XPASS"
    """A waiver expects a failure that no longer comes: the waiver is stale."""

    @property
    def red(self) -> bool:
        """Whether the verdict alone makes a run fail."""
        return self in (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR, Verdict.XPASS)


class Severity(StrEnum):
    """How much a rule weighs."""

    MUST = "M"
    SHOULD = "S"
    INFORMATION = "I"


class Evidence(StrEnum):
    """Who says so."""

    SELF_REPORTED = "self-reported"
    """The provider's own answers."""
    PROBED = "probed"
    """The world behind the provider was asked too, or made to fail."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a table of differences: a path and a cell for each of the problem's columns."""

    path: str
    cells: tuple[str, ...]

    def to_json(self) -> JsonObject:
        """As in the JSON report."""
        return {"path": self.path, "cells": list(self.cells)}


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which a rule is not kept."""

    message: str
    """One sentence for people, without given values of secret properties."""
    path: str | None = None
    """JSONPath of the place at fault, rooted at the params or the result; ``None`` when there is none."""
    step: str | None = None
    """Name of the step of the case that shows it."""
    columns: tuple[str, ...] = ()
    """Heads of the cells of `rows`."""
    rows: tuple[DiffRow, ...] = ()
    severity: Severity | None = None
    """Weighs this problem other than its requirement does."""

    def to_json(self) -> JsonObject:
        """As in the JSON report."""
        wire: JsonObject = {"message": self.message}
        if self.path is not None:
            wire["path"] = self.path
        if self.step is not None:
            wire["step"] = self.step
        if self.rows:
            wire["columns"] = list(self.columns)
            wire["rows"] = [row.to_json() for row in self.rows]
        if self.severity is not None:
            wire["severity"] = str(self.severity)
        return wire

    @classmethod
    def from_json(cls, data: JsonObject) -> "Problem":
        """Read back what `to_json` wrote."""
        return cls(
            data["message"],
            data.get("path"),
            data.get("step"),
            tuple(data.get("columns", ())),
            tuple(DiffRow(row["path"], tuple(row["cells"])) for row in data.get("rows", ())),
            Severity(data["severity"]) if "severity" in data else None,
        )

    @property
    def key(self) -> tuple[str | None, str]:
        """What two sightings of the same problem share."""
        return self.path, self.message


class NotTested(Exception):
    """A prerequisite is missing; the text is the reason. Raised by a check to end with NOT-TESTED."""


class NotApplicable(Exception):
    """The rule does not apply to this provider or wire; the text is the reason."""


class Failed(Exception):
    """The rule is not kept; carries the problems. Raised by a check that cannot go on."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("; ".join(problem.message for problem in problems))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of one check on one type."""

    check: str
    type: str | None
    """``name@version``; ``None`` for a check of the provider as a whole."""
    verdict: Verdict
    problems: tuple[Problem, ...] = ()
    case: "Case | None" = None
    """The failing case, shrunk."""
    original: "Case | None" = None
    """The failing case as generated, when shrinking changed it."""
    transcript: "tuple[Entry, ...]" = ()
    """What went over the wire in the failing case, redacted."""
    seconds: float = 0.0
    reason: str | None = None
    """Why it was not tested, does not apply, is waived, or what broke in the kit."""
    evidence: Evidence = Evidence.SELF_REPORTED
    tries: tuple[int, int] | None = None
    """Of a failure: how often it was seen, in how many tries."""
    cases: int = 0
    """How many cases were played."""
    facts: JsonObject = field(default_factory=dict[str, Json])
    """Measured values for the report, a precision score for instance."""

    def with_verdict(self, verdict: Verdict, reason: str | None = None) -> "Outcome":
        """The same with another verdict."""
        return replace(self, verdict=verdict, reason=reason if reason is not None else self.reason)
