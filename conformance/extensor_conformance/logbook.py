"""What the provider's log says about a failure that its answer only names: the lines around it, found by their id."""

import re
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from extensor_conformance.answers import LOG_FOLLOWS, Answer
from extensor_conformance.verdicts import Outcome, Problem, Verdict

LOG, LOG_AT = "log", "logAt"
"""Facts of an outcome: lines of the log; the check under which the same ones are told."""
KEPT = 256 * 1024
"""Characters of the log that are remembered."""
LINES = 20
"""Of the log that are told of one failure."""
_ID = re.compile(r"\b[0-9a-f]{16}\b")
_UNEXPECTED = re.compile(r"InternalError|-32603")
_FRAME = re.compile(r'File "[^"]*", line \d+')
_REFUSED = re.compile(r"^.{1,80}?\b(?:was|is) refused: (?=error )", re.DOTALL)
_VARYING = re.compile(r"(?i)\b[a-z][a-z0-9]{8}\b|[0-9a-f]*\d[0-9a-f]*|'[^']*'|\"[^\"]*\"")
"""Words that differ from one time to the next: names that the kit makes up, numbers, what stands in quotes."""
_ORDER = (Verdict.FAIL, Verdict.FLAKY, Verdict.WARN)


class LogBook:
    """The end of the log of one worker's providers. Thread-safe."""

    def __init__(self) -> None:
        self._chunks: deque[str] = deque()
        self._size = 0
        self._case: deque[str] = deque(maxlen=200)
        self._marked = ""
        self._open = False
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A new case begins."""
        with self._lock:
            self._case.clear()
            self._open = False

    def add(self, data: bytes) -> None:
        """Something came on stderr."""
        text = data.decode("utf-8", "replace")
        with self._lock:
            self._chunks.append(text)
            self._case.append(text)
            self._size += len(text)
            while self._size > KEPT and len(self._chunks) > 1:
                self._size -= len(self._chunks.popleft())
            if self._open:
                self._marked = _tail("".join(self._case))

    def answered(self, answer: Answer) -> None:
        """An answer came; when it is a failure that nobody expected, what its case has logged until now tells why."""
        if answer.error is None or not _UNEXPECTED.search(str(answer.error)):
            return
        with self._lock:
            self._marked = _tail("".join(self._case))
            self._open = not self._marked  # what is logged a moment later is about it

    def excerpt(self, text: str) -> str | None:
        """The lines about the failure that a text speaks of; ``None`` for a text that speaks of none."""
        ids = _ID.findall(text)
        with self._lock:
            lines = "".join(self._chunks).splitlines() if ids else []
            for one in ids:
                for number, line in enumerate(lines):
                    if one in line:
                        return _entry(lines[number : number + KEPT])
            return (self._marked or None) if _UNEXPECTED.search(text) else None


def explained(outcome: Outcome, book: LogBook) -> Outcome:
    """An outcome with the lines of the log that tell why, as its fact `log`, and without them in its sentences."""
    texts = [problem.message for problem in outcome.problems] + ([outcome.reason] if outcome.reason else [])
    if outcome.verdict is Verdict.ERROR or not texts:
        return outcome
    log = next((text.partition(LOG_FOLLOWS)[2] for text in texts if LOG_FOLLOWS in text), "")
    log = _tail(log) or next((found for text in texts if (found := book.excerpt(text))), "")
    if not log:
        return outcome
    problems = tuple(_without_log(problem) for problem in outcome.problems)
    reason = outcome.reason.partition(LOG_FOLLOWS)[0] if outcome.reason else outcome.reason
    return replace(outcome, problems=problems, reason=reason, facts={**outcome.facts, LOG: log})


def told_once(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes in their order; of those with the same failure in their log one keeps it, the gravest and first."""
    first: dict[str, Outcome] = {}
    gravity = sorted(outcomes, key=lambda one: _ORDER.index(one.verdict) if one.verdict in _ORDER else len(_ORDER))
    for outcome in gravity:
        if LOG in outcome.facts:
            first.setdefault(_sign(str(outcome.facts[LOG])), outcome)
    made: list[Outcome] = []
    for outcome in outcomes:
        keeper = first.get(_sign(str(outcome.facts[LOG]))) if LOG in outcome.facts else None
        if keeper is None or keeper is outcome:
            made.append(outcome)
            continue
        facts = {name: value for name, value in outcome.facts.items() if name != LOG}
        made.append(replace(outcome, facts={**facts, LOG_AT: keeper.check}))
    return made


def folded(reason: str) -> str:
    """A reason without what differs from one time to the next: ids of the log, and the step that met a failure."""
    if not _ID.search(reason):
        return reason
    return _ID.sub("…", _REFUSED.sub("a call was refused: ", reason))


def log_lines(outcome: Outcome) -> list[str]:
    """The lines of the log to tell with an outcome, or where they are told."""
    if LOG in outcome.facts:
        return str(outcome.facts[LOG]).splitlines()
    return [f"as under {outcome.facts[LOG_AT]}"] if LOG_AT in outcome.facts else []


def _without_log(problem: Problem) -> Problem:
    return replace(problem, message=problem.message.partition(LOG_FOLLOWS)[0])


def _entry(lines: Sequence[str]) -> str:
    """The first line's entry: up to the next line that tells an id of its own."""
    end = next((number for number, line in enumerate(lines) if number and _ID.search(line)), len(lines))
    entry = list(lines[:end])
    if len(entry) > LINES:
        entry = [*entry[:2], "…", *entry[3 - LINES :]]
    return "\n".join(entry)


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-LINES:])


def _sign(log: str) -> str:
    """Equal for the same failure: where it came from and what kind it is, else all but the words that differ."""
    frames = _FRAME.findall(log)
    if frames:
        kind = log.splitlines()[-1].removeprefix("error: ").partition(":")[0]
        return "\n".join([*frames, kind])
    return "\n".join(dict.fromkeys(_VARYING.sub("", line) for line in log.splitlines()))
