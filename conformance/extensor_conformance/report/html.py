"""One HTML page for people: filters, tables of differences, steps on a time line, the wire. Loads nothing."""

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from extensor_conformance.logbook import LOG, LOG_AT, log_lines
from extensor_conformance.report.document import requirement_of
from extensor_conformance.report.grouping import group_of, groups_of, level_text, result_text, title_of
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.report.timeline import Moment, sizes, timeline
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Outcome, Problem, Verdict

_ORDER = (
    Verdict.FAIL,
    Verdict.FLAKY,
    Verdict.ERROR,
    Verdict.XPASS,
    Verdict.WARN,
    Verdict.NOT_TESTED,
    Verdict.XFAIL,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
)
_OPEN = 5
"""Failures that are shown unfolded."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""The page cannot load or send anything, whatever a provider's answers hold."""

MOST_SHOWN = 10
"""A longer list of what is left behind is folded."""


def render(report: Report) -> str:
    """The page."""
    level = level_text(report) if report.level else "no level earned"
    title = f"Conformance of {_name(report)}: {level}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(result_text(report))} in {report.seconds:.1f} s</p>',
        *_notices(report),
        _levels(report),
        _facts(report),
        _groups(report),
        _bar(report),
        '<section id="outcomes">',
        *_outcomes(report),
        '<p class="none" id="none" hidden>Nothing matches these filters.</p>',
        "</section>",
        _latency(report),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + f"\n</main>\n<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("extensor_conformance.report").joinpath(name).read_text("utf-8")


def _name(report: Report) -> str:
    provider = report.provider
    return f"{provider.get('name')} {provider.get('version')}" if provider else str(report.subject.get("title", ""))


