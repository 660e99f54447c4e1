"""The formats of a report by name."""

from collections.abc import Callable
from typing import NamedTuple

from extensor_conformance.report import badge, document, html, junit, markdown, metrics, ndjson, sarif, tap
from extensor_conformance.report.model import Report


class Format(NamedTuple):
    """One format."""

    name: str
    file: str
    """The file's name when only a folder is given."""
    summary: str
    render: Callable[[Report], str]


FORMATS = {
    one.name: one
    for one in (
        Format("json", "report.json", "everything, versioned; all others can be made from it", document.render),
        Format("ndjson", "events.ndjson", "the stream of events, written while the run goes on", ndjson.render),
        Format("junit", "junit.xml", "JUnit XML for CI systems", junit.render),
        Format("html", "report.html", "one page for people, with nothing loaded from elsewhere", html.render),
        Format("sarif", "report.sarif", "SARIF 2.1.0 for code scanning", sarif.render),
        Format("markdown", "report.md", "for the page of a CI job", markdown.render),
        Format("tap", "report.tap", "TAP version 14", tap.render),
        Format("badge", "badge.json", "JSON for a badge service", badge.render),
        Format("metrics", "metrics.txt", "OpenMetrics text", metrics.render),
    )
}
