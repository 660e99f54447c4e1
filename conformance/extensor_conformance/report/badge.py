"""A badge: the JSON that badge services read from a URL."""

import json

from extensor_conformance.report.grouping import level_text
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Evidence

_COLOURS = ("lightgrey", "orange", "yellowgreen", "green", "brightgreen")


def render(report: Report) -> str:
    """The level earned, with a ``+`` when the world behind the provider was looked at too."""
    probed = any(level.number == report.level and level.evidence is Evidence.PROBED for level in report.levels)
    broken = report.start_failure is not None or bool(report.kit_faults) or report.interrupted
    message = "unknown" if broken else f"{level_text(report)}{' +' if probed else ''}"
    badge = {
        "schemaVersion": 1,
        "label": "conformance",
        "message": message,
        "color": _COLOURS[0] if broken else _COLOURS[report.level],
        "isError": report.level == 0,
    }
    return f"{json.dumps(badge)}\n"
