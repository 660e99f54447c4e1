"""A report without secrets: the configuration's always, the kit's made-up ones on request."""

import re
from dataclasses import replace

from extensor.contract import Json
from extensor.contract.redaction import MASK
from extensor_conformance.canary import Needles
from extensor_conformance.report.document import report_from_json, report_to_json
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Outcome, Problem

_CANARY = re.compile(r"(cnry[0-9a-f]{8})(z\d+)?")
"""The marker in every canary of a run, and a canary's number; see `extensor_conformance.canary`."""
_PLAIN = frozenset({"check", "verdict", "kit", "requirements", "started", "evidence", "dir", "id", "verb", "severity"})
"""Members whose words are the kit's own."""


def masked(report: Report, secrets: Needles, *, canaries: bool = True) -> Report:
    """The report with each secret replaced by ``***``, in any of its spellings and wherever it stands.

    With `canaries` the secret values that the kit made up for the run are replaced too.
    """
    document = report_to_json(report)
    needles = [secrets]
    if canaries:
        markers = {found for text in _texts(document["outcomes"]) for found in _CANARY.findall(text)}
        whole = {f"{marker}{count}" for marker, count in markers if count}
        needles.append(Needles(sorted(whole | {marker for marker, _ in markers}, key=len, reverse=True)))
    for key in ("subject", "provider", "outcomes", "leftovers", "unverified", "startFailure", "warnings", "kitFaults"):
        document[key] = mask(document[key], needles)
    return report_from_json(document)


def without_secrets(outcome: Outcome, secrets: Needles) -> Outcome:
    """An outcome as it may be written to a case file or told in an event; its case and transcript hold none."""
    return replace(
        outcome,
        problems=tuple(Problem.from_json(mask(problem.to_json(), [secrets])) for problem in outcome.problems),
        reason=secrets.mask_text(outcome.reason) if outcome.reason is not None else None,
        facts=mask(outcome.facts, [secrets]),
    )


def mask(value: Json, needles: list[Needles]) -> Json:
    """A JSON value whose texts, names and numbers hold no secret."""
    if isinstance(value, str):
        for one in needles:
            value = one.mask_text(value)
        return value
    if isinstance(value, dict):
        return {
            mask(key, needles): item if key in _PLAIN and isinstance(item, str) else mask(item, needles)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [mask(item, needles) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = str(value).encode()
        return MASK if any(one.found_in(text) == text for one in needles) else value
    return value


def _texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return []
