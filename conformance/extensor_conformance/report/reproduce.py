"""The command lines that show a failure again."""

import shlex

from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Outcome

COMMAND = "provider-conformance"
FUZZ = "FUZZ"
"""The check of the cases that `fuzz` makes."""
DEFAULT_CONFIG = "conformance.toml"
"""Is read without being named."""


def replay_line(report: Report, outcome: Outcome) -> str | None:
    """Plays the failing case alone; ``None`` when there is none."""
    if outcome.case is None:
        return None
    folder = report.settings.get("folder")
    return shlex.join([COMMAND, "replay", *(["--folder", str(folder)] if folder else []), outcome.case.id])


def run_line(report: Report, outcome: Outcome) -> str:
    """Makes the check's cases again from the seed."""
    if outcome.case is not None and outcome.case.check == FUZZ:
        return f"{COMMAND} fuzz --seed {report.seed}{subject_words(report)}"
    words = [COMMAND, "run", "--seed", str(report.seed), "--checks", outcome.check]
    if outcome.type is not None:
        words += ["--type", outcome.type]
    if report.settings.get("strict"):
        words.append("--strict")
    fixture = report.settings.get("fixture")
    if isinstance(fixture, str) and fixture != DEFAULT_CONFIG:
        words += ["--config", fixture]
    return f"{shlex.join(words)}{subject_words(report)}"


def subject_words(report: Report) -> str:
    """How the provider was given on the command line, with a space before it."""
    title, wire = str(report.subject.get("title", "")), str(report.subject.get("wire", "stdio"))
    started = bool(report.subject.get("started", not title.startswith(("unix:", "tcp:"))))
    if started:
        place = {"unix": " --socket", "tcp": " --tcp"}.get(wire, "")
        return f"{place} -- {title}"
    kind, _, where = title.partition(":")
    return f" {'--socket' if kind == 'unix' else '--tcp'} {shlex.quote(where)}"
