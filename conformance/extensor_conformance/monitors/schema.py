"""SCH-03: results fit their envelope and their type. PRV-10: results of save and get hold no marker.

Also PRV-11 where `metadata` stands on an answer that is no preview's (P-RESULT-05).
"""

from collections.abc import Iterator

from pydantic import BaseModel, ValidationError

from extensor.contract import ContractViolation, ErrorCode, Verb, decode_unknowns, format_path
from extensor.contract.handshake import GET_TYPE_FILES, INITIALIZE, LIST_TYPES
from extensor.contract.models import InitializeResult, ListTypesResult, ResourceResult, TypeFilesResult
from extensor.types.validate import validate
from extensor_conformance.answers import Answer
from extensor_conformance.kind import Kind
from extensor_conformance.monitors.base import Exchange, Finding, Monitor
from extensor_conformance.verdicts import Problem

CHECK = "SCH-03"
MARKERS = "PRV-10"
METADATA = "PRV-11"

_MODELS: dict[str, type[BaseModel]] = {
    **{verb.method: ResourceResult for verb in Verb},
    INITIALIZE: InitializeResult,
    LIST_TYPES: ListTypesResult,
    GET_TYPE_FILES: TypeFilesResult,
}


class SchemaMonitor(Monitor):
    """Checks every result."""

    checks = (CHECK, MARKERS, METADATA)

    def __init__(self) -> None:
        self._seen: set[tuple[str, str | None]] = set()

    def answered(self, exchange: Exchange, kind: Kind | None) -> Iterator[Finding]:
        """See `Monitor.answered`."""
        answer = exchange.answer
        model = _MODELS.get(exchange.method)
        if answer is None or not answer.ok or model is None:
            return
        type_ = kind.name if kind is not None else None
        if kind is not None or exchange.verb is None:
            self._seen.add((CHECK, type_))
        problems = list(_envelope(model, answer, exchange.method))
        yield from (Finding(CHECK, type_, problem) for problem in problems)
        if exchange.verb is None or kind is None or problems:
            return
        yield from _body(exchange.verb, answer, kind)

    def relevant(self) -> frozenset[tuple[str, str | None]]:
        """See `Monitor.relevant`."""
        return frozenset(self._seen)


def _envelope(model: type[BaseModel], answer: Answer, method: str) -> Iterator[Problem]:
    try:
        model.model_validate(answer.result)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False, include_context=False):
            path = format_path(tuple(item["loc"]))
            yield Problem(f"the result of {method} is not of the protocol's form: {item['msg']}", path)


def _body(verb: Verb, answer: Answer, kind: Kind) -> Iterator[Finding]:
    result = answer.result
    properties = result.get("properties")
    if verb is Verb.DELETE:
        if properties is not None:
            problem = Problem("a delete answers properties that are not null", "$.properties")
            yield Finding(CHECK, kind.name, problem)
        return
    if properties is None:
        yield Finding(CHECK, kind.name, Problem(f"{verb.method} answers no properties", "$.properties"))
        return
    if verb is not Verb.PREVIEW_SAVE and result.get("metadata"):
        yield Finding(
            METADATA, kind.name, Problem(f"{verb.method} answers metadata, which previews alone have", "$.metadata")
        )
    try:
        decoded = decode_unknowns(properties, ("properties",))
    except ContractViolation as violation:
        for fault in violation.faults:
            yield Finding(CHECK, kind.name, Problem(f"{verb.method} answers a broken marker", fault.path))
        return
    purpose = "preview_result" if verb is Verb.PREVIEW_SAVE else "result"
    for fault in validate(decoded, kind.type, purpose=purpose):
        if fault.code == ErrorCode.UNKNOWN_VALUE_NOT_ALLOWED:
            message = f"the result of {verb.method} holds an unknown value"
            yield Finding(MARKERS, kind.name, Problem(message, fault.path))
        else:
            message = f"the result of {verb.method} does not fit the type: {fault.message}"
            yield Finding(CHECK, kind.name, Problem(message, fault.path))
