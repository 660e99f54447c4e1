"""The report as one JSON document and back; `schema` describes it."""

import json
from pathlib import Path

from extensor.contract import Json, JsonObject
from extensor_conformance.case import Case
from extensor_conformance.catalogue import Requirement, load
from extensor_conformance.report.model import REPORT_VERSION, Leftover, Level, Report, outcome_to_json
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Evidence, Outcome, Problem, Verdict


class NotAReport(ValueError):
    """The text is no report that this kit can read."""


def report_to_json(report: Report) -> JsonObject:
    """The whole report as plain JSON; each outcome also tells its check's title, group, severity and level."""
    rows = _rows(report.requirements)
    return {
        "report": REPORT_VERSION,
        "kit": report.kit,
        "requirements": report.requirements,
        "seed": report.seed,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "subject": report.subject,
        "provider": report.provider,
        "types": list(report.types),
        "configKeys": list(report.config_keys),
        "settings": report.settings,
        "level": report.level,
        "levels": [_level_to_json(level) for level in report.levels],
        "counts": report.counts,
        "outcomes": [_described(outcome, rows) for outcome in report.outcomes],
        "created": report.created,
        "removed": report.removed,
        "unverified": dict(report.unverified),
        "leftovers": [
            {"type": item.type, "identifiers": item.identifiers, "reason": item.reason} for item in report.leftovers
        ],
        "startFailure": report.start_failure,
        "interrupted": report.interrupted,
        "staleWaivers": list(report.stale_waivers),
        "expiredWaivers": list(report.expired_waivers),
        "warnings": list(report.warnings),
        "latency": report.latency,
        "kitFaults": list(report.kit_faults),
        "ledger": report.ledger,
    }


def report_from_json(data: Json) -> Report:
    """Read back what `report_to_json` wrote. Raises `NotAReport`."""
    if not isinstance(data, dict) or data.get("report") != REPORT_VERSION:
        version = data.get("report") if isinstance(data, dict) else None
        found = f"its version is {version!r}" if version is not None else "it has no member `report`"
        raise NotAReport(f"a report of version {REPORT_VERSION} is expected; {found}")
    try:
        return Report(
            kit=data["kit"],
            requirements=data["requirements"],
            seed=data["seed"],
            started=data["started"],
            seconds=data["seconds"],
            subject=data["subject"],
            provider=data["provider"],
            types=tuple(data["types"]),
            config_keys=tuple(data["configKeys"]),
            settings=data["settings"],
            outcomes=tuple(outcome_from_json(item) for item in data["outcomes"]),
            levels=tuple(_level_from_json(item) for item in data["levels"]),
            created=data["created"],
            removed=data["removed"],
            unverified=dict(data.get("unverified", {})),
            leftovers=tuple(Leftover(item["type"], item["identifiers"], item["reason"]) for item in data["leftovers"]),
            start_failure=data["startFailure"],
            interrupted=data["interrupted"],
            stale_waivers=tuple(data["staleWaivers"]),
            expired_waivers=tuple(data["expiredWaivers"]),
            warnings=tuple(data["warnings"]),
            latency=data["latency"],
            kit_faults=tuple(data["kitFaults"]),
            ledger=data["ledger"],
        )
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise NotAReport(f"the report cannot be read: {error!r}") from error


def read_report(path: Path) -> Report:
    """The report in a JSON file. Raises `NotAReport`, naming the file."""
    try:
        return report_from_json(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise NotAReport(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise NotAReport(f"{path}: {error}") from error


def render(report: Report) -> str:
    """The JSON report as text."""
    return f"{json.dumps(report_to_json(report), indent=2, ensure_ascii=False)}\n"


def outcome_from_json(data: JsonObject) -> Outcome:
    """Read back what `outcome_to_json` wrote."""
    tries = data.get("tries")
    return Outcome(
        check=data["check"],
        type=data["type"],
        verdict=Verdict(data["verdict"]),
        problems=tuple(Problem.from_json(item) for item in data.get("problems", ())),
        case=Case.from_json(data["case"]) if "case" in data else None,
        original=Case.from_json(data["original"]) if "original" in data else None,
        transcript=tuple(
            Entry(item["at"], item["dir"], item["text"], item.get("note", ""), item.get("connection", "1"))
            for item in data.get("transcript", ())
        ),
        seconds=data["seconds"],
        reason=data.get("reason"),
        evidence=Evidence(data["evidence"]),
        tries=(tries["failed"], tries["of"]) if tries is not None else None,
        cases=data["cases"],
        facts=data.get("facts", {}),
    )


def requirement_of(report: Report, check: str) -> Requirement | None:
    """What the catalogue of the report's revision says about a check."""
    return _rows(report.requirements).get(check)


def _rows(revision: str) -> dict[str, Requirement]:
    try:
        return load(revision)
    except ValueError:  # a report of a revision that this kit does not have
        return {}


def _described(outcome: Outcome, rows: dict[str, Requirement]) -> JsonObject:
    wire = outcome_to_json(outcome)
    row = rows.get(outcome.check)
    if row is not None:
        wire |= {"title": row.title, "group": row.group, "severity": str(row.severity), "level": row.level}
    return wire


def _level_to_json(level: Level) -> JsonObject:
    return {
        "number": level.number,
        "name": level.name,
        "earned": level.earned,
        "blockedBy": list(level.blocked_by),
        "evidence": str(level.evidence),
    }


def _level_from_json(data: JsonObject) -> Level:
    return Level(data["number"], data["name"], data["earned"], tuple(data["blockedBy"]), Evidence(data["evidence"]))
