"""Template JSON to `Template`. What would change the meaning and is not understood is refused, never skipped."""

from typing import Literal

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path
from extensor.template.document import a_text, an_array, an_object, fail, only, read_document, section
from extensor.template.limits import INT_MAX
from extensor.template.model import (
    CopyDecl,
    FunctionParameter,
    ImportDecl,
    Output,
    Parameter,
    ResourceDecl,
    Schema,
    Template,
    UserFunction,
)
from extensor.template.parser import is_expression
from extensor.template.refusal import nearest
from extensor.template.schemas import is_secure
from extensor.template.values import find_key

LANGUAGE_VERSIONS = ("2.0", "2.1-experimental", "2.2-experimental")
"""The values of `languageVersion` that are understood; a template without it may have no resources."""

_AZURE_REMEDY = (
    "resources need a provider: declare one in 'imports' (in Bicep: extension <name>) and name it in the resource; "
    "resources of Azure Resource Manager itself are not deployed here"
)
_AZURE_PROVIDER = "azureresourcemanager"
_TOP = frozenset(
    [
        "$schema",
        "languageVersion",
        "contentVersion",
        "metadata",
        "definitions",
        "functions",
        "parameters",
        "variables",
        "imports",
        "extensions",
        "resources",
        "outputs",
        "asserts",
        "apiProfile",
    ]
)
_PARAMETER = frozenset(["defaultValue", "metadata", "allowedValues"])
_SCHEMA = frozenset(
    [
        "type",
        "$ref",
        "metadata",
        "allowedValues",
        "minLength",
        "maxLength",
        "minValue",
        "maxValue",
        "nullable",
        "properties",
        "items",
        "prefixItems",
        "additionalProperties",
        "discriminator",
        "pattern",
        "sealed",
    ]
)
_RESOURCE = frozenset(
    [
        "copy",
        "condition",
        "existing",
        "import",
        "extension",
        "@options",
        "type",
        "apiVersion",
        "properties",
        "dependsOn",
        "metadata",
        "comments",
    ]
)
_OPTIONS = frozenset({"retryOn", "onlyIfNotExists", "waitUntil"})
_OUTPUT = frozenset({"value", "copy", "condition"})


def parse_template(content: str | bytes | JsonObject, *, source: str | None = None) -> Template:
    """Read a template, its text or its parsed JSON. `source` names the file in messages and in the result.

    Raises `TemplateError` with the path of the first thing that is wrong or not supported.
    """
    document = read_document(content, what="template", source=source)
    if "deploymentParameters" in str(document.get("$schema")):
        fail(("$schema",), "this is a parameter file, not a template")
    only(document, _TOP, ())
    if "resources" not in document:
        fail((), "the template has no 'resources'; write an empty object if it is to have none")
    version = document.get("languageVersion")
    if version is not None and version not in LANGUAGE_VERSIONS:
        fail(("languageVersion",), f"this version is not supported; supported are {', '.join(LANGUAGE_VERSIONS)}")
    if document.get("asserts"):
        fail(("asserts",), "asserts are not supported; remove them")
    imports = _imports(document)
    variables, copies = _variables(document)
    return Template(
        language_version=version,
        parameters={name: _parameter(name, raw) for name, raw in section(document, "parameters").items()},
        variables=variables,
        variable_copies=copies,
        imports=imports,
        resources=_resources(document, imports, classic=version is None),
        outputs={name: _output(name, raw) for name, raw in section(document, "outputs").items()},
        functions=_functions(document),
        definitions={
            name: _schema(raw, ("definitions", name)) for name, raw in section(document, "definitions").items()
        },
        source=source,
    )


def _schema(value: Json, path: Path, extra: frozenset[str] = frozenset()) -> Schema:
    raw = an_object(value, path)
    only(raw, _SCHEMA | extra, path)
    if raw.get("$ref") is not None:
        a_text(raw["$ref"], (*path, "$ref"))
    elif raw.get("type") is not None:
        kind = a_text(raw["type"], (*path, "type"))
        known = ("string", "securestring", "int", "bool", "object", "secureObject", "array")
        if kind.lower() not in {one.lower() for one in known}:
            fail((*path, "type"), f"there is no type '{kind}'; {nearest(kind, known, noun='types')}")
    return Schema(raw, path)


def _parameter(name: str, value: Json) -> Parameter:
    path: Path = ("parameters", name)
    schema = _schema(value, path, _PARAMETER)
    has_default = "defaultValue" in schema.raw
    return Parameter(name, schema, has_default, schema.raw.get("defaultValue"), is_secure(schema), path)


