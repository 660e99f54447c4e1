"""Markdown for the page of a CI job."""

from extensor_conformance.logbook import LOG, folded, log_lines
from extensor_conformance.report.document import requirement_of
from extensor_conformance.report.grouping import (
    TROUBLE,
    groups_of,
    level_text,
    listed_checks,
    result_text,
    title_of,
    with_verdict,
)
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.report.timeline import details, timeline
from extensor_conformance.verdicts import Outcome, Verdict

SHOWN = 20
"""Failures that are told in full; a job page has its limits."""


def render(report: Report) -> str:
    """The report as a page."""
    provider = report.provider
    name = f"{provider.get('name')} {provider.get('version')}" if provider else str(report.subject.get("title"))
    level = level_text(report) if report.level else "no level earned"
    lines = [
        f"## Conformance of {_text(name)}: {level}",
        "",
        f"{result_text(report)} in {report.seconds:.1f} s. Seed `{report.seed}`, requirements {report.requirements}.",
        "",
    ]
    if report.start_failure is not None:
        lines += ["**The provider did not start.**", "", *_fenced(report.start_failure), ""]
    if report.interrupted:
        lines += ["**The run was interrupted; this is what was seen until then.**", ""]
    lines += ["| group | passed | | time |", "|---|---|---|---|"]
    for group in groups_of(report):
        others = ", ".join(f"{count} {verdict}" for verdict, count in group.others().items()) or "ok"
        lines.append(f"| {group.name} | {group.passed}/{group.counted} | {others} | {group.seconds:.1f} s |")
    bad = with_verdict(report, TROUBLE)
    for outcome in bad[:SHOWN]:
        lines += ["", *_failure(report, outcome)]
    if len(bad) > SHOWN:
        lines += ["", f"…and {len(bad) - SHOWN} more; the JSON and HTML reports have them all."]
    lines += _untested(report)
    if report.leftovers:
        lines += ["", "### Left behind", ""]
        lines += [
            f"- {_code(item.type)} {_code(str(item.identifiers))}: {_text(item.reason)}" for item in report.leftovers
        ]
    return "\n".join(lines) + "\n"


def _failure(report: Report, outcome: Outcome) -> list[str]:
    about = f" on {_code(outcome.type)}" if outcome.type else ""
    lines = [f"### {outcome.verdict} {outcome.check} {_text(title_of(report, outcome))}{about}", ""]
    lines += [
        f"- {f'{_code(problem.path)}: ' if problem.path else ''}{_text(problem.message)}"
        for problem in outcome.problems
    ] or [_text(outcome.reason or "")]
    for problem in outcome.problems:
        if problem.rows:
            heads = ("path", *problem.columns)
            lines += ["", f"| {' | '.join(_text(head) for head in heads)} |", f"|{'---|' * len(heads)}"]
            lines += [f"| {' | '.join(_code(cell) for cell in (row.path, *row.cells))} |" for row in problem.rows]
    log = log_lines(outcome)
    if log:
        lines += ["", "Log:", "", *_fenced("\n".join(log))]
    moments = timeline(outcome)
    if moments:
        steps = [
            f"{number} {moment.action} {text}{f' -> {moment.answer}' if moment.answer else ''}"
            for number, (moment, text) in enumerate(zip(moments[:40], details(moments[:40]), strict=True), 1)
        ]
        lines += ["", "<details><summary>steps</summary>", "", *_fenced("\n".join(steps)), "", "</details>"]
    row = requirement_of(report, outcome.check)
    if row is not None:
        lines += ["", f"**Why** {row.why}  ", f"**Fix** {row.fix}"]
    again = [line for line in (replay_line(report, outcome), run_line(report, outcome)) if line]
    return [*lines, "", *_fenced("\n".join(again), "sh")]


def _untested(report: Report) -> list[str]:
    reasons: dict[str, list[Outcome]] = {}
    for outcome in with_verdict(report, (Verdict.NOT_TESTED,)):
        reasons.setdefault(folded(outcome.reason or "no reason given"), []).append(outcome)
    if not reasons:
        return []
    lines = ["", "### Not tested", ""]
    for reason, outcomes in reasons.items():
        lines.append(f"- {listed_checks(outcomes)}: {_text(reason)}")
    for outcome in with_verdict(report, (Verdict.NOT_TESTED,)):
        if LOG in outcome.facts:
            lines += ["", f"Log under {outcome.check}:", "", *_fenced("\n".join(log_lines(outcome)))]
    return lines


def _fenced(text: str, language: str = "") -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _text(text: str) -> str:
    """Text in which nothing is markup and which stays on its line, in a table too."""
    out = " ".join(text.split())
    for char in "\\`*_[]<>|#$&~":
        out = out.replace(char, f"\\{char}")
    return out


def _code(text: str | None) -> str:
    words = " ".join(str(text).split()).replace("|", "\\|")
    ticks = "`"
    while ticks in words:
        ticks += "`"
    return f"{ticks} {words} {ticks}" if len(ticks) > 1 else f"`{words or ' '}`"
