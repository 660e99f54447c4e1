"""Keeping secrets out of what an evaluation says: of its errors, and of the texts of what is not known yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from extensor.contract.faults import Fault
from extensor.contract.json import Json
from extensor.contract.paths import Path
from extensor.contract.unknown import Unknown
from extensor.errors import TemplateError
from extensor.template.evaluator import Frame, evaluate
from extensor.template.parser import parse
from extensor.template.refusal import Refusal
from extensor.template.secrecy import decoy, placed, veiled

if TYPE_CHECKING:
    from extensor.template.scope import Scope

_T = TypeVar("_T")


class Discretion:
    """Compares what a scope says with what is said where its secrets are not known, or are others."""

    def __init__(self, scope: "Scope") -> None:
        self._scope = scope
        self._has_secrets = any(declared.secure for declared in scope.template.parameters.values())
        self._twin: Scope | None = None
        self.veil: Scope | None = None
        """A scope that knows no secrets at all; without it the secure parameters alone count as secrets."""

    def of(self, work: "Callable[[Scope], _T]") -> _T:
        """What `work` gives in the scope. Its error quotes no value that comes from a secret."""
        scope = self._scope
        try:
            with scope.evaluation():
                return work(scope)
        except TemplateError as error:
            veil = self.veil or (self._secretless() if self._has_secrets else None)
            if scope.is_evaluating or scope.secure_as_unknown or veil is None:
                raise
            told = _faults_of(veil, work)
            if not told.issuperset(error.faults):
                told |= self._faults_of_decoy(veil, work)
            faults = [fault if fault in told else veiled(fault) for fault in error.faults]
        raise TemplateError.many(faults)

    def placed(self, value: Json, text: str, path: Path, frame: Frame) -> Json:
        """The value of an expression with its unknowns placed; what is left of their texts shows no secret."""
        if self._scope.secure_as_unknown or not self._has_secrets:
            return placed(value, value, path)
        twin = self._secretless()
        try:
            with twin.evaluation():
                shadow = evaluate(parse(text), frame.moved(twin))
        except (Refusal, TemplateError):
            shadow = None
        return placed(value, shadow, path)

    def _faults_of_decoy(self, veil: "Scope", work: "Callable[[Scope], object]") -> set[Fault]:
        """What is said of other secrets than the present ones."""
        scope = self._scope
        given = dict(scope.given)
        try:
            for name, parameter in scope.template.parameters.items():
                if parameter.secure:
                    given[name.lower()] = decoy(scope.values.parameter(name))
            other = scope.alike(given, veil.reference)
        except (Refusal, TemplateError):
            return set()
        return _faults_of(other, work)

    def _secretless(self) -> "Scope":
        if self._twin is None:
            scope = self._scope
            given = {
                name: Unknown() if scope.names.parameter(name).secure else value for name, value in scope.given.items()
            }
            self._twin = scope.alike(given, scope.reference, secure_as_unknown=True)
        return self._twin


def _faults_of(scope: "Scope", work: "Callable[[Scope], object]") -> set[Fault]:
    try:
        with scope.evaluation():
            work(scope)
    except TemplateError as error:
        return set(error.faults)
    return set()
