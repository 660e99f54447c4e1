"""Parameter values: reading a parameter file, and checking what is given against what is declared."""

from collections.abc import Mapping

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.template.document import an_object, fail, only, read_document, section
from extensor.template.model import Template
from extensor.template.refusal import nearest
from extensor.template.schemas import check
from extensor.template.secrecy import without_size

_TOP = frozenset(
    ["$schema", "contentVersion", "parameters", "metadata", "usingConfig", "externalInputDefinitions", "externalInputs"]
)


def load_parameters(content: str | bytes | JsonObject, *, source: str | None = None) -> JsonObject:
    """The values of a parameter file, ``{"parameters": {name: {"value": …}}}``, or of a bare object of values.

    Raises `TemplateError` with the path of the first thing that is wrong. Key vault references are refused.
    """
    document = read_document(content, what="parameter file", source=source)
    if "parameters" not in document and "$schema" not in document:
        return document
    if "deploymentTemplate" in str(document.get("$schema")):
        fail(("$schema",), "this is a template, not a parameter file")
    only(document, _TOP, ())
    found: JsonObject = {}
    for name, wrapped in section(document, "parameters").items():
        path: Path = ("parameters", name)
        entry = an_object(wrapped, path)
        if "reference" in entry:
            fail((*path, "reference"), "key vault references are not supported; pass the value itself")
        if "expression" in entry:
            fail((*path, "expression"), "expressions are not supported in a parameter file; pass the value itself")
        only(entry, frozenset({"value", "metadata"}), path)
        if "value" not in entry:
            fail(path, "the parameter has no 'value'")
        found[name] = entry["value"]
    return found


def check_parameters(template: Template, given: Mapping[str, Json]) -> list[Fault]:
    """Every fault of the given values: names that are not declared, values that do not fit, required ones missing."""
    faults: list[Fault] = []
    declared = {name.lower(): parameter for name, parameter in template.parameters.items()}
    seen: set[str] = set()
    for name, value in given.items():
        key = name.lower()
        path = format_path(("parameters", name))
        if key in seen:
            faults.append(Fault(ErrorCode.INVALID_PROPERTY, "the parameter is given twice", path))
        seen.add(key)
        parameter = declared.get(key)
        if parameter is None:
            hint = nearest(name, template.parameters, noun="parameters")
            faults.append(Fault(ErrorCode.UNKNOWN_PROPERTY, f"the template has no parameter '{name}'; {hint}", path))
        elif value is not None or not parameter.has_default:
            found = check(value, parameter.schema.raw, template.definitions, ("parameters", parameter.name))
            faults.extend(map(without_size, found) if parameter.secure else found)
    faults.extend(
        Fault(
            ErrorCode.MISSING_PROPERTY,
            f"the parameter '{parameter.name}' has no value and no default; give it one",
            format_path(parameter.path),
        )
        for key, parameter in declared.items()
        if parameter.required and key not in seen
    )
    return faults
