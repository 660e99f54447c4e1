"""How a check is written: plan and judge for what is sent by case, a procedure for what is done by hand."""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from extensor.contract import Verb
from extensor_conformance.adapters.base import Feature
from extensor_conformance.case import Trial
from extensor_conformance.steps import Plan
from extensor_conformance.verdicts import Problem

if TYPE_CHECKING:
    from extensor_conformance.bench import Bench
    from extensor_conformance.draw import Draw
    from extensor_conformance.kind import Kind
    from extensor_conformance.provider import Provider


@dataclass(frozen=True, slots=True)
class Needs:
    """What has to be there for a check to run."""

    operations: frozenset[Verb] = frozenset()
    """Verbs that the type must have; a type without them is passed over as NOT-APPLICABLE."""
    features: frozenset[Feature] = frozenset()
    """What the wire must be able to express; else NOT-APPLICABLE."""
    process: bool = False
    """The kit must have started the provider; else NOT-TESTED."""
    probe: bool = False
    """`--probe` must be given; else NOT-TESTED."""
    faults: tuple[str, ...] = ()
    """Kinds of faults that must be on offer; else NOT-TESTED."""
    kill: bool = False
    """`--allow-kill` must be given; else NOT-TESTED."""
    config: bool = False
    """The provider must have a configuration type; else NOT-APPLICABLE."""
    solo: bool = False
    """Its process is not shared with other cases: the check gets a new one and it is ended after it."""
    alone: bool = False
    """It measures time: it is run at the end, when no other worker has anything to do."""


class CaseCheck(ABC):
    """Plans cases from generated inputs and judges what came of each. Never sends anything itself."""

    id: ClassVar[str]
    needs: ClassVar[Needs]
    examples: ClassVar[int | None]
    scope: ClassVar[str] = "type"

    @abstractmethod
    def plan(self, draw: "Draw", kind: "Kind") -> Iterable[Plan]:
        """The cases of one example, usually one; none when the type has nothing to check.

        Choices come from `draw` alone. Names of steps are unique in a plan.
        """

    @abstractmethod
    def judge(self, trial: Trial, kind: "Kind") -> list[Problem]:
        """What is wrong, empty when all is well.

        Must work for a plan from which steps or properties were dropped: look steps up by `trial[name]` and
        `trial.result(name)`, which raise what ends the case when they are missing.
        """

    def conclude(self, cases: int, facts: dict[str, float]) -> list[Problem]:
        """After all cases, when none had a problem: what is wrong with the whole.

        `facts` are the sums of what `judge` noted with `Trial.note`; they are in the report too.
        """
        del cases, facts
        return []


class Procedure(ABC):
    """Does by hand what steps cannot say: raw frames, processes, timing."""

    id: ClassVar[str]
    needs: ClassVar[Needs]
    examples: ClassVar[int | None]
    scope: ClassVar[str]

    @abstractmethod
    def execute(self, bench: "Bench") -> list[Problem]:
        """What is wrong. `bench.kind` is the type under test, when the check's scope is ``"type"``.

        `NoAnswer` and `ConnectionEnded` that it lets out count as FAIL with their text; `NotTested` and `NotApplicable`
        end it so; anything else is an ERROR of the kit.
        """


class Passive:
    """Judged by a monitor over all cases of the run; here only to say what it needs."""

    id: ClassVar[str]
    needs: ClassVar[Needs]
    examples: ClassVar[int | None]
    scope: ClassVar[str]

    def moot(self, provider: "Provider") -> str | None:
        """Why the rule cannot apply to this provider, which makes it NOT-APPLICABLE; else ``None``."""
        del provider
        return None


Check: TypeAlias = CaseCheck | Procedure | Passive
C = TypeVar("C", bound=Check)


def check(
    id: str,  # noqa: A002
    *,
    operations: Iterable[Verb] = (),
    features: Iterable[Feature] = (),
    process: bool = False,
    probe: bool = False,
    faults: Iterable[str] = (),
    kill: bool = False,
    config: bool = False,
    solo: bool = False,
    alone: bool = False,
    examples: int | None = None,
    scope: str | None = None,
) -> "Callable[[type[C]], type[C]]":
    """Say which requirement a check class is for and what it needs; see `Needs`.

    `examples`: how many examples it draws for a type at most, the run's ``--max-examples`` when ``None``.
    `scope`: ``"type"`` (run for each type) or ``"provider"`` (run once); a `CaseCheck` is always by type, a
    `Procedure` and a `Passive` are for the provider unless said otherwise.
    """
    needs = Needs(
        frozenset(operations),
        frozenset(features),
        process or kill,
        probe,
        tuple(faults),
        kill,
        config,
        solo,
        alone,
    )

    def mark(cls: type[C]) -> type[C]:
        cls.id = id
        cls.needs = needs
        cls.examples = examples
        cls.scope = scope or ("type" if issubclass(cls, CaseCheck) else "provider")
        return cls

    return mark


def load_checks() -> dict[str, Check]:
    """One instance of every check in the modules of `extensor_conformance.checks`, by id, in the order of the ids.

    A check that drives wins over a passive one of the same id. Raises `ValueError` when two that drive claim one id.
    """
    import extensor_conformance.checks as package

    found: dict[str, Check] = {}
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for item in vars(module).values():
            if isinstance(item, type) and "id" in vars(item) and item.__module__ == module.__name__:
                made = item()
                if not isinstance(made, CaseCheck | Procedure | Passive):
                    continue
                known = found.get(made.id)
                if known is not None and isinstance(made, Passive):
                    continue
                if known is not None and not isinstance(known, Passive):
                    raise ValueError(f"two checks claim {made.id}: {type(found[made.id]).__name__}, {item.__name__}")
                found[made.id] = made
    return dict(sorted(found.items()))
