"""One call of a verb, told as events, its failure told as data."""

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from extensor.contract import (
    CallContext,
    ErrorCode,
    Fault,
    Import,
    JsonObject,
    ResourceData,
    ResourceResult,
    Verb,
    encode_unknowns,
)
from extensor.contract.redaction import Redactor
from extensor.engine.events import (
    OnEvent,
    OperationFailed,
    OperationRetried,
    OperationStarted,
    OperationSucceeded,
    ResourceRef,
)
from extensor.engine.identity import same_resource
from extensor.engine.outlet import safe_code, safe_fault
from extensor.engine.pauses import Interrupted, Pause, Pauses
from extensor.engine.sessions import Session
from extensor.errors import CallTimedOut, ConnectionLost, DeadlineExceeded, ExtensorError, ProtocolViolation
from extensor.errors import OperationFailed as OperationFailedError
from extensor.hosting.notices import RetryNotice

REFUSALS = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_PROPERTY,
        ErrorCode.MISSING_PROPERTY,
        ErrorCode.UNKNOWN_PROPERTY,
        ErrorCode.READ_ONLY_PROPERTY,
        ErrorCode.IMMUTABLE_PROPERTY,
        ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED,
        ErrorCode.UNKNOWN_RESOURCE_TYPE,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.OPERATION_NOT_SUPPORTED,
        ErrorCode.RESOURCE_NOT_FOUND,
        ErrorCode.CONFLICT,
        ErrorCode.CONFIG_MISMATCH,
        ErrorCode.UNAUTHORIZED,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.THROTTLED,
        ErrorCode.PREVIEW_NOT_SUPPORTED,
    }
)
"""Failures that say that nothing was done, unless they carry a resource."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that failed for good.

    `unclear`: it may have taken effect. `refused`: it surely did not. `resource` is what exists nevertheless, as the
    provider says: ``{"identifiers": {…}}``.
    """

    faults: tuple[Fault, ...]
    code: str
    unclear: bool = False
    refused: bool = False
    resource: JsonObject | None = None


class Caller:
    """Calls verbs for one run. Everything it tells is free of secrets."""

    def __init__(self, deployment_id: str, budget: float | None, on_event: OnEvent, redactor: Redactor) -> None:
        self._deployment_id = deployment_id
        self._budget = budget
        self._on_event = on_event
        self._redactor = redactor
        self.pauses = Pauses()
        self._count = 0
        self._prefix = uuid.uuid4().hex[:8]

    async def call(
        self,
        session: Session,
        verb: Verb,
        imported: Import,
        resource: ResourceRef,
        properties: JsonObject,
        *,
        expected: Callable[[Failed], bool] | None = None,
    ) -> ResourceResult | Failed:
        """The provider's answer, or why there is none. A failure that was `expected` is told as an answer.

        When the calling task is canceled, the event says so and the cancellation goes on.
        """
        self._count += 1
        data = ResourceData(
            imported,
            resource.type,
            properties,
            CallContext(
                request_id=f"{self._prefix}-{self._count}",
                deployment_id=self._deployment_id,
                symbolic_name=resource.symbolic_name,
            ),
        )

        pause = self.pauses.enter()
        started = time.monotonic()

        def retried(notice: RetryNotice) -> None:
            pause.begin(notice)
            if self.pauses.stopping:
                raise Interrupted("the run was stopped")
            reason = self._redactor.text(f"{notice.code}: {notice.message}")
            left = None if self._budget is None else max(0.0, self._budget - (time.monotonic() - started))
            self._on_event(OperationRetried(resource, notice.verb, notice.attempt, notice.delay, reason, left))

        self._on_event(OperationStarted(resource, verb))
        result: ResourceResult | None = None
        failed: Failed | None = None
        try:
            with pause.scope:
                result = await session.perform(verb, data, budget=self._budget, on_retry=retried)
        except Interrupted:
            pass
        except ExtensorError as error:
            failed = self.failed(error, verb)
        except anyio.get_cancelled_exc_class():
            self._on_event(
                OperationFailed(resource, verb, time.monotonic() - started, (canceled(verb),), unclear=verb.mutates)
            )
            raise
        finally:
            self.pauses.leave(pause)
        seconds = time.monotonic() - started
        if result is not None and not same_resource(resource.identifiers, result.identifiers):
            failed = self._mistaken(session, verb, resource, result)
        elif result is None and failed is None:
            failed = self._interrupted(pause, verb)
        if failed is not None:
            if expected is not None and expected(failed):
                self._on_event(OperationSucceeded(resource, verb, seconds, was_absent=is_absent(failed)))
            else:
                self._on_event(OperationFailed(resource, verb, seconds, failed.faults, failed.unclear))
            return failed
        assert result is not None
        told = resource.identifiers if verb is Verb.DELETE else result.identifiers or resource.identifiers
        known = ResourceRef(resource.symbolic_name, resource.type, told)
        self._on_event(OperationSucceeded(known, verb, seconds))
        return result

    def _mistaken(self, session: Session, verb: Verb, resource: ResourceRef, result: ResourceResult) -> Failed:
        """An answer about another resource than the one that was asked for (P-RESULT-02)."""
        asked, answered = (
            json.dumps(encode_unknowns(identifiers), ensure_ascii=False)
            for identifiers in (resource.identifiers, result.identifiers)
        )
        message = (
            f"provider {session.name} was asked for {asked} and answered {verb.method} with the identifiers "
            f"{answered}; every answer about a resource has its identifiers"
        )
        return Failed((Fault("ProtocolViolation", self._redactor.text(message)),), "ProtocolViolation", verb.mutates)

    def _interrupted(self, pause: Pause, verb: Verb) -> Failed:
        """What a call ends with that was stopped between two tries: its last answer, and that no other followed."""
        notice = pause.notice
        last = f"{notice.code}: {notice.message}" if notice is not None else "no try ended"
        unclear = pause.unclear and verb.mutates
        tail = "; it may have taken effect, and the next run finds out" if unclear else ""
        message = f"the run was stopped before the next try; the last one failed with {last}{tail}"
        return Failed((Fault(ErrorCode.CANCELED, self._redactor.text(message)),), ErrorCode.CANCELED, unclear)

    def failed(self, error: ExtensorError, verb: Verb = Verb.GET) -> Failed:
        """An exception as data, without secrets."""
        if isinstance(error, OperationFailedError):
            failure = error.failure
            said = str(error)
            faults = tuple(safe_fault(fault, self._redactor) for fault in failure.faults)
            if said and said != failure.message:  # the session adds what it found out about an unclear save
                faults = (*faults, Fault(safe_code(failure.code, self._redactor), self._redactor.text(said)))
            unclear = verb.mutates and isinstance(error, DeadlineExceeded)
            refused = failure.resource is None and failure.code in REFUSALS
            return Failed(faults, safe_code(failure.code, self._redactor), unclear, refused, failure.resource)
        code = type(error).__name__
        unclear = verb.mutates and isinstance(error, ConnectionLost | CallTimedOut | ProtocolViolation)
        return Failed((Fault(code, self._redactor.text(str(error))),), code, unclear)


def is_absent(failed: Failed) -> bool:
    """Whether a failure says that the resource is not there."""
    return failed.code == ErrorCode.RESOURCE_NOT_FOUND


def canceled(verb: Verb) -> Fault:
    """What is told of a call that was taken back."""
    tail = "; it may have taken effect, and the next run finds out" if verb.mutates else ""
    return Fault(ErrorCode.CANCELED, f"the run was stopped before the provider answered{tail}")