def _notices(report: Report) -> Iterable[str]:
    if report.start_failure is not None:
        yield _notice("The provider did not start", f"<pre>{escape(report.start_failure)}</pre>")
    if report.interrupted:
        yield _notice("The run was interrupted", "<p>This is what was seen until then.</p>", "warn")
    for fault in report.kit_faults:
        yield _notice("A fault of the kit itself", f"<pre>{escape(fault)}</pre>")
    if report.leftovers:
        rows = "".join(
            f"<li><code>{escape(item.type)} {escape(str(item.identifiers))}</code>: {escape(item.reason)}</li>"
            for item in report.leftovers
        )
        count = f"{len(report.leftovers)} {'object' if len(report.leftovers) == 1 else 'objects'}"
        shown = " open" if len(report.leftovers) <= MOST_SHOWN else ""
        listed = f"<details{shown}><summary>{count}</summary><ul>{rows}</ul></details>"
        yield _notice("Left behind, and not removable", listed)
    for words, items in (("Stale waivers", report.stale_waivers), ("Expired waivers", report.expired_waivers)):
        if items:
            yield _notice(words, f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>", "warn")


def _notice(title: str, inner: str, kind: str = "") -> str:
    return f'<div class="notice {kind}"><b>{escape(title)}</b>{inner}</div>'


def _levels(report: Report) -> str:
    pills = [
        f'<div class="level{" earned" if level.earned else ""}"><b>L{level.number} {escape(level.name)}</b>'
        f'<span class="soft">{escape(_level_words(report, level.number))}</span></div>'
        for level in report.levels
    ]
    return f'<div class="levels">{"".join(pills)}</div>' if pills else ""


def _level_words(report: Report, number: int) -> str:
    level = next(item for item in report.levels if item.number == number)
    if level.earned:
        return f"earned, {level.evidence}"
    if level.blocked_by:
        more = len(level.blocked_by) - 6
        return f"blocked by {', '.join(level.blocked_by[:6])}{f' and {more} more' if more > 0 else ''}"
    return "blocked by a level below"


def _facts(report: Report) -> str:
    provider = report.provider
    facts = {
        "Provider": f"{_name(report)}, protocol {provider['protocol']}" if provider else "did not start",
        "Started as": f"{report.subject.get('title', '')} ({report.subject.get('wire', '')})",
        "Types": ", ".join(report.types) or "none",
        "Configuration": ", ".join(report.config_keys) or "none",
        "Seed": str(report.seed),
        "Requirements": f"revision {report.requirements}, kit {report.kit}",
        "Run": f"{report.started}, {report.settings.get('workers', 1)} workers",
        "Made": f"{report.made}; {len(report.leftovers)} left behind",
    }
    rows = "".join(f"<dt>{key}</dt><dd>{escape(value)}</dd>" for key, value in facts.items())
    return f'<dl class="facts">{rows}</dl>'


def _groups(report: Report) -> str:
    rows = [
        f'<tr><td><button type="button" data-group="{escape(group.name)}">{escape(group.name)}</button></td>'
        f'<td class="num">{group.passed}/{group.counted}</td><td>'
        + (" ".join(_tag(verdict, f"{count} {verdict}") for verdict, count in group.others().items()) or "ok")
        + f'</td><td class="num">{group.seconds:.1f} s</td></tr>'
        for group in groups_of(report)
    ]
    head = '<tr><th>Group</th><th class="num">Passed</th><th></th><th class="num">Time</th></tr>'
    return f"<h2>Groups</h2><table>{head}{''.join(rows)}</table>" if rows else ""


def _bar(report: Report) -> str:
    counts = report.counts
    quiet = any(outcome.verdict in _ORDER[:5] for outcome in report.outcomes)
    buttons = [
        f'<button type="button" data-verdict="{verdict}" title="Shift-click: only these" aria-pressed="'
        f'{"false" if quiet and verdict in _ORDER[6:] else "true"}">{verdict} {counts[verdict]}</button>'
        for verdict in _ORDER
        if verdict in counts
    ]
    groups = "".join(f"<option>{escape(group.name)}</option>" for group in groups_of(report))
    types = "".join(f"<option>{escape(name)}</option>" for name in report.types)
    return (
        f'<h2>Checks</h2><div class="bar">{"".join(buttons)}'
        f'<select id="group" aria-label="Group"><option value="">all groups</option>{groups}</select>'
        f'<select id="type" aria-label="Type"><option value="">all types</option>{types}</select>'
        '<input type="search" id="words" placeholder="Search" aria-label="Search">'
        '<span class="soft" id="shown"></span></div>'
    )


def _outcomes(report: Report) -> Iterable[str]:
    outcomes = sorted(report.outcomes, key=lambda outcome: _ORDER.index(outcome.verdict))
    unfolded = 0
    seen: dict[str, int] = {}
    for outcome in outcomes:
        show = outcome.verdict in _ORDER[:3] and unfolded < _OPEN
        unfolded += show
        seen[outcome.check] = seen.get(outcome.check, 0) + 1
        anchor = outcome.check if seen[outcome.check] == 1 else f"{outcome.check}-{seen[outcome.check]}"
        yield _outcome(report, outcome, anchor, show)


def _outcome(report: Report, outcome: Outcome, anchor: str, show: bool) -> str:
    about = escape(outcome.type or "provider")
    return (
        f'<details class="outcome" id="{escape(anchor)}"{" open" if show else ""} data-verdict="{outcome.verdict}" '
        f'data-group="{escape(group_of(report, outcome))}" data-type="{escape(outcome.type or "")}">'
        f'<summary><span>{_tag(outcome.verdict)}</span><b class="mono">{escape(outcome.check)}</b>'
        f'<span>{escape(title_of(report, outcome))}</span><code class="soft">{about}</code>'
        f'<span class="soft">{outcome.seconds:.2f} s</span></summary><div class="inside">'
        + "".join(_inside(report, outcome))
        + "</div></details>"
    )


def _inside(report: Report, outcome: Outcome) -> Iterable[str]:
    row = requirement_of(report, outcome.check)
    for problem in outcome.problems:
        yield _problem(problem)
    if outcome.reason:
        yield f"<pre>{escape(outcome.reason)}</pre>"
    log = log_lines(outcome)
    if log:
        yield f"<h3>Log of the provider</h3><pre>{escape(chr(10).join(log))}</pre>"
    if row is not None:
        yield f'<p class="soft">{_prose(row.sentence)}</p>'
    facts = [f"evidence: {outcome.evidence}", *([f"{outcome.cases} cases"] if outcome.cases else [])]
    if outcome.tries is not None:
        facts.append(f"reproduced {outcome.tries[0]} of {outcome.tries[1]}")
    facts += [f"{key}: {value}" for key, value in outcome.facts.items() if key not in (LOG, LOG_AT)]
    if row is not None:
        facts += [f"level {row.level}", *row.rule]
    yield f'<p class="soft">{escape(", ".join(facts))}</p>'
    if outcome.problems and row is not None:
        yield f"<h3>Why</h3><p>{_prose(row.why)}</p><h3>Usual cause</h3><p>{_prose(row.cause)}</p>"
        yield f"<h3>Fix</h3><p>{_prose(row.fix)}</p>"
    moments = timeline(outcome)
    if moments:
        yield f"<h3>{escape(_shrunk(outcome))}</h3>{_steps(moments)}"
    if outcome.problems or outcome.case is not None:
        yield "<h3>See it again</h3>"
        for line in (replay_line(report, outcome), run_line(report, outcome)):
            if line is not None:
                button = '<button type="button" class="copy">Copy</button>'
                yield f'<div class="again"><pre>{escape(line)}</pre>{button}</div>'
    if outcome.transcript:
        yield _wire(outcome.transcript)


def _problem(problem: Problem) -> str:
    place = f"<code>{escape(problem.path)}</code> " if problem.path else ""
    step = f' <span class="soft">step {escape(problem.step)}</span>' if problem.step else ""
    made = f'<p class="message">{place}{escape(problem.message)}{step}</p>'
    if problem.rows:
        heads = "".join(f"<th>{escape(head)}</th>" for head in ("path", *problem.columns))
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in (row.path, *row.cells))}</tr>" for row in problem.rows
        )
        made += f'<div class="scroll"><table class="diff"><tr>{heads}</tr>{rows}</table></div>'
    return made


