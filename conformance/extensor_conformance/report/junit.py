"""JUnit XML: a suite for each group, a test case for each check and type, failures as real failure elements."""

import re
from xml.etree import ElementTree

from extensor_conformance.logbook import log_lines
from extensor_conformance.report.grouping import group_of, problem_lines, title_of
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.report.timeline import timeline
from extensor_conformance.verdicts import Outcome, Verdict

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""
_FAILURES = (Verdict.FAIL, Verdict.FLAKY, Verdict.XPASS)
_ERRORS = (Verdict.ERROR, Verdict.NOT_TESTED)
_SKIPS = (Verdict.NOT_APPLICABLE, Verdict.XFAIL)


def render(report: Report) -> str:
    """The report for CI systems that read JUnit."""
    root = ElementTree.Element("testsuites", name="provider-conformance")
    suites: dict[str, list[Outcome]] = {}
    for outcome in report.outcomes:
        suites.setdefault(group_of(report, outcome), []).append(outcome)
    for name, outcomes in suites.items():
        _suite(root, report, name, outcomes)
    _count(root, report.outcomes, report.seconds)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, report: Report, name: str, outcomes: list[Outcome]) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=name, timestamp=report.started)
    _count(suite, outcomes, sum(outcome.seconds for outcome in outcomes))
    properties = ElementTree.SubElement(suite, "properties")
    facts = {
        "seed": report.seed,
        "kit": report.kit,
        "requirements": report.requirements,
        "provider": report.provider.get("name", ""),
        "provider.version": report.provider.get("version", ""),
        "wire": report.subject.get("wire", ""),
        "level": report.level,
    }
    for key, value in facts.items():
        ElementTree.SubElement(properties, "property", name=key, value=_legal(str(value)))
    for outcome in outcomes:
        _case(suite, report, name, outcome)


def _case(suite: ElementTree.Element, report: Report, group: str, outcome: Outcome) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_legal(f"{group}.{outcome.type}" if outcome.type else group),
        name=_legal(f"{outcome.check} {title_of(report, outcome)}"),
        time=f"{outcome.seconds:.6f}",
    )
    verdict, message = outcome.verdict, _message(outcome)
    if verdict in _FAILURES:
        found = ElementTree.SubElement(case, "failure", message=message, type=str(verdict))
        found.text = _legal(details(report, outcome))
    elif verdict in _ERRORS:
        found = ElementTree.SubElement(case, "error", message=message, type=str(verdict))
        log = log_lines(outcome)
        found.text = _legal("\n".join([outcome.reason or "", *(["", "log:"] if log else []), *log]))
    elif verdict in _SKIPS:
        ElementTree.SubElement(case, "skipped", message=message)
    elif verdict is Verdict.WARN:
        ElementTree.SubElement(case, "system-out").text = _legal(f"WARN\n{details(report, outcome)}")


def details(report: Report, outcome: Outcome) -> str:
    """The problems, the steps and the ways to see it again, as plain text."""
    lines = problem_lines(outcome) or [outcome.reason or ""]
    for problem in outcome.problems:
        if problem.rows:
            lines += [f"  path | {' | '.join(problem.columns)}"]
            lines += [f"  {row.path} | {' | '.join(row.cells)}" for row in problem.rows]
    log = log_lines(outcome)
    if log:
        lines += ["", "log:", *(f"  {line}" for line in log)]
    moments = timeline(outcome)
    if moments:
        lines += ["", "steps:"]
        lines += [
            f"  {number} {moment.action} {moment.detail}{f' -> {moment.answer}' if moment.answer else ''}"
            for number, moment in enumerate(moments, 1)
        ]
    replay = replay_line(report, outcome)
    lines += ["", *([replay] if replay else []), run_line(report, outcome)]
    return "\n".join(lines)


def _message(outcome: Outcome) -> str:
    if outcome.verdict is Verdict.FLAKY and outcome.tries is not None:
        failed, of = outcome.tries
        first = (problem_lines(outcome) or [""])[0]
        return _legal(f"flaky, failed {failed} of {of}: {first}")
    if outcome.verdict in (*_SKIPS, *_ERRORS, Verdict.XPASS):
        return _legal((outcome.reason or str(outcome.verdict)).strip().splitlines()[-1])
    return _legal((problem_lines(outcome) or [outcome.reason or str(outcome.verdict)])[0])


def _count(element: ElementTree.Element, outcomes: "tuple[Outcome, ...] | list[Outcome]", seconds: float) -> None:
    def count(verdicts: tuple[Verdict, ...]) -> str:
        return str(sum(outcome.verdict in verdicts for outcome in outcomes))

    element.set("tests", str(len(outcomes)))
    element.set("failures", count(_FAILURES))
    element.set("errors", count(_ERRORS))
    element.set("skipped", count(_SKIPS))
    element.set("time", f"{seconds:.6f}")


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
