"""What a host sends with each verb: ResourceData (P-DATA-*)."""

from dataclasses import field

from extensor.contract.codes import ErrorCode
from extensor.contract.faults import ContractViolation, Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path, format_path
from extensor.contract.unknown import decode_unknowns, encode_unknowns, may_hold_markers
from extensor.contract.value import value


@value
class Import:
    """The provider asked for. `version` is the least version that will do; `config` is a deploy-time constant."""

    provider: str
    version: str
    config: JsonObject = field(default_factory=dict[str, Json])
    config_id: str | None = None


@value
class CallContext:
    """How a call is bounded and named. `deadline_seconds` counts from the request's arrival."""

    deadline_seconds: float | None = None
    request_id: str | None = None
    deployment_id: str | None = None
    symbolic_name: str | None = None


@value
class ResourceData:
    """The params of all four verbs, decoded: unknown markers are `Unknown` objects."""

    imported: Import
    type: str
    properties: JsonObject
    context: CallContext = CallContext()

    def to_wire(self) -> JsonObject:
        """The `params` member, markers and escapes applied."""
        imported: JsonObject = {
            "provider": self.imported.provider,
            "version": self.imported.version,
            "config": encode_unknowns(self.imported.config),
        }
        if self.imported.config_id is not None:
            imported["configId"] = self.imported.config_id
        wire: JsonObject = {"import": imported, "type": self.type, "properties": encode_unknowns(self.properties)}
        context = {
            name: value
            for name, value in (
                ("deadlineSeconds", self.context.deadline_seconds),
                ("requestId", self.context.request_id),
                ("deploymentId", self.context.deployment_id),
                ("symbolicName", self.context.symbolic_name),
            )
            if value is not None
        }
        if context:
            wire["context"] = context
        return wire

    @classmethod
    def from_wire(cls, params: Json, text: bytes | None = None) -> "ResourceData":
        """Read `params`. Raises `ContractViolation` with every fault and its path.

        `text` is the JSON they come from, where it is at hand: what cannot be in it need not be looked for.

        Members the contract does not name are ignored, so that a newer host can talk to an older provider, except
        inside `properties`, where the resource's type decides.
        """
        if isinstance(params, dict):
            plain = _plain(params, text is None or may_hold_markers(text))
            if plain is not None:
                return plain
        faults: list[Fault] = []
        top = _object(params, (), faults)
        wire_import = _member(top, "import", (), faults)
        provider = _text(wire_import, "provider", ("import",), faults)
        version = _text(wire_import, "version", ("import",), faults)
        given = wire_import.get("config") if wire_import else None
        config = _object(given, ("import", "config"), faults) if given is not None else {}
        config_id = _optional_text(wire_import, "configId", ("import",), faults)
        type_ = _text(top, "type", (), faults)
        properties = _member(top, "properties", (), faults)
        context = _context(top, faults)
        if faults:
            raise ContractViolation(*faults)
        return cls(
            Import(provider, version, _decode(config or {}, ("import", "config")), config_id),
            type_,
            _decode(properties or {}, ("properties",)),
            context,
        )


def _plain(top: JsonObject, markers: bool) -> ResourceData | None:
    """The usual request, read without a look at what could be wrong with it; ``None`` for any other."""
    imported, type_, properties = top.get("import"), top.get("type"), top.get("properties")
    if type(imported) is not dict or type(properties) is not dict or type(type_) is not str or not type_:
        return None
    provider, version = imported.get("provider"), imported.get("version")
    if type(provider) is not str or type(version) is not str or not (provider and version):
        return None
    config, config_id = imported.get("config"), imported.get("configId")
    if not (config is None or type(config) is dict) or not (config_id is None or type(config_id) is str):
        return None
    faults: list[Fault] = []
    context = _context(top, faults) if top.get("context") is not None else _NO_CONTEXT
    if faults:
        return None
    if markers:
        config = _decode(config, ("import", "config")) if config else {}
        properties = _decode(properties, ("properties",))
    return ResourceData(Import(provider, version, config or {}, config_id), type_, properties, context)


_NO_CONTEXT = CallContext()


def _decode(value: JsonObject, path: Path) -> JsonObject:
    decoded = decode_unknowns(value, path)
    if not isinstance(decoded, dict):
        raise ContractViolation(
            Fault(ErrorCode.INVALID_REQUEST, "stands for an object and cannot be unknown as a whole", format_path(path))
        )
    return decoded


def _context(top: JsonObject | None, faults: list[Fault]) -> CallContext:
    if not top or top.get("context") is None:
        return CallContext()
    wire = _object(top["context"], ("context",), faults)
    if wire is None:
        return CallContext()
    deadline = wire.get("deadlineSeconds")
    if deadline is not None and (
        isinstance(deadline, bool) or not isinstance(deadline, int | float) or not 0 < deadline < 1e9
    ):
        faults.append(_fault(("context", "deadlineSeconds"), "expected a positive number of seconds"))
        deadline = None
    return CallContext(
        deadline,
        *(_optional_text(wire, name, ("context",), faults) for name in ("requestId", "deploymentId", "symbolicName")),
    )


def _fault(path: Path, message: str, code: str = ErrorCode.INVALID_REQUEST) -> Fault:
    return Fault(code, message, format_path(path))


def _object(value: Json, path: Path, faults: list[Fault]) -> JsonObject | None:
    if isinstance(value, dict):
        return value
    faults.append(_fault(path, f"expected an object, got {json_kind(value)}"))
    return None


def _member(parent: JsonObject | None, name: str, path: Path, faults: list[Fault]) -> JsonObject | None:
    if parent is None:
        return None
    if name in parent:
        return _object(parent[name], (*path, name), faults)
    faults.append(_fault((*path, name), "is required"))
    return None


def _text(parent: JsonObject | None, name: str, path: Path, faults: list[Fault]) -> str:
    """A required text; nothing more is said about a parent that is itself at fault."""
    if parent is None:
        return ""
    value = parent.get(name)
    if isinstance(value, str) and value:
        return value
    message = f"expected a text, got {json_kind(value)}" if name in parent else "is required"
    faults.append(_fault((*path, name), message))
    return ""


def _optional_text(parent: JsonObject | None, name: str, path: Path, faults: list[Fault]) -> str | None:
    value = parent.get(name) if parent else None
    if value is None or isinstance(value, str):
        return value
    faults.append(_fault((*path, name), f"expected a text, got {json_kind(value)}"))
    return None


def json_kind(value: Json) -> str:
    """A JSON value's kind in words, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "an empty text" if not value else "a text"
        case list():
            return "an array"
        case _:
            return "an object"
