"""From a report to an exit code, with the reason in words."""

from dataclasses import dataclass

from extensor_conformance.cli.exits import PRECEDENCE, Exit
from extensor_conformance.report.grouping import TESTED
from extensor_conformance.report.model import Report
from extensor_conformance.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Policy:
    """What is asked of a run beyond the absence of failures."""

    strict: bool = False
    """WARN counts as a failure."""
    require_level: int = 0
    """The level that has to be earned; 0 for none."""
    min_tested: float = 0.0
    """Percent of what applies that has to be tested."""


def ending(report: Report, policy: Policy) -> tuple[Exit, str]:
    """The exit code, the first of all that apply in the order of `PRECEDENCE`, and why."""
    found = _all(report, policy)
    code = next(code for code in PRECEDENCE if code in found)
    return code, found[code]


def _all(report: Report, policy: Policy) -> dict[Exit, str]:
    found = {Exit.OK: "all is well"}
    counts = report.counts
    failed = counts.get(Verdict.FAIL, 0) + counts.get(Verdict.FLAKY, 0)
    warned = counts.get(Verdict.WARN, 0) if policy.strict else 0
    if report.kit_faults or counts.get(Verdict.ERROR):
        found[Exit.KIT] = "the kit itself has a fault; please report it"
    if report.start_failure is not None:
        found[Exit.NOT_STARTED] = "the provider did not start, or the handshake failed"
    if report.interrupted:
        found[Exit.INTERRUPTED] = "interrupted"
    if failed or warned:
        found[Exit.FAILED] = f"{failed + warned} failed"
    if report.leftovers:
        found[Exit.LEFTOVERS] = f"{len(report.leftovers)} resources are left behind"
    if report.stale_waivers or report.expired_waivers:
        found[Exit.WAIVERS] = "waivers are stale or have expired"
    untested = _untested(report, policy)
    if untested is not None:
        found[Exit.UNTESTED] = untested
    return found


def _untested(report: Report, policy: Policy) -> str | None:
    tested = sum(outcome.verdict in TESTED for outcome in report.outcomes)
    missing = report.counts.get(Verdict.NOT_TESTED, 0)
    if not tested:
        return "nothing was tested"
    share = 100 * tested / (tested + missing)
    if share < policy.min_tested:
        return f"{share:.0f} % was tested, {policy.min_tested:g} % is asked for"
    if report.level < policy.require_level:
        blocked = [id_ for level in report.levels if level.number <= policy.require_level for id_ in level.blocked_by]
        more = f" and {len(blocked) - 5} more" if len(blocked) > 5 else ""
        return f"L{policy.require_level} is asked for and not earned: {', '.join(blocked[:5])}{more}"
    return None
