"""TAP version 14: a line for each check and type, with a YAML block where there is something to tell."""

import json

from extensor_conformance.report.grouping import problem_lines, title_of
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.verdicts import Outcome, Verdict

_BAD = (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR, Verdict.NOT_TESTED, Verdict.XPASS)


def render(report: Report) -> str:
    """The report as TAP."""
    lines = [
        "TAP version 14",
        f"1..{len(report.outcomes)}",
        f"# seed {report.seed}, requirements {report.requirements}",
    ]
    for number, outcome in enumerate(report.outcomes, 1):
        lines += _point(report, number, outcome)
    if report.interrupted:
        lines.append("Bail out! the run was interrupted")
    return "\n".join(lines) + "\n"


def _point(report: Report, number: int, outcome: Outcome) -> list[str]:
    words = f"{outcome.check} {title_of(report, outcome)}{f' ({outcome.type})' if outcome.type else ''}"
    line = f"{'not ok' if outcome.verdict in (*_BAD, Verdict.XFAIL) else 'ok'} {number} - {_escaped(words)}"
    if outcome.verdict is Verdict.NOT_APPLICABLE:
        return [f"{line} # SKIP {_escaped(outcome.reason or 'does not apply')}"]
    if outcome.verdict is Verdict.XFAIL:
        return [f"{line} # TODO {_escaped(outcome.reason or 'waived')}"]
    if outcome.verdict is Verdict.PASS:
        return [line]
    replay = replay_line(report, outcome)
    facts: dict[str, object] = {
        "verdict": str(outcome.verdict),
        "message": "; ".join(problem_lines(outcome)) or (outcome.reason or ""),
        "severity": "comment" if outcome.verdict is Verdict.WARN else "fail",
        "evidence": str(outcome.evidence),
        **({"replay": replay} if replay else {}),
        "run": run_line(report, outcome),
    }
    # JSON texts are YAML double-quoted scalars
    return [line, "  ---", *(f"  {key}: {json.dumps(value)}" for key, value in facts.items()), "  ..."]


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("#", "\\#")
