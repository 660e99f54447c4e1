"""Markdown, TAP, badge, OpenMetrics and the event stream, each read by another's parser where there is one."""

import json
import re
from dataclasses import replace

from markdown_it import MarkdownIt

from extensor_conformance.report import badge, markdown, metrics, ndjson, tap
from extensor_conformance.report.grouping import groups_of, result_text
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Verdict


def test_markdown_holds_a_table_of_groups_and_a_heading_for_each_failure(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.render(report))
    headings = [tokens[index + 1].content for index, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[0].startswith("Conformance of contoso 1.4.2: ")
    assert "FAIL PRV-08 Refinement law on `note@1.0`" in headings
    assert headings[-2:] == ["Not tested", "Left behind"]
    rows = [token for token in tokens if token.type == "tr_open"]
    assert len(rows) >= 8


def test_the_groups_and_the_result_count_the_same(report: Report) -> None:
    passed = [outcome for outcome in report.outcomes if outcome.verdict is Verdict.PASS]
    twice = replace(report, outcomes=(*report.outcomes, replace(passed[0], type="other@1.0")))
    groups = groups_of(twice)
    assert sum(group.passed for group in groups) == len(passed) + 1
    assert f"{len(passed) + 1} passed" in result_text(twice)
    checks = len({outcome.check for outcome in twice.outcomes})
    assert result_text(twice).endswith(f"({len(twice.outcomes)} results of {checks} checks, one for each type)")


def test_markdown_keeps_a_providers_words_out_of_the_markup(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.render(report))
    raw = [token.content for token in tokens if token.type == "html_block"]
    inline = [child for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert inline == []
    assert {line for block in raw for line in block.strip().splitlines()} <= {
        "<details><summary>steps</summary>",
        "</details>",
    }


def test_markdown_cells_with_pipes_stay_one_cell(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.render(report))
    heads = [index for index, token in enumerate(tokens) if token.type == "inline" and token.content == "path"]
    start = heads[0]
    cells = [token.content for token in tokens[start : start + 40] if token.type == "inline"]
    assert cells[:4] == ["path", "preview", "saved", "`$.properties.email`"]
    assert "a|b" in cells[5]
    assert cells[6] == "`$.properties.size`"


def test_tap_has_a_plan_and_a_line_for_each_outcome(report: Report) -> None:
    lines = tap.render(report).splitlines()
    assert lines[:2] == ["TAP version 14", f"1..{len(report.outcomes)}"]
    points = [
        re.fullmatch(r"(not )?ok (\d+) - (.*?)( # (SKIP|TODO) .+)?", line)
        for line in lines
        if line.startswith(("ok ", "not ok "))
    ]
    assert [int(match[2]) for match in points if match] == list(range(1, len(report.outcomes) + 1))
    told = {match[3].split()[0]: (bool(match[1]), match[5]) for match in points if match}
    assert told["PROTO-01"] == (False, None)
    assert told["PRV-08"] == (True, None)
    assert told["PRV-12"] == (True, "TODO")
    assert told["SEC-01"] == (False, "SKIP")
    assert told["SCH-09"] == (True, None)


def test_taps_blocks_hold_quoted_scalars_only(report: Report) -> None:
    inside = False
    seen: dict[str, str] = {}
    for line in tap.render(report).splitlines():
        if line == "  ---":
            inside = True
        elif line == "  ...":
            inside = False
        elif inside:
            key, _, value = line.strip().partition(": ")
            seen[f"{len(seen)} {key}"] = json.loads(value)
    assert "provider-conformance replay k7m2qa" in seen.values()


def test_the_badge_tells_the_level_and_turns_grey_when_nothing_is_known(report: Report) -> None:
    told = json.loads(badge.render(report))
    assert told["schemaVersion"] == 1
    assert told["message"] == "none"
    broken = json.loads(badge.render(replace(report, start_failure="no")))
    assert (broken["message"], broken["color"]) == ("unknown", "lightgrey")


def test_metrics_are_openmetrics_lines_with_an_end(report: Report) -> None:
    lines = metrics.render(report).splitlines()
    assert lines[-1] == "# EOF"
    sample = re.compile(r'[a-z_]+\{([a-z]+="(?:[^"\\]|\\.)*",?)+\} -?[0-9.e+-]+')
    assert all(sample.fullmatch(line) for line in lines if not line.startswith("#"))
    assert 'conformance_outcomes{provider="contoso",version="1.4.2",verdict="FAIL"} 1' in lines


def test_the_stream_begins_with_the_seed_and_ends_with_the_counts(report: Report) -> None:
    events = [json.loads(line) for line in ndjson.render(report).splitlines()]
    assert events[0]["event"] == "run-started"
    assert events[0]["facts"]["seed"] == report.seed
    assert events[-1]["facts"]["counts"] == report.counts
    assert sum(event["event"] == "check-ended" for event in events) == len(report.outcomes)
