"""Whether what was deleted is gone: a `get` for each object, since a delete may be answered and remove nothing."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from extensor.contract import ErrorCode, Verb
from extensor.errors import ConnectionFailed, StartFailed
from extensor_conformance.answers import LOG_FOLLOWS, ConnectionEnded, NoAnswer
from extensor_conformance.kind import find_kind
from extensor_conformance.ledger import Made
from extensor_conformance.verdicts import Failed

if TYPE_CHECKING:
    from extensor_conformance.bench import Bench

STILL_THERE = "its delete is answered with success, and get still finds it"
IN_VAIN = 3
"""So many looks in a row without an answer mean that nobody can look any more."""


def first_line(error: BaseException) -> str:
    """What an exception says without the provider's log, which may follow."""
    return (str(error).partition(LOG_FOLLOWS)[0].splitlines() or [type(error).__name__])[0]


class Sight(StrEnum):
    """What a look at an object shows after its delete."""

    GONE = "gone"
    THERE = "there"
    UNKNOWN = "deleted, not verified"


def look(bench: "Bench", made: Made) -> tuple[Sight, str]:
    """What `get` says of an object whose delete was answered with success, and why it says no more.

    Waits for what is left of the type's consistency window, as long as the run has time.
    """
    kind = find_kind(bench.watch.kinds, made.type)
    if kind is None or not kind.has(Verb.GET):
        return Sight.UNKNOWN, "its type has no get"
    try:
        answer = bench.call(Verb.GET, made.identifiers, kind=kind, config_id=made.config_id)
    except (NoAnswer, ConnectionEnded, StartFailed, ConnectionFailed, Failed) as error:
        bench.renew()
        return Sight.UNKNOWN, f"get is not answered: {first_line(error)}"
    if answer.has_code(ErrorCode.RESOURCE_NOT_FOUND):
        return Sight.GONE, ""
    if answer.ok and not answer.properties:
        return Sight.GONE, ""  # said in a wrong way, which is for the checks to tell
    if answer.error is not None:
        return Sight.UNKNOWN, f"get is refused: {answer.error}"
    if bench.patience.left(kind, made.identifiers) > 0:
        return Sight.UNKNOWN, "the run was over before its consistency window"
    return Sight.THERE, STILL_THERE


class Inspection:
    """Looks at many objects, and stops asking a provider that no longer answers."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench
        self._vain = 0

    def of(self, made: Made) -> tuple[Sight, str]:
        """See `look`."""
        if self._vain >= IN_VAIN:
            return Sight.UNKNOWN, "get is not answered"
        seen, why = look(self._bench, made)
        self._vain = self._vain + 1 if why.startswith("get is not answered") else 0
        return seen, why


def inspect(bench: "Bench", doubtful: Sequence[Made]) -> list[tuple[Made, str]]:
    """Look at what was deleted, delete once more what is there, and return what stays, with the reason.

    The ledger learns of each: what is gone, what nobody can see, what is still there.
    """
    inspection = Inspection(bench)

    def stays(made: Made) -> bool:
        seen, why = inspection.of(made)
        if seen is not Sight.THERE:
            bench.tracker.settled(made, None if seen is Sight.GONE else why)
        return seen is Sight.THERE

    there = [made for made in doubtful if stays(made)]
    refused = {made.key: reason for made in there if (reason := bench.remove(made)) is not None}
    left: list[tuple[Made, str]] = []
    for made in there:
        if stays(made):
            bench.tracker.survived(made)
            left.append((replace(made, certain=True, deleted=False), refused.get(made.key, STILL_THERE)))
    return left
