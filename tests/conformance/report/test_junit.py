"""JUnit, read by the standard library's XML parser."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from extensor_conformance.report import junit
from extensor_conformance.report.model import Report


@pytest.fixture
def root(report: Report) -> ElementTree.Element:
    return ElementTree.fromstring(junit.render(report))


def case(root: ElementTree.Element, check: str) -> ElementTree.Element:
    return next(item for item in root.iter("testcase") if item.get("name", "").startswith(check))


def test_each_outcome_is_a_case_with_a_class_a_name_and_a_time(root: ElementTree.Element, report: Report) -> None:
    cases = list(root.iter("testcase"))
    assert len(cases) == len(report.outcomes)
    assert all(float(item.get("time", "nan")) >= 0 for item in cases)
    assert case(root, "PRV-08").get("classname") == "preview.note@1.0"
    assert case(root, "PRV-08").get("name") == "PRV-08 Refinement law"


def test_a_failure_has_a_failure_element_with_message_and_body(root: ElementTree.Element) -> None:
    failure = case(root, "PRV-08").find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("$.properties.email: promised")
    body = failure.text or ""
    assert "provider-conformance replay k7m2qa" in body
    assert "--seed 8813402611 --checks PRV-08 --type note@1.0" in body
    assert "previewSave" in body


def test_what_was_not_tested_is_an_error_and_never_a_skip(root: ElementTree.Element) -> None:
    found = case(root, "SCH-09")
    assert found.find("skipped") is None
    error = found.find("error")
    assert error is not None
    assert error.get("message") == "no older types"


def test_a_waiver_is_a_skip_with_its_reason_and_a_stale_one_a_failure(root: ElementTree.Element) -> None:
    skipped = case(root, "PRV-12").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "by design"
    assert case(root, "DEL-01").find("failure") is not None


def test_a_flaky_case_tells_its_ratio(root: ElementTree.Element) -> None:
    failure = case(root, "IDM-01").find("failure")
    assert failure is not None
    assert failure.get("message") == "flaky, failed 1 of 3: came once"


def test_the_counts_are_those_of_the_elements(root: ElementTree.Element) -> None:
    for element in (root, *root.iter("testsuite")):
        seen = Counter(child.tag for item in element.iter("testcase") for child in item)
        assert int(element.get("tests", "-1")) == len(list(element.iter("testcase")))
        assert int(element.get("failures", "-1")) == seen["failure"]
        assert int(element.get("errors", "-1")) == seen["error"]
        assert int(element.get("skipped", "-1")) == seen["skipped"]


def test_seed_and_versions_are_properties(root: ElementTree.Element) -> None:
    suite = next(root.iter("testsuite"))
    properties = {item.get("name"): item.get("value") for item in suite.iter("property")}
    assert properties["seed"] == "8813402611"
    assert properties["provider.version"] == "1.4.2"
