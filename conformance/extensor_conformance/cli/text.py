"""A report on a terminal: groups, failures with all that explains them, and one line that says how it ended."""

import textwrap
from collections.abc import Iterable, Sequence

from extensor_conformance.cli.console import Console, printable
from extensor_conformance.logbook import LOG, folded, log_lines
from extensor_conformance.report.document import requirement_of
from extensor_conformance.report.grouping import (
    Group,
    groups_of,
    level_text,
    listed_checks,
    problem_lines,
    result_text,
    title_of,
)
from extensor_conformance.report.model import Report
from extensor_conformance.report.reproduce import replay_line, run_line
from extensor_conformance.report.timeline import cut, details, sizes, timeline
from extensor_conformance.verdicts import Outcome, Problem, Verdict

COLOURS = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.FLAKY: "red",
    Verdict.ERROR: "red",
    Verdict.WARN: "yellow",
    Verdict.XPASS: "yellow",
    Verdict.NOT_TESTED: "yellow",
    Verdict.XFAIL: "gray",
    Verdict.NOT_APPLICABLE: "gray",
}
_CELL = 40
"""Characters of a cell in a table of differences."""
_ROWS = 8
_STEPS = 12
_PROBLEMS = 5

MOST_LEFT = 10
"""So many of what is left behind are named; the reports for machines have all."""


