"""The stream of events, one JSON object a line: written live, or made anew from a report."""

import json
from collections.abc import Callable

from extensor.contract import Json
from extensor_conformance.events import (
    CheckEnded,
    Event,
    Planned,
    ProviderReady,
    RunEnded,
    RunStarted,
    Warned,
    event_to_json,
)
from extensor_conformance.report.model import Report


def line(event: Event, mask: Callable[[Json], Json] | None = None) -> str:
    """One line of the stream, without its end, in ASCII; `mask` takes secrets out of its JSON."""
    data: Json = event_to_json(event)
    return json.dumps(mask(data) if mask is not None else data, separators=(",", ":"))


def render(report: Report) -> str:
    """The events that a report still knows of."""
    return "".join(f"{line(event)}\n" for event in events_of(report))


def events_of(report: Report) -> list[Event]:
    """The run as events; starts of checks and the times between are gone."""
    facts = {
        "kit": report.kit,
        "requirements": report.requirements,
        "seed": report.seed,
        "workers": report.settings.get("workers", 1),
        "subject": report.subject.get("title"),
        "wire": report.subject.get("wire"),
    }
    events: list[Event] = [RunStarted(facts)]
    if report.provider:
        keys = list(report.config_keys)
        events.append(ProviderReady({**report.provider, "types": list(report.types), "configKeys": keys}))
    checks = tuple(dict.fromkeys(outcome.check for outcome in report.outcomes))
    events.append(Planned(checks, len(report.outcomes)))
    events += [CheckEnded(outcome, 0) for outcome in report.outcomes]
    events += [Warned(warning) for warning in report.warnings]
    ended = {"counts": report.counts, "level": report.level, "seconds": round(report.seconds, 3)}
    events.append(RunEnded({**ended, "interrupted": report.interrupted}))
    return events