def _shrunk(outcome: Outcome) -> str:
    if outcome.case is None or outcome.original is None:
        return "Steps"
    (steps, values), (before, values_before) = sizes(outcome.case), sizes(outcome.original)
    return f"Steps, made small from {before} steps and {values_before} values to {steps} and {values}"


def _steps(moments: list[Moment]) -> str:
    whole = max([(moment.at or 0) + (moment.seconds or 0) for moment in moments] + [0.001])
    rows: list[str] = []
    for number, moment in enumerate(moments, 1):
        track = ""
        if moment.at is not None:
            left, width = 100 * moment.at / whole, 100 * (moment.seconds or 0) / whole
            track = (
                f'<div class="track" title="{moment.at:.3f} s, took {(moment.seconds or 0) * 1000:.1f} ms">'
                f'<i style="left:{left:.2f}%;width:{min(width, 100 - left):.2f}%"></i></div>'
            )
        rows.append(
            f'<li{" class=blamed" if moment.blamed else ""}><span class="n">{number}</span>'
            f"<span>{escape(moment.action)}</span><code>{escape(moment.detail)}</code>"
            f"<span>{escape(moment.answer)}</span>{track}</li>"
        )
    return f'<ol class="steps">{"".join(rows)}</ol>'


def _wire(entries: Iterable[Entry]) -> str:
    words = {">": ("&rarr;", "out"), "<": ("&larr;", "in"), "!": ("&bull;", "event")}
    rows: list[str] = []
    for entry in entries:
        sign, kind = words[entry.direction]
        note = f' <span class="soft">{escape(entry.note)}</span>' if entry.note else ""
        rows.append(
            f'<div class="{kind}"><span class="soft">{entry.at:.4f}</span><span>{sign}</span>'
            f"<span><pre>{escape(entry.text)}</pre>{note}</span></div>"
        )
    pretty = '<button type="button" class="pretty" aria-pressed="false">Indent</button>'
    head = f"<summary>Wire, {len(rows)} messages, secrets masked</summary>"
    return f'<details>{head}{pretty}<div class="wire">{"".join(rows)}</div></details>'


def _latency(report: Report) -> str:
    rows = "".join(
        f'<tr><td class="mono">{escape(method)}</td><td class="num">{times["count"]}</td>'
        + "".join(f'<td class="num">{times[key] * 1000:.2f} ms</td>' for key in ("p50", "p95", "max"))
        + "</tr>"
        for method, times in report.latency.items()
    )
    heads = "".join(f'<th class="num">{head}</th>' for head in ("calls", "p50", "p95", "max"))
    return f"<h2>Latency</h2><table><tr><th>Method</th>{heads}</tr>{rows}</table>" if rows else ""


def _prose(text: str) -> str:
    """Text of the catalogue, in which words between backticks are code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _tag(verdict: Verdict, text: str | None = None) -> str:
    return f'<span class="tag {verdict}">{escape(text or str(verdict))}</span>'