class Writer:
    """Writes the parts of a report to a console."""

    def __init__(self, console: Console, report: Report, *, verbose: bool = False, wire: str | None = None) -> None:
        self._console = console
        self._report = report
        self._verbose = verbose
        self._wire = wire
        """Folder of the transcripts, when there are any."""

    def all(self) -> None:
        """Everything after the head."""
        self.groups()
        self.failures()
        self.remarks()

    def groups(self) -> None:
        """One line for each group."""
        groups = groups_of(self._report)
        if groups:
            self._console.out("")
        for group in groups:
            self._console.out(self._group(group))

    def failures(self) -> None:
        """A block for each failure, the same finding on several types told once in full."""
        for verdict in (Verdict.FAIL, Verdict.FLAKY, Verdict.ERROR):
            for outcome in self._report.outcomes:
                if outcome.verdict is verdict:
                    self.failure(outcome)

    def failure(self, outcome: Outcome) -> None:
        """Everything about one failure."""
        out, case = self._console.out, outcome.case
        words = [self._verdict(outcome.verdict), outcome.check, title_of(self._report, outcome)]
        words += [outcome.type or "", f"case {case.id}" if case else ""]
        out("\n" + "   ".join(word for word in words if word))
        if outcome.verdict is Verdict.ERROR:
            out(textwrap.indent(printable(outcome.reason or ""), "  "))
        for problem in outcome.problems[:_PROBLEMS]:
            self._problem(problem)
        if len(outcome.problems) > _PROBLEMS:
            out(f"  …and {len(outcome.problems) - _PROBLEMS} more in the reports")
        self._log(outcome)
        self._steps(outcome)
        row = requirement_of(self._report, outcome.check)
        if row is not None and outcome.verdict is not Verdict.ERROR:
            self._labelled("Why", f"{row.why} ({', '.join(row.rule)})" if row.rule else row.why)
            self._labelled("Fix", row.fix)
        lines = [line for line in (replay_line(self._report, outcome), run_line(self._report, outcome)) if line]
        for number, line in enumerate(lines):
            out(f"  {'' if number else 'Repro':<6} {printable(line)}")
        facts = [f"evidence: {outcome.evidence}"]
        if case is not None and self._wire and outcome.transcript:
            facts.insert(0, f"{self._wire}/{case.id}.jsonl")
        if outcome.tries is not None:
            facts.append(f"reproduced {outcome.tries[0]} of {outcome.tries[1]}")
        out(f"  {'Wire':<6} {'   '.join(facts)}")

    def remarks(self) -> None:
        """Warnings, waivers, what was not tested: a line each."""
        report = self._report
        warned = [outcome for outcome in report.outcomes if outcome.verdict in (Verdict.WARN, Verdict.XPASS)]
        if warned:
            self._console.out("")
        for outcome in warned:
            text = "; ".join(problem_lines(outcome)) or outcome.reason or ""
            self._remark(outcome.verdict, outcome.check, f"{outcome.type}: {text}" if outcome.type else text)
            self._log(outcome)
            if outcome.case is not None:
                self._console.out(f"  {'Repro':<6} {replay_line(self._report, outcome)}")
        quiet = [Verdict.XFAIL, Verdict.NOT_TESTED, *([Verdict.NOT_APPLICABLE] if self._verbose else [])]
        for verdict in quiet:
            reasons: dict[str, list[Outcome]] = {}
            for outcome in report.outcomes:
                if outcome.verdict is verdict:
                    reasons.setdefault(folded(outcome.reason or ""), []).append(outcome)
            if reasons:
                self._console.out("")
            for reason, outcomes in reasons.items():
                self._remark(verdict, listed_checks(outcomes), reason)
                told = [outcome for outcome in outcomes if LOG in outcome.facts]
                for outcome in told or outcomes[:1]:
                    self._log(outcome)

    def foot(self, code: int, why: str) -> None:
        """What is left behind, the level, the result, the seed, the exit code."""
        report, out = self._report, self._console.out
        out("")
        for fault in report.kit_faults:
            out(textwrap.indent(printable(fault), "  "))
        if report.start_failure is not None:
            out(f"{self._console.paint('error:', 'red')} the provider did not start: {printable(report.start_failure)}")
        for words, items in (("Stale waiver", report.stale_waivers), ("Expired waiver", report.expired_waivers)):
            for item in items:
                out(f"{self._console.paint(words, 'yellow')}  {printable(item)}")
        for item in report.leftovers[:MOST_LEFT]:
            out(f"{self._console.paint('LEFT', 'red')}  {printable(f'{item.type} {item.identifiers}: {item.reason}')}")
        if (more := len(report.leftovers) - MOST_LEFT) > 0:
            out(f"{self._console.paint('LEFT', 'red')}  and {more} more, which the ledger names")
        left = f"{len(report.leftovers)}, see `provider-conformance cleanup`" if report.leftovers else "none"
        self._wrapped(printable(f"{'Left behind':<12} {left} ({report.made})"), "", " " * 13)
        blocked = next((level for level in report.levels if not level.earned and level.blocked_by), None)
        why_not = ""
        ran = {outcome.check for outcome in report.outcomes}
        if blocked is not None and ran.isdisjoint(blocked.blocked_by):
            why_not = "   (only some of the checks were asked for)"
        elif blocked is not None:
            ids = ", ".join(blocked.blocked_by[:4])
            more = f" and {len(blocked.blocked_by) - 4} more" if len(blocked.blocked_by) > 4 else ""
            why_not = f"   (L{blocked.number} blocked by {ids}{more})"
        evidence = next((f", {level.evidence}" for level in report.levels if level.number == report.level), "")
        out(f"{'Level':<12} {level_text(report)}{evidence}{why_not}")
        out(f"{'Seed':<12} {report.seed}")
        result = f"{'Result':<12} {result_text(report)} in {report.seconds:.1f} s"
        ending = f"exit {int(code)}" + (f": {why}" if code else "")
        out(f"{result}   {self._console.paint(ending, 'red' if code else 'green')}")

    # -- the parts ----------------------------------------------------------------------------------------------------

    def _group(self, group: Group) -> str:
        others = group.others()
        told = "   ".join(
            self._console.paint(f"{count} {verdict}", COLOURS[verdict]) for verdict, count in others.items()
        )
        if not told:
            told = (
                self._console.paint("ok", "green") if group.counted else self._console.paint("does not apply", "gray")
            )
        count = f"{group.passed}/{group.counted}"
        return f"  {group.name:<12} {count:>6}  {told}   {group.seconds:.1f} s"

    def _problem(self, problem: Problem) -> None:
        place = f"{problem.path}: " if problem.path else ""
        step = f" (step {problem.step})" if problem.step else ""
        self._wrapped(printable(f"{place}{problem.message}{step}"), "  ", "    ")
        if problem.rows:
            rows = [("path", *problem.columns), *((row.path, *row.cells) for row in problem.rows[:_ROWS])]
            self._console.out("")
            for line in table(rows):
                self._console.out(f"     {line}")
            if len(problem.rows) > _ROWS:
                self._console.out(f"     …and {len(problem.rows) - _ROWS} more")
            self._console.out("")

    def _log(self, outcome: Outcome) -> None:
        for number, line in enumerate(log_lines(outcome)):
            self._console.out(f"  {'' if number else 'Log':<6} {printable(line)}")

    def _steps(self, outcome: Outcome) -> None:
        case, moments = outcome.case, timeline(outcome)
        if case is None or not moments:
            return
        if outcome.original is not None:
            (steps, values), (before, values_before) = sizes(case), sizes(outcome.original)
            head = f"Shrunk from {values_before} values and {before} steps to {values} and {steps}:"
        else:
            head = f"{len(moments)} calls, played by the check itself:" if case.procedural else "Steps:"
        self._console.out(f"  {head}")
        if case.plan.note:
            self._console.out(f"    {printable(case.plan.note)}")
        width = max(60, self._console.width - 40)
        shown = moments[:_STEPS]
        for number, (moment, text) in enumerate(zip(shown, details(shown, width), strict=True), 1):
            mark = "x" if moment.blamed else " "
            answer = f"  -> {moment.answer}" if moment.answer else ""
            self._console.out(f"   {mark}{number:>2} {moment.action:<12} {printable(text)}{answer}")
        if len(moments) > _STEPS:
            self._console.out(f"      …and {len(moments) - _STEPS} more")

    def _labelled(self, label: str, text: str) -> None:
        self._wrapped(printable(text), f"  {label:<6} ", " " * 9)

    def _wrapped(self, text: str, first: str, rest: str) -> None:
        width = min(self._console.width, 120)
        self._console.out(
            textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
        )

    def _remark(self, verdict: Verdict, ids: str, text: str) -> None:
        colour = COLOURS[verdict]
        head = f"{verdict}  {ids}"
        body = printable(" ".join(text.split()))
        width = min(self._console.width, 120)
        lines = textwrap.wrap(f"{head}  {body}", width, subsequent_indent="  ", break_on_hyphens=False) or [head]
        self._console.out("\n".join(lines).replace(str(verdict), self._console.paint(str(verdict), colour), 1))

    def _verdict(self, verdict: Verdict) -> str:
        return self._console.paint(str(verdict), COLOURS[verdict])


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as lines with even columns."""
    cells = [[cut(printable(cell).replace("\n", " "), _CELL) for cell in row] for row in rows]
    if not cells:
        return []
    count = max(len(row) for row in cells)
    widths = [max((len(row[index]) for row in cells if index < len(row)), default=0) for index in range(count)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)).rstrip() for row in cells]
