"""The one place where a handler's exception becomes what the host is told (P-ERROR-*)."""

import os
import re
from collections.abc import Iterator
from types import TracebackType

from extensor.authoring import log
from extensor.contract.codes import ErrorCode
from extensor.contract.faults import ContractViolation, Failure, Fault
from extensor.contract.json import JsonObject
from extensor.contract.paths import format_path, parse_path
from extensor.contract.redaction import Redactor
from extensor.contract.unknown import Unknown, UnknownValueError
from extensor.errors import OperationFailed

_OURS = __file__.removesuffix("authoring/boundary.py")
_CODE = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
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
        tuple(_told(fault, title, redactor) for fault in failure.faults),
        failure.transient,
        failure.retry_after_seconds,
        redactor.data(failure.resource or resource),
        failure.correlation_id,
    )


def _told(fault: Fault, title: str, redactor: Redactor) -> Fault:
    path = None if fault.path is None else _masked(fault.path, redactor)
    return Fault(_word(fault.code, title, redactor), redactor.text(fault.message), path)


def _masked(path: str, redactor: Redactor) -> str:
    """A path without the secrets that its names may hold; ``$`` where it cannot be read."""
    if redactor.text(path) == path:
        return path
    try:
        parts = parse_path(path)
    except ValueError:
        return "$"
    return format_path(tuple(redactor.text(part) if isinstance(part, str) else part for part in parts))


def _word(code: str, title: str, redactor: Redactor) -> str:
    """A handler's code as the contract spells codes (P-ERROR-03); what comes near is respelled, and told in the log."""
    code = redactor.text(str(code))
    if _CODE.fullmatch(code):
        return code
    words = "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", code))
    made = words if _CODE.fullmatch(words) else str(ErrorCode.INTERNAL_ERROR)
    log.write("warning", f"{title} failed with the code {code!r}; codes are PascalCase, so the host is told {made}")
    return made


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
    return Failure.together(failures)


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
            message = f"the preview needs the value of {named(path)}, which is not known until the deployment runs"
            return Failure((Fault(ErrorCode.PREVIEW_NOT_SUPPORTED, message, path),))
    return None


def named(path: str | None) -> str:
    """A property as an author or a template's writer calls it, from its path on the wire."""
    if path is None:
        return "a property"
    for start, words in (("$.properties.", ""), ("$.properties", "properties"), ("$.import.config.", "configuration ")):
        if path.startswith(start):
            return words + path.removeprefix(start)
    return path


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
    detail = str(error) if isinstance(error, HandlerBug) else traceback_of(error)
    log.write("error", redactor.text(f"[{correlation}] {title} failed unexpectedly: {detail}"))
    message = f"the provider failed unexpectedly; its log has the details under {correlation}"
    return Failure((Fault(ErrorCode.INTERNAL_ERROR, message),), correlation_id=correlation)


def traceback_of(error: BaseException) -> str:
    """An exception with its traceback, which begins at the author's code: the calls of ours before it are left out."""
    import traceback

    told = traceback.TracebackException.from_exception(error)
    waiting = [told]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        own = next((at for at, frame in enumerate(one.stack) if not _is_ours(frame.filename)), 0)
        one.stack = traceback.StackSummary.from_list(one.stack[own:])
        waiting.extend(item for item in (one.__cause__, one.__context__, *(one.exceptions or ())) if item is not None)
    return "".join(told.format()).rstrip()


def _is_ours(filename: str) -> bool:
    return filename.startswith(_OURS)