def _variables(document: JsonObject) -> tuple[JsonObject, dict[str, tuple[CopyDecl, Json, Path]]]:
    members = dict(section(document, "variables"))
    copies: dict[str, tuple[CopyDecl, Json, Path]] = {}
    if isinstance(members.get("copy"), list):
        for at, raw in enumerate(members.pop("copy")):
            path: Path = ("variables", "copy", at)
            loop = an_object(raw, path)
            only(loop, frozenset({"name", "count", "input"}), path)
            name = a_text(loop.get("name"), (*path, "name"))
            if any(name.lower() == other.lower() for other in (*members, *copies)):
                fail((*path, "name"), f"there is another variable '{name}'")
            if "input" not in loop:
                fail(path, "the loop has no 'input'")
            copies[name] = (CopyDecl(name, _count(loop, path)), loop["input"], path)
    return members, copies


def _imports(document: JsonObject) -> dict[str, ImportDecl]:
    found: dict[str, ImportDecl] = {}
    for name, raw in section(document, "imports").items():
        path: Path = ("imports", name)
        entry = an_object(raw, path)
        only(entry, frozenset({"provider", "version", "config", "metadata"}), path)
        config = section(entry, "config", path)
        found[name] = ImportDecl(
            name,
            a_text(entry.get("provider"), (*path, "provider")),
            a_text(entry.get("version"), (*path, "version")),
            config,
            path,
            {key: (*path, "config", key) for key in config},
        )
    for name, raw in section(document, "extensions").items():
        path = ("extensions", name)
        if any(name.lower() == other.lower() for other in found):
            fail(path, f"'imports' declares '{name}' too; keep one of them")
        entry = an_object(raw, path)
        only(entry, frozenset({"name", "version", "config", "metadata"}), path)
        values: JsonObject = {}
        places: dict[str, Path] = {}
        for key, wrapped in section(entry, "config", path).items():
            place: Path = (*path, "config", key)
            item = an_object(wrapped, place)
            only(item, frozenset({"defaultValue", "type", "metadata"}), place)
            if "defaultValue" in item:
                values[key] = item["defaultValue"]
                places[key] = (*place, "defaultValue")
        found[name] = ImportDecl(
            name,
            a_text(entry.get("name"), (*path, "name")),
            a_text(entry.get("version"), (*path, "version")),
            values,
            path,
            places,
        )
    return found


def _resources(document: JsonObject, imports: dict[str, ImportDecl], *, classic: bool) -> dict[str, ResourceDecl]:
    raw = document.get("resources")
    if isinstance(raw, list):
        if raw:
            fail(("resources", 0), _AZURE_REMEDY)
        return {}
    if classic and raw:
        fail(("languageVersion",), f"resources by name need a languageVersion, one of {', '.join(LANGUAGE_VERSIONS)}")
    return {symbol: _resource(symbol, one, imports) for symbol, one in section(document, "resources").items()}


def _resource(symbol: str, value: Json, imports: dict[str, ImportDecl]) -> ResourceDecl:
    path: Path = ("resources", symbol)
    raw = an_object(value, path)
    if not symbol or "[" in symbol:
        fail(path, "a resource's name must not be empty nor contain '['")
    named = [member for member in ("import", "extension") if raw.get(member) is not None]
    if not named:
        fail(path, _AZURE_REMEDY)
    if len(named) > 1:
        fail((*path, "extension"), "a resource names its provider once, by 'import' or by 'extension'")
    alias = _alias(raw[named[0]], (*path, named[0]), imports)
    if imports[alias].provider.lower() == _AZURE_PROVIDER:
        fail((*path, named[0]), _AZURE_REMEDY)
    only(raw, _RESOURCE, path)
    type_, version = _type(raw, path)
    options = section(raw, "@options", path)
    only(options, _OPTIONS, (*path, "@options"))
    existing = raw.get("existing", False)
    if not isinstance(existing, bool):
        fail((*path, "existing"), "true or false is due here")
    depends_on = an_array(raw.get("dependsOn") or [], (*path, "dependsOn"))
    return ResourceDecl(
        symbol=symbol,
        import_alias=alias,
        type=type_,
        api_version=version,
        existing=existing,
        condition=_condition(raw, path),
        copy=_resource_copy(raw["copy"], (*path, "copy")) if raw.get("copy") is not None else None,
        properties=an_object(raw.get("properties", {}), (*path, "properties")),
        depends_on=tuple(a_text(one, (*path, "dependsOn", at)) for at, one in enumerate(depends_on)),
        options=options,
        path=path,
    )


def _alias(value: Json, path: Path, imports: dict[str, ImportDecl]) -> str:
    wanted = a_text(value, path)
    alias = find_key(imports, wanted)
    if alias is None:
        fail(path, f"no provider is declared as '{wanted}'; {nearest(wanted, imports, noun='declared are')}")
    return alias


