"""One case of a check, and what was seen when it was played."""

import base64
import hashlib
import json
from dataclasses import dataclass, field, replace

from extensor.contract import JsonObject
from extensor_conformance.answers import Answer
from extensor_conformance.names import Names, renamed
from extensor_conformance.steps import Plan, Step, step_from_json, step_to_json
from extensor_conformance.verdicts import Failed, NotTested, Problem

GENERATION = 2
"""Part of every case's seed: raised when the same seed no longer gives the same inputs."""


def seed_of(*parts: object) -> int:
    """A seed of 64 bits from anything that has a stable text."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def id_of(seed: int, index: int) -> str:
    """A short id for people, such as ``k7m2q``."""
    digest = hashlib.sha256(f"{seed}:{index}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:6]


@dataclass(frozen=True, slots=True)
class Case:
    """A plan with its place in the run."""

    id: str
    check: str
    type: str | None
    index: int
    seed: int
    plan: Plan = Plan(())  # noqa: RUF009 - frozen
    names: tuple[str, ...] = ()
    """The tokens in it, which a rerun replaces."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The plan's steps; none for a procedural check."""
        return self.plan.steps

    @property
    def procedural(self) -> bool:
        """Whether the check plays it itself, from its seed."""
        return not self.plan.steps

    def with_plan(self, plan: Plan) -> "Case":
        """The same with another plan."""
        return replace(self, plan=plan)

    def fresh(self, names: Names) -> "Case":
        """The same with new names, related to each other as the old ones were."""
        if not self.names:
            return self
        mapping = [(old, names.like(old)) for old in self.names]
        data = json.loads(renamed(json.dumps(self.to_json(), ensure_ascii=False), mapping))
        return replace(Case.from_json(data), id=self.id, check=self.check, type=self.type)

    def to_json(self) -> JsonObject:
        """As in a case file."""
        return {
            "id": self.id,
            "check": self.check,
            "type": self.type,
            "index": self.index,
            "seed": self.seed,
            "note": self.plan.note,
            "names": list(self.names),
            "steps": [step_to_json(step) for step in self.plan.steps],
            "expect": self.plan.expect,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "Case":
        """Read back what `to_json` wrote. Raises `ValueError` or `LookupError` for what is no case."""
        return cls(
            data["id"],
            data["check"],
            data["type"],
            data["index"],
            data["seed"],
            Plan(tuple(step_from_json(step) for step in data["steps"]), data["expect"], data["note"]),
            tuple(data["names"]),
        )


class NotPlayed(NotTested):
    """The judge asks for a step that is not in the case, or was not reached."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one step."""

    step: Step
    answer: Answer | None = None
    broken: str | None = None
    """Why there is no answer: not within the bound, or the connection ended."""
    sent: JsonObject | None = None
    """A call's properties as they were sent."""
    dropped: bool = False
    """The plan itself broke the link, so that no answer was to be expected."""


@dataclass(slots=True)
class Trial:
    """A case and what was seen when it was played, by the names of its steps."""

    case: Case
    seen: dict[str, Seen] = field(default_factory=dict[str, Seen])
    facts: dict[str, float] = field(default_factory=dict[str, float])
    """What `note` gathered."""
    silent: bool = False
    """A call was not answered within its bound, and the steps after it were not played."""

    def note(self, name: str, value: float = 1.0) -> None:
        """Add to a number that the check looks at after all cases (`CaseCheck.conclude`) and the report shows."""
        self.facts[name] = self.facts.get(name, 0.0) + value

    @property
    def expect(self) -> JsonObject:
        """The plan's data for the judge."""
        return self.case.plan.expect

    def __contains__(self, step: str) -> bool:
        return step in self.seen

    def __getitem__(self, step: str) -> Answer:
        """The answer of a step, a result or an error.

        Raises `NotPlayed` when the case has no such step (any more), and `Failed` when there was no answer.
        """
        seen = self.seen.get(step)
        if seen is None:
            raise NotPlayed(f"step {step} was not played")
        if seen.answer is None:
            raise Failed(Problem(seen.broken or "there was no answer", step=step))
        return seen.answer

    def result(self, step: str) -> Answer:
        """The answer of a step that has to succeed for the check to mean anything: a control.

        Raises `NotTested` when it is an error.
        """
        answer = self[step]
        if answer.error is not None:
            raise NotTested(f"{step} was refused: {answer.error}")
        return answer

    def sent(self, step: str) -> JsonObject:
        """The properties of a call as they were sent."""
        seen = self.seen.get(step)
        if seen is None or seen.sent is None:
            raise NotPlayed(f"step {step} was not played")
        return seen.sent

    def answers(self, prefix: str) -> list[Answer]:
        """The answers of all steps whose names begin so, in the order of the plan."""
        return [self[name] for name in self.seen if name.startswith(prefix)]

    def broken(self) -> list[tuple[str, str]]:
        """Names of the steps without an answer that should have one, and why."""
        return [(name, seen.broken) for name, seen in self.seen.items() if seen.broken is not None and not seen.dropped]
