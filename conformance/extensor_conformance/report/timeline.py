"""A case for people: its steps, each with what the provider answered, in the fewest words that tell the story."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from extensor.contract import Json, JsonObject
from extensor_conformance.case import Case
from extensor_conformance.steps import (
    Answered,
    Call,
    Drop,
    Notify,
    Parallel,
    ProbeStep,
    Raw,
    Request,
    Restart,
    Step,
    Wait,
)
from extensor_conformance.transcript import Entry
from extensor_conformance.verdicts import Outcome

_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
"""Private characters that mark words which stand for a value."""

CUT = 160
"""Characters of a step's details that are shown where space is dear."""

WHOLE = 600
"""Characters that all steps of a case may have to be shown whole: the value that decides may stand at the end."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One step."""

    name: str
    action: str
    """``save``, ``restart (kill)``."""
    detail: str
    """What was sent, as JSON; markers are written ``<unknown>``."""
    answer: str = ""
    """``ok``, ``refused: InvalidProperty``; empty when nothing is known."""
    at: float | None = None
    """Seconds since the case began."""
    seconds: float | None = None
    blamed: bool = False
    """Whether a problem names this step."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A request in a transcript with its answer."""

    method: str
    at: float
    answer: str
    seconds: float | None


def timeline(outcome: Outcome) -> list[Moment]:
    """The moments of an outcome's case; those of the wire when the check played it by hand; empty without a case."""
    case = outcome.case
    if case is None:
        return []
    frames = exchanges(outcome.transcript)
    if case.procedural:
        return [Moment("", frame.method, "", frame.answer, frame.at, frame.seconds) for frame in frames]
    blamed = {problem.step for problem in outcome.problems if problem.step}
    made: list[Moment] = []
    for step in case.steps:
        for name, action, detail, method in _told(step):
            frame = _take(frames, method)
            answer, at, seconds = (frame.answer, frame.at, frame.seconds) if frame else ("", None, None)
            made.append(Moment(name, action, detail, answer, at, seconds, name in blamed))
    return made


def exchanges(entries: Sequence[Entry]) -> list[Frame]:
    """The requests in a transcript, in the order in which they were sent."""
    answers: dict[str, tuple[float, JsonObject]] = {}
    for entry in entries:
        if entry.direction == "<":
            for message in _messages(entry.text):
                if "method" not in message and "id" in message:
                    answers.setdefault(_key(entry, message), (entry.at, message))
    found: list[Frame] = []
    for entry in entries:
        if entry.direction != ">":
            continue
        for message in _messages(entry.text):
            if "id" not in message or "method" not in message:
                continue
            at, answer = answers.get(_key(entry, message), (None, None))
            told = "no answer" if answer is None else answer_text(answer)
            seconds = max(0.0, at - entry.at) if at is not None else None
            found.append(Frame(str(message["method"]), entry.at, told, seconds))
    return found


def answer_text(message: JsonObject) -> str:
    """An answer in a word or two."""
    error = message.get("error")
    if not isinstance(error, dict):
        return "ok"
    data = error.get("data")
    faults = data.get("errors") if isinstance(data, dict) else None
    codes = [str(item.get("code")) for item in faults if isinstance(item, dict)] if isinstance(faults, list) else []
    return f"refused: {', '.join(dict.fromkeys(codes)) or error.get('code')}"


def compact(value: Json) -> str:
    """A JSON value on one line, with markers and late values in words."""
    return json.dumps(_worded(value), ensure_ascii=False).replace(f'"{_OPEN}', "<").replace(f'{_CLOSE}"', ">")


def cut(text: str, width: int = CUT) -> str:
    """The beginning of a text, with a sign that there is more."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def details(moments: Sequence[Moment], width: int = CUT) -> list[str]:
    """The details of some steps: whole where all of them together are short, else the beginning of each."""
    whole = sum(len(moment.detail) for moment in moments) <= WHOLE
    return [moment.detail if whole else cut(moment.detail, width) for moment in moments]


def sizes(case: Case) -> tuple[int, int]:
    """How many steps a case has, and how many property values they give."""
    return len(case.steps), sum(_leaves(step) for step in case.steps)


def _told(step: Step) -> list[tuple[str, str, str, str | None]]:
    """Name, action, detail and method of what a step does."""
    match step:
        case Call():
            return [(step.name, _action(step), compact(_value(step.properties)), step.verb.method)]
        case Request():
            return [(step.name, step.method, compact(_value(step.params)), step.method)]
        case Notify():
            return [(step.name, f"notify {step.method}", compact(_value(step.params)), None)]
        case Raw():
            return [(step.name, "raw bytes", repr(step.data)[2:-1], None)]
        case Parallel():
            return [
                (call.name, f"at once: {_action(call)}", compact(_value(call.properties)), call.verb.method)
                for call in step.calls
            ]
        case Restart():
            return [(step.name, f"restart ({step.how})", "", None)]
        case Drop():
            call = step.call
            return [(call.name, f"{_action(call)}, link dropped", compact(_value(call.properties)), None)]
        case Wait():
            return [(step.name, f"wait {step.seconds:g} s", "", None)]
        case ProbeStep():
            return [(step.name, f"probe {step.verb}", compact(_value(step.identifiers)), None)]


def _action(call: Call) -> str:
    words = [call.verb.wire]
    if call.cancel_after is not None:
        words.append(f"cancelled after {call.cancel_after:g} s")
    if call.connection != "main":
        words.append(f"by client {call.connection}")
    return ", ".join(words)


def _value(value: object) -> Json:
    return f"{_OPEN}answer of {value.step}: {value.path}{_CLOSE}" if isinstance(value, Answered) else value


def _worded(value: Json) -> Json:
    if isinstance(value, dict):
        if set(value) == {"$unknown"}:
            return f"{_OPEN}unknown{_CLOSE}"
        return {key: _worded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_worded(item) for item in value]
    return value


def _leaves(value: object) -> int:
    match value:
        case Call():
            return _leaves(value.properties)
        case Parallel():
            return sum(_leaves(call) for call in value.calls)
        case Drop():
            return _leaves(value.call)
        case dict():
            return sum(_leaves(item) for item in value.values()) if set(value) != {"$unknown"} else 1
        case list():
            return sum(_leaves(item) for item in value)
        case str() | int() | float() | bool():
            return 1
        case _:
            return 0


def _take(frames: list[Frame], method: str | None) -> Frame | None:
    if method is None:
        return None
    for index, frame in enumerate(frames):
        if frame.method == method:
            del frames[: index + 1]
            return frame
    return None


def _messages(text: str) -> list[JsonObject]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [item for item in (found if isinstance(found, list) else [found]) if isinstance(item, dict)]


def _key(entry: Entry, message: JsonObject) -> str:
    return f"{entry.connection} {json.dumps(message['id'])}"
