"""ERR-01: every error has the protocol's shape (P-ERROR-01 to P-ERROR-03, P-PATH-01)."""

import re
from collections.abc import Iterator

from pydantic import ValidationError

from extensor.contract import Json, RpcCode, format_path, parse_path
from extensor.contract.models import Failure
from extensor_conformance.answers import ErrorAnswer
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.steps import pick
from extensor_conformance.verdicts import Problem

CHECK = "ERR-01"
_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*\Z")


class ErrorMonitor(Monitor):
    """Checks every error."""

    checks = (CHECK,)

    def __init__(self) -> None:
        self._seen: set[tuple[str, str | None]] = set()

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """See `Monitor.answered`."""
        answer = exchange.answer
        if answer is None or answer.error is None:
            return
        type_ = kind.name if kind is not None else None
        self._seen.add((CHECK, type_))
        for problem in _problems(answer.error, exchange):
            yield Finding(CHECK, type_, problem)

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset(self._seen)


def _problems(error: ErrorAnswer, exchange: Exchange) -> Iterator[Problem]:
    what = exchange.method or "a message"
    if error.code == 0:
        yield Problem(f"the error of {what} has no whole number as its code", "$.error.code")
    if not error.message.strip():
        yield Problem(f"the error of {what} has no message", "$.error.message")
    failed = error.code in (RpcCode.OPERATION_FAILED, RpcCode.CANCELED)
    listed = isinstance(error.data, dict) and "errors" in error.data
    if not failed and not listed:
        return
    try:
        Failure.model_validate(error.data if error.data is not None else {})
    except ValidationError as found:
        for item in found.errors(include_url=False, include_input=False, include_context=False):
            path = format_path(("error", "data", *item["loc"]))
            yield Problem(f"the error of {what} is not of the protocol's form: {item['msg']}", path)
        return
    for index, fault in enumerate(error.faults):
        place = f"$.error.data.errors[{index}]"
        if not _PASCAL.match(fault.code):
            yield Problem(f"the code {fault.code!r} of {what} is not PascalCase", f"{place}.code")
        if fault.path is not None and not exchange.wild:
            trouble = _trouble(fault.path, exchange.params)
            if trouble is not None:
                yield Problem(f"a path of the error of {what} {trouble}: {fault.path}", f"{place}.path")


def _trouble(text: str, params: Json) -> str | None:
    """Why a path does not lead into the request; its last step may be what is missing there."""
    try:
        path = parse_path(text)
    except ValueError:
        return "cannot be read"
    if not path:
        return None
    try:
        parent = pick(params, format_path(path[:-1]))
    except LookupError:
        return "leads nowhere in the request"
    return None if isinstance(parent, dict | list) else "leads into a value that has no members"
