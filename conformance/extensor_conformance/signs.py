"""Whether two failures are the same one, seen in a case and in a smaller one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from extensor_conformance.verdicts import Problem

_CODE = re.compile(r"\b(?:[A-Z][a-z]+){2,}\b")
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|\d+")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Sign:
    """What makes a problem the one it is, however its case was changed."""

    step: str | None
    words: str
    """What the kit says, without values and without the provider's own words."""
    codes: frozenset[str]
    """Of the refusals that it tells of."""
    paths: frozenset[str | None]
    """Where it is seen: its path, and those of its rows."""


def signs_of(problems: Iterable[Problem]) -> frozenset[Sign]:
    """The signs of problems."""
    return frozenset(map(_sign, problems))


def same_failure(found: Iterable[Problem], first: frozenset[Sign]) -> bool:
    """Whether there are problems, and each is one of the first ones, seen at no place where that one was not."""
    signs = signs_of(found)
    return bool(signs) and all(any(_covers(one, sign) for one in first) for sign in signs)


def without_indexes(path: str | None) -> str | None:
    """A path in which any index stands for all."""
    return _INDEX.sub("[*]", path) if path is not None else None


def _covers(one: Sign, other: Sign) -> bool:
    return (one.step, one.words, one.codes) == (other.step, other.words, other.codes) and one.paths >= other.paths


def _sign(problem: Problem) -> Sign:
    words, _, told = problem.message.partition(": ")
    paths = (problem.path, *(row.path for row in problem.rows))
    return Sign(
        problem.step,
        _VALUE.sub("*", words),
        frozenset(_CODE.findall(told)),
        frozenset(map(without_indexes, paths)),
    )
