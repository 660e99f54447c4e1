"""Whatever stops a command, reported once: as text on stderr or as one document on stdout, and an exit code."""

import os
import sys
import traceback
from collections.abc import Iterable

from extensor.cli.console import Console, printable
from extensor.cli.exits import Exit
from extensor.cli.trouble import Trouble
from extensor.cli.values import plain_path
from extensor.contract import ErrorCode, Fault, format_path
from extensor.errors import (
    ExtensorError,
    OperationFailed,
    ProviderExited,
    ProviderNotFound,
    StartFailed,
    StateError,
    TemplateError,
)

TRACE_VARIABLE = "EXTENSOR_TRACE"
"""Set it to 1 to see the traceback of a bug in extensor on stderr; a traceback may quote values."""

_CODES: dict[type[ExtensorError], str] = {
    ProviderNotFound: "ProviderNotFound",
    StartFailed: "ProviderStartFailed",
    ProviderExited: "ProviderExited",
    StateError: "StateError",
}


def report(error: BaseException, console: Console, *, output: str) -> Exit:
    """Tell what stopped a command and return the exit code that says so."""
    error = single(error)
    if isinstance(error, KeyboardInterrupt):
        return _tell(
            console, output, "interrupted", (Fault(ErrorCode.CANCELED, "interrupted"),), Exit.INTERRUPTED, "Canceled"
        )
    if isinstance(error, Trouble):
        code = _tell(console, output, error.headline, error.faults, error.code)
        if error.hint and output != "json":
            console.line(error.hint)
        return code
    if isinstance(error, ExtensorError):
        faults = faults_of(error)
        headline = faults[0].message if len(faults) == 1 and not faults[0].path else "it cannot be done"
        return _tell(console, output, headline, faults, Exit.FAILED)
    if os.environ.get(TRACE_VARIABLE) == "1":
        traceback.print_exception(error, file=sys.stderr)
    message = (
        f"a bug in extensor: {type(error).__name__}; set {TRACE_VARIABLE}=1 for the traceback and please report it"
    )
    return _tell(console, output, message, (Fault(ErrorCode.INTERNAL_ERROR, message),), Exit.INTERNAL)


def faults_of(error: ExtensorError) -> tuple[Fault, ...]:
    """An exception's faults, with the code, the place and the text that it carries."""
    if isinstance(error, OperationFailed):
        return error.failure.faults
    if isinstance(error, TemplateError):
        return error.faults
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), type(error).__name__)
    return (Fault(code, str(error)),)


def fault_lines(faults: Iterable[Fault], owner: str | None = None) -> list[str]:
    """One line a fault: ``name: path: message (Code)``; further lines of a message are indented.

    The name is left out where the path, a place in the template, says it already.
    """
    lines: list[str] = []
    for fault in faults:
        where = plain_path(fault.path) if fault.path else ""
        own = owner is not None and where.startswith(plain_path(format_path(("resources", owner))))
        place = ": ".join(part for part in (None if own else owner, where) if part)
        text = f"{f'{place}: ' if place else ''}{fault.message} ({fault.code})"
        lines.append("  " + printable(text).replace("\n", "\n    "))
    return lines


def single(error: BaseException) -> BaseException:
    """The one exception inside groups of one, so that a task group's wrapping is never what people read."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _tell(
    console: Console, output: str, headline: str, faults: tuple[Fault, ...], code: Exit, status: str = "Failed"
) -> Exit:
    if output == "json":
        from extensor.cli.documents import errors_document

        console.document(errors_document(faults or (Fault(ErrorCode.INVALID_REQUEST, headline),), status=status))
        return code
    console.line(f"{console.paint('error:', 'red')} {printable(headline)}")
    if not (len(faults) == 1 and faults[0].message == headline and not faults[0].path):
        for line in fault_lines(faults):
            console.line(line)
    return code
