"""SARIF 2.1.0: checks as rules, failures as results, placed in the author's file or at the type they are about."""

import json

from extensor.contract import Json, JsonObject
from extensor_conformance.report.document import requirement_of
from extensor_conformance.report.grouping import problem_lines
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.verdicts import Outcome, Verdict

_LEVELS = {
    Verdict.FAIL: "error",
    Verdict.FLAKY: "error",
    Verdict.XPASS: "warning",
    Verdict.WARN: "warning",
    Verdict.XFAIL: "error",
}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report) -> str:
    """The report for code scanning."""
    return f"{json.dumps(document(report), indent=2, ensure_ascii=False)}\n"


def document(report: Report) -> JsonObject:
    """The SARIF log."""
    told = [outcome for outcome in report.outcomes if outcome.verdict in _LEVELS]
    ids = sorted({outcome.check for outcome in told})
    driver: JsonObject = {
        "name": "provider-conformance",
        "semanticVersion": report.kit,
        "rules": [_rule(report, id_) for id_ in ids],
    }
    faults = [*report.kit_faults, *([report.start_failure] if report.start_failure else [])]
    invocation: JsonObject = {
        "executionSuccessful": not faults and not report.interrupted,
        "startTimeUtc": report.started,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}} for text in faults],
    }
    run: JsonObject = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [_result(report, outcome, ids.index(outcome.check)) for outcome in told],
        "properties": {"seed": report.seed, "level": report.level, "requirements": report.requirements},
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(report: Report, id_: str) -> JsonObject:
    row = requirement_of(report, id_)
    if row is None:
        return {"id": id_}
    return {
        "id": id_,
        "name": "".join(word.capitalize() for word in row.title.replace("-", " ").split()),
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": row.sentence},
        "help": {"text": f"Why: {row.why}\nUsual cause: {row.cause}\nFix: {row.fix}"},
        "defaultConfiguration": {"level": "error" if str(row.severity) == "M" else "warning"},
        "properties": {"tags": [row.group, *row.rule]},
    }


def _result(report: Report, outcome: Outcome, index: int) -> JsonObject:
    text = "\n".join(problem_lines(outcome)) or (outcome.reason or str(outcome.verdict))
    properties: JsonObject = {"verdict": str(outcome.verdict), "evidence": str(outcome.evidence)}
    for key, line in (("replay", replay_line(report, outcome)), ("run", run_line(report, outcome))):
        if line is not None:
            properties[key] = line
    result: JsonObject = {
        "ruleId": outcome.check,
        "ruleIndex": index,
        "level": _LEVELS[outcome.verdict],
        "message": {"text": text},
        "locations": [_location(report, outcome)],
        "partialFingerprints": {"check/v1": f"{outcome.check}:{outcome.type or ''}:{_first_path(outcome)}"},
        "properties": properties,
    }
    if outcome.verdict is Verdict.XFAIL:
        result["suppressions"] = [{"kind": "external", "justification": outcome.reason or ""}]
    return result


def _location(report: Report, outcome: Outcome) -> JsonObject:
    name = outcome.type or str(report.provider.get("name", "provider"))
    path = _first_path(outcome)
    logical: JsonObject = {"name": name, "kind": "type" if outcome.type else "module"}
    if path:
        logical["fullyQualifiedName"] = f"{name} {path}"
    location: JsonObject = {"logicalLocations": [logical]}
    fixture: Json = report.settings.get("fixture")
    if isinstance(fixture, str):
        lines: Json = report.settings.get("fixtureLines")
        line = lines.get(outcome.type, 1) if isinstance(lines, dict) else 1
        location["physicalLocation"] = {
            "artifactLocation": {"uri": fixture.replace("\\", "/"), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line},
        }
    return location


def _first_path(outcome: Outcome) -> str:
    return next((problem.path for problem in outcome.problems if problem.path), "")
