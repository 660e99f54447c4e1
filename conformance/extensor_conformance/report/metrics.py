"""OpenMetrics text: verdicts, level, leftovers and latency, for whoever draws them over time."""

import json

from extensor_conformance.report.model import Report


def render(report: Report) -> str:
    """The report as one scrape."""
    who = {"provider": str(report.provider.get("name", "")), "version": str(report.provider.get("version", ""))}
    lines = ["# TYPE conformance_outcomes gauge"]
    lines += [_line("conformance_outcomes", {**who, "verdict": key}, value) for key, value in report.counts.items()]
    lines += ["# TYPE conformance_level gauge", _line("conformance_level", who, report.level)]
    lines += ["# TYPE conformance_leftovers gauge", _line("conformance_leftovers", who, len(report.leftovers))]
    lines += ["# TYPE conformance_run_seconds gauge", "# UNIT conformance_run_seconds seconds"]
    lines.append(_line("conformance_run_seconds", who, round(report.seconds, 3)))
    lines += ["# TYPE conformance_call_seconds gauge", "# UNIT conformance_call_seconds seconds"]
    for method, times in report.latency.items():
        for key in ("p50", "p95", "max"):
            lines.append(_line("conformance_call_seconds", {**who, "method": method, "at": key}, times[key]))
    return "\n".join([*lines, "# EOF"]) + "\n"


def _line(name: str, labels: dict[str, str], value: float) -> str:
    told = ",".join(f"{key}={json.dumps(text, ensure_ascii=False)}" for key, text in labels.items())
    return f"{name}{{{told}}} {value}"
