"""SARIF, held to the parts of its schema that code scanning reads."""

import json

import jsonschema
import pytest

from extensor_conformance.report import sarif
from extensor_conformance.report.model import Report

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
SCHEMA = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "uniqueItems": True,
                                        "items": {
                                            "required": ["id"],
                                            "properties": {
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                                "defaultConfiguration": {
                                                    "properties": {
                                                        "level": {"enum": ["none", "note", "warning", "error"]}
                                                    }
                                                },
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "invocations": {"items": {"required": ["executionSuccessful"]}},
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": TEXT,
                                "suppressions": {
                                    "items": {
                                        "required": ["kind"],
                                        "properties": {"kind": {"enum": ["inSource", "external"]}},
                                    }
                                },
                                "locations": {
                                    "minItems": 1,
                                    "items": {
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation"],
                                                "properties": {"region": {"properties": {"startLine": {"minimum": 1}}}},
                                            }
                                        }
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture
def run(report: Report) -> dict:
    document = json.loads(sarif.render(report))
    jsonschema.validate(document, SCHEMA)
    return document["runs"][0]


def test_each_result_points_at_its_rule(run: dict) -> None:
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert set(rules) == {"PRV-08", "IDM-01", "SCH-03", "PRV-12", "DEL-01"}


def test_a_failure_is_an_error_at_the_line_that_speaks_of_its_type(run: dict) -> None:
    found = next(result for result in run["results"] if result["ruleId"] == "PRV-08")
    assert found["level"] == "error"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "conf.toml"
    assert place["region"]["startLine"] == 12
    assert found["properties"]["replay"] == "provider-conformance replay k7m2qa"


def test_a_waiver_is_a_suppression_with_its_reason(run: dict) -> None:
    found = next(result for result in run["results"] if result["ruleId"] == "PRV-12")
    assert found["suppressions"] == [{"kind": "external", "justification": "by design"}]


def test_passes_and_what_was_not_tested_are_no_results(run: dict) -> None:
    assert not {"PROTO-01", "SCH-09", "SEC-01"} & {result["ruleId"] for result in run["results"]}
