"""The one place where a handler's exception becomes what the host is told (P-ERROR-*)."""

import os
import re
from collections.abc import Iterator
from types import TracebackType

from extensor.authoring import log
from extensor.contract.codes import ErrorCode
from extensor.contract.faults import ContractViolation, Failure, Fault
from extensor.contract.json import JsonObject
from extensor.contract.redaction import Redactor
from extensor.contract.unknown import Unknown, UnknownValueError
from extensor.errors import OperationFailed

_SAYS_UNKNOWN = re.compile(r"\bUnknown\b")


class HandlerBug(Exception):
    """A handler answered what its type does not allow. The host learns only that there was an internal error."""


def failure_of(
    error: BaseException,
    *,
    title: str,
    redactor: Redactor,
    unknowns: tuple[Unknown, ...] = (),
    resource: JsonObject | None = None,
) -> Failure:
    """The failure that an exception stands for, masked; what is no answer is logged in full and told without detail.

    `title` names the call in the log. `unknowns` are the values that a preview's request held. `resource` is what
    exists after a half-failed save, unless the exception says itself.
    """
    failure = _declared(error) or _needs_unknown(error, unknowns) or _internal(error, title, redactor)
    return Failure(
        tuple(Fault(fault.code, redactor.text(fault.message), fault.path) for fault in failure.faults),
        failure.transient,
        failure.retry_after_seconds,
        redactor.data(failure.resource or resource),
        failure.correlation_id,
    )


def _declared(error: BaseException) -> Failure | None:
    """What the handler said on purpose, also from inside task groups."""
    leaves = list(_leaves(error))
    failures: list[Failure] = []
    for leaf in leaves:
        if isinstance(leaf, OperationFailed):
            failures.append(leaf.failure)
        elif isinstance(leaf, ContractViolation) and leaf.faults:
            failures.append(Failure(leaf.faults))
        else:
            return None
    if len(failures) == 1:
        return failures[0]
    retries = [failure.retry_after_seconds for failure in failures if failure.retry_after_seconds is not None]
    return Failure(
        tuple(fault for failure in failures for fault in failure.faults),
        all(failure.transient for failure in failures),
        max(retries, default=None),
        next((failure.resource for failure in failures if failure.resource), None),
    )


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _needs_unknown(error: BaseException, unknowns: tuple[Unknown, ...]) -> Failure | None:
    """A preview whose code needed a value that is not known yet."""
    if not unknowns:
        return None
    for leaf in _leaves(error):
        for cause in _causes(leaf):
            if isinstance(cause, UnknownValueError):
                path = cause.path or unknowns[0].path
            elif isinstance(cause, TypeError | ValueError) and _SAYS_UNKNOWN.search(str(cause)):
                found = _unknown_in(cause.__traceback__)
                path = unknowns[0].path if found is None else found.path
            else:
                continue
            message = "cannot be previewed: its value is not known until the deployment runs, and the preview needs it"
            return Failure((Fault(ErrorCode.PREVIEW_NOT_SUPPORTED, message, path),))
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _unknown_in(traceback: TracebackType | None) -> Unknown | None:
    """The unknown that the innermost code was handed, as by ``json.dumps``, which does not ask it anything."""
    found: Unknown | None = None
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            if type(value) is Unknown:
                found = value
        traceback = traceback.tb_next
    return found


def _internal(error: BaseException, title: str, redactor: Redactor) -> Failure:
    correlation = os.urandom(8).hex()
    if isinstance(error, HandlerBug):
        detail = str(error)
    else:
        import traceback

        detail = "".join(traceback.format_exception(error)).rstrip()
    log.write("error", redactor.text(f"[{correlation}] {title} failed unexpectedly: {detail}"))
    message = f"the provider failed unexpectedly; its log has the details under {correlation}"
    return Failure((Fault(ErrorCode.INTERNAL_ERROR, message),), correlation_id=correlation)
