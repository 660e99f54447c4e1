"""The JSON Schema of the report, draft 2020-12; `docs/schemas/conformance-report.json` is made from it."""

from extensor.contract import JsonObject
from extensor_conformance.catalogue import GROUPS
from extensor_conformance.report.model import REPORT_VERSION
from extensor_conformance.verdicts import Evidence, Severity, Verdict


def report_schema() -> JsonObject:
    """The schema. Members may be added within a version; what is here keeps its meaning."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conformance report",
        "description": "What a run of provider-conformance found. All times in seconds.",
        **_object(
            {
                "report": {"const": REPORT_VERSION, "description": "Version of this form."},
                "kit": {"type": "string", "description": "Version of the kit."},
                "requirements": {"type": "string", "description": "Revision of the requirements."},
                "seed": {"type": "integer", "description": "Gives the same cases again."},
                "started": {"type": "string", "format": "date-time"},
                "seconds": _NUMBER,
                "subject": {"type": "object", "description": "How the provider was started or reached."},
                "provider": {"type": "object", "description": "What it said of itself; empty when it did not start."},
                "types": _TEXTS,
                "configKeys": {**_TEXTS, "description": "Names of its configuration values; never the values."},
                "settings": {"type": "object"},
                "level": {"type": "integer", "minimum": 0, "maximum": 4},
                "levels": {"type": "array", "items": {"$ref": "#/$defs/level"}},
                "counts": {
                    "type": "object",
                    "propertyNames": {"enum": [str(verdict) for verdict in Verdict]},
                    "additionalProperties": _COUNT,
                },
                "outcomes": {"type": "array", "items": {"$ref": "#/$defs/outcome"}},
                "created": _COUNT,
                "removed": _COUNT,
                "leftovers": {
                    "type": "array",
                    "description": "What the kit made and could not remove.",
                    "items": _object(
                        {"type": {"type": "string"}, "identifiers": {"type": "object"}, "reason": {"type": "string"}}
                    ),
                },
                "startFailure": {"type": ["string", "null"]},
                "interrupted": {"type": "boolean"},
                "staleWaivers": _TEXTS,
                "expiredWaivers": _TEXTS,
                "warnings": _TEXTS,
                "latency": {
                    "type": "object",
                    "description": "By method.",
                    "additionalProperties": _object({"count": _COUNT, "p50": _NUMBER, "p95": _NUMBER, "max": _NUMBER}),
                },
                "kitFaults": _TEXTS,
                "ledger": {"type": ["string", "null"]},
            },
            {
                "unverified": {
                    "type": "object",
                    "description": "How many of the removed nobody could look at after their delete, by reason.",
                    "additionalProperties": _COUNT,
                },
            },
        ),
        "$defs": {
            "level": _object(
                {
                    "number": {"type": "integer", "minimum": 1, "maximum": 4},
                    "name": {"type": "string"},
                    "earned": {"type": "boolean"},
                    "blockedBy": _TEXTS,
                    "evidence": {"enum": [str(item) for item in Evidence]},
                }
            ),
            "outcome": _outcome(),
            "problem": _object(
                {"message": {"type": "string"}},
                {
                    "path": {"type": "string", "description": "JSONPath into the params or the result."},
                    "step": {"type": "string"},
                    "columns": _TEXTS,
                    "rows": {
                        "type": "array",
                        "items": _object({"path": {"type": "string"}, "cells": _TEXTS}),
                    },
                    "severity": {"enum": [str(item) for item in Severity]},
                },
            ),
            "case": _object(
                {
                    "id": {"type": "string"},
                    "check": {"type": "string"},
                    "type": {"type": ["string", "null"]},
                    "index": {"type": "integer"},
                    "seed": {"type": "integer"},
                    "note": {"type": "string"},
                    "names": _TEXTS,
                    "steps": {"type": "array", "items": {"type": "object", "required": ["step"]}},
                    "expect": {"type": "object"},
                }
            ),
            "entry": _object(
                {
                    "at": {"type": "number", "description": "Since the case began."},
                    "dir": {
                        "enum": [">", "<", "!"],
                        "description": "From the kit, from the provider, or an event.",
                    },
                    "text": {"type": "string"},
                },
                {"note": {"type": "string"}, "connection": {"type": "string"}},
            ),
        },
    }


_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}
_NUMBER: JsonObject = {"type": "number", "minimum": 0}


def _outcome() -> JsonObject:
    return _object(
        {
            "check": {"type": "string"},
            "type": {"type": ["string", "null"], "description": "null for a check of the provider as a whole."},
            "verdict": {"enum": [str(verdict) for verdict in Verdict]},
            "seconds": _NUMBER,
            "cases": _COUNT,
            "evidence": {"enum": [str(item) for item in Evidence]},
        },
        {
            "title": {"type": "string"},
            "group": {"enum": list(GROUPS)},
            "severity": {"enum": [str(item) for item in Severity]},
            "level": {"type": "integer"},
            "reason": {"type": "string"},
            "problems": {"type": "array", "items": {"$ref": "#/$defs/problem"}},
            "tries": _object({"failed": _COUNT, "of": _COUNT}),
            "case": {"$ref": "#/$defs/case"},
            "original": {"$ref": "#/$defs/case", "description": "The case before it was made small."},
            "transcript": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
            "facts": {"type": "object"},
        },
    )


def _object(required: JsonObject, optional: JsonObject | None = None) -> JsonObject:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}
