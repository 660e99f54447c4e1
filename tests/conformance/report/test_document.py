"""The JSON report: versioned, described by a schema, read back without loss."""

import json
from dataclasses import replace

import jsonschema
import pytest

from extensor_conformance.report.document import NotAReport, read_report, render, report_from_json, report_to_json
from extensor_conformance.report.model import Report
from extensor_conformance.report.schema import report_schema


def test_a_report_is_read_back_as_it_was_written(report: Report) -> None:
    assert report_from_json(json.loads(render(report))) == report


def test_the_document_fits_its_schema(report: Report) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report_to_json(report), schema)


def test_a_run_without_a_provider_fits_the_schema_too(report: Report) -> None:
    empty = replace(
        report, provider={}, types=(), outcomes=(), levels=(), start_failure="no", interrupted=True, ledger=None
    )
    jsonschema.validate(report_to_json(empty), report_schema())
    assert report_from_json(report_to_json(empty)) == empty


@pytest.mark.parametrize("member", ["outcomes", "seed", "levels", "subject"])
def test_the_schema_misses_what_a_reader_relies_on(report: Report, member: str) -> None:
    document = report_to_json(report)
    del document[member]
    with pytest.raises(jsonschema.ValidationError, match=member):
        jsonschema.validate(document, report_schema())
    with pytest.raises(NotAReport, match=member):
        report_from_json(document)


@pytest.mark.parametrize("text", ["{}", "[]", "not json", '{"report": 99}', '{"report": 1, "kit": 3}'])
def test_what_is_no_report_is_refused_by_name(text: str, tmp_path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(NotAReport, match=r"other\.json"):
        read_report(path)


def test_each_outcome_tells_title_group_and_weight_for_readers_without_the_catalogue(report: Report) -> None:
    found = next(item for item in report_to_json(report)["outcomes"] if item["check"] == "PRV-08")
    assert (found["title"], found["group"], found["severity"], found["level"]) == ("Refinement law", "preview", "M", 3)


def test_a_report_of_a_revision_that_the_kit_does_not_have_can_still_be_read(report: Report) -> None:
    other = replace(report, requirements="77")
    assert report_from_json(report_to_json(other)) == other