def _type(raw: JsonObject, path: Path) -> tuple[str, str | None]:
    type_ = a_text(raw.get("type"), (*path, "type"))
    version = None if raw.get("apiVersion") is None else a_text(raw["apiVersion"], (*path, "apiVersion"))
    for member, text in (("type", type_), ("apiVersion", version)):
        if text is not None and is_expression(text):
            fail((*path, member), "this must be a literal, not an expression")
    name, at, in_type = type_.rpartition("@")
    if not at:
        return type_, version
    if version is not None and version != in_type:
        fail((*path, "apiVersion"), f"the type says version '{in_type}'; keep one of them")
    if not name or not in_type:
        fail((*path, "type"), "a type is written name@version")
    return name, in_type


def _condition(raw: JsonObject, path: Path) -> Json:
    condition = raw.get("condition", True)
    if not isinstance(condition, bool) and not (isinstance(condition, str) and is_expression(condition)):
        fail((*path, "condition"), "true, false or an expression is due here")
    return condition


def _resource_copy(value: Json, path: Path) -> CopyDecl:
    raw = an_object(value, path)
    only(raw, frozenset({"name", "count", "mode", "batchSize"}), path)
    name = a_text(raw.get("name"), (*path, "name"))
    mode: Literal["parallel", "serial"] = "parallel"
    if raw.get("mode") is not None:
        match str(raw["mode"]).lower():
            case "serial":
                mode = "serial"
            case "parallel":
                pass
            case _:
                fail((*path, "mode"), "'serial' or 'parallel' is due here")
    batch = raw.get("batchSize")
    if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or batch < 1):
        fail((*path, "batchSize"), "an integer of at least 1 is due here")
    return CopyDecl(
        name, _count(raw, path), mode, batch if mode == "serial" and batch else 1 if mode == "serial" else None
    )


def _count(raw: JsonObject, path: Path) -> Json:
    count = raw.get("count")
    written = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= INT_MAX
    if not written and not (isinstance(count, str) and is_expression(count)):
        fail((*path, "count"), "an integer of at least 0 or an expression is due here")
    return count


def _output(name: str, value: Json) -> Output:
    path: Path = ("outputs", name)
    schema = _schema(value, path, _OUTPUT)
    raw = schema.raw
    copy: CopyDecl | None = None
    body = raw.get("value")
    if raw.get("copy") is not None:
        place: Path = (*path, "copy")
        loop = an_object(raw["copy"], place)
        only(loop, frozenset({"count", "input", "name"}), place)
        if "input" not in loop or "value" in raw:
            fail(place, "a looped output has 'count' and 'input', and no 'value' beside them")
        copy = CopyDecl(str(loop.get("name") or name), _count(loop, place))
        body = loop["input"]
    elif "value" not in raw:
        fail(path, "the output has no 'value'")
    return Output(name, schema, body, _condition(raw, path), copy, is_secure(schema), path)


def _functions(document: JsonObject) -> dict[str, UserFunction]:
    found: dict[str, UserFunction] = {}
    raw = document.get("functions")
    for at, one in enumerate(an_array([] if raw is None else raw, ("functions",))):
        path: Path = ("functions", at)
        group = an_object(one, path)
        only(group, frozenset({"namespace", "members"}), path)
        namespace = a_text(group.get("namespace"), (*path, "namespace"))
        for name, member in section(group, "members", path).items():
            place: Path = (*path, "members", name)
            function = _function(namespace, name, an_object(member, place), place)
            key = f"{namespace}.{name}".lower()
            if key in found:
                fail(place, f"there is another function '{namespace}.{name}'")
            found[key] = function
    return found


def _function(namespace: str, name: str, raw: JsonObject, path: Path) -> UserFunction:
    only(raw, frozenset({"parameters", "output", "metadata"}), path)
    parameters: list[FunctionParameter] = []
    for at, one in enumerate(an_array(raw.get("parameters") or [], (*path, "parameters"))):
        place: Path = (*path, "parameters", at)
        schema = _schema(one, place, frozenset({"name"}))
        label = a_text(schema.raw.get("name"), (*place, "name"))
        if any(label.lower() == other.name.lower() for other in parameters):
            fail((*place, "name"), f"there is another parameter '{label}'")
        parameters.append(FunctionParameter(label, schema))
    place = (*path, "output")
    output = _schema(raw.get("output"), place, frozenset({"value"}))
    if "value" not in output.raw:
        fail(place, "the output has no 'value'")
    return UserFunction(namespace, name, tuple(parameters), output, output.raw["value"], (*place, "value"))
