"""The page, read by the standard library's HTML parser."""

from html.parser import HTMLParser

import pytest

from extensor_conformance.report import html
from extensor_conformance.report.model import Report

VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """Tags that were opened, with their attributes; texts; whether everything was closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture
def page(report: Report) -> Page:
    return Page(html.render(report))


def test_every_tag_is_closed_in_order(page: Page) -> None:
    assert page.faults == []
    assert page.open == []


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not attributes & {"src", "href", "action", "srcset"}
    assert not page.named("link")
    policy = next(item["content"] for item in page.named("meta") if "content" in item and "http-equiv" in item)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_what_a_provider_says_is_never_markup(page: Page) -> None:
    assert len(page.named("script")) == 1
    assert any('<script>alert("x")</script>' in text for text in page.texts)


def test_each_outcome_can_be_filtered_by_verdict_group_and_type(page: Page, report: Report) -> None:
    outcomes = [item for item in page.named("details") if item.get("class") == "outcome"]
    assert len(outcomes) == len(report.outcomes)
    seen = {(item["data-verdict"], item["data-group"], item["data-type"]) for item in outcomes}
    assert ("FAIL", "preview", "note@1.0") in seen
    assert ("PASS", "protocol", "") in seen
    buttons = {item["data-verdict"] for item in page.named("button") if "data-verdict" in item}
    assert buttons == set(report.counts)


def test_failures_come_first_and_unfolded(page: Page) -> None:
    outcomes = [item for item in page.named("details") if item.get("class") == "outcome"]
    assert outcomes[0]["id"] == "PRV-08"
    assert "open" in outcomes[0]
    assert [item["data-verdict"] for item in outcomes[:3]] == ["FAIL", "FLAKY", "ERROR"]


def test_a_failure_shows_its_table_its_steps_and_how_to_see_it_again(page: Page) -> None:
    text = "".join(page.texts)
    assert "$.properties.size" in text
    assert "Steps, made small from 5 steps and 6 values to 3 and 4" in text
    assert "refused: InvalidProperty" in text
    assert '{"name": "a", "text": <unknown>}' in text
    assert "provider-conformance replay k7m2qa" in text
    assert len([item for item in page.named("button") if item.get("class") == "copy"]) >= 2


def test_leftovers_waivers_and_faults_of_the_kit_are_told_at_the_top(page: Page) -> None:
    text = "".join(page.texts)
    head = text[: text.index("Checks")]
    assert "not yours" in head
    assert "DEL-01: old" in head
    assert "PRV-02: older" in head
