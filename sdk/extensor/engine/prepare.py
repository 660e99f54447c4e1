"""What every run over a template begins with: parameters, instances, order, types, and each fault that shows early."""

import uuid
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import anyio

from extensor.contract import ErrorCode, Fault, Json, JsonObject, Path, Unknown, find_unknowns, format_path, has_unknown
from extensor.contract.redaction import Redactor
from extensor.engine.calls import Caller
from extensor.engine.events import OnEvent, ResourcePlanned, ResourceRef, RunKind, RunStarted
from extensor.engine.graph import Graph
from extensor.engine.identity import canonical, identity
from extensor.engine.plan import Instance, Plan, expand, make_graph
from extensor.engine.references import References
from extensor.engine.results import DeploymentRequest, ResourceFault
from extensor.engine.sessions import Connector, SessionPool, Wanted
from extensor.errors import ExtensorError, OperationFailed, ProtocolViolation, RpcError, TemplateError
from extensor.template import Scope, references_of
from extensor.types import Shape, TypeIndex, shape_of
from extensor.types.validate import validate

_NO_TYPES = frozenset({ErrorCode.OPERATION_NOT_SUPPORTED, ErrorCode.INTERNAL_ERROR})


@dataclass(slots=True)
class Prepared:
    """One instance, its properties evaluated while every other resource was unknown.

    `settled`: nothing in them is unknown, so they need not be evaluated again. `identifiers` is ``None`` while they
    cannot be told; `shape` is ``None`` when the provider does not describe the type.
    """

    instance: Instance
    properties: JsonObject
    settled: bool
    shape: Shape | None = None
    identifiers: JsonObject | None = None

    def ref(self, identifiers: JsonObject | None = None) -> ResourceRef:
        """How the resource is named in events."""
        return ResourceRef(self.instance.key, self.instance.type, identifiers or self.identifiers or {})


@dataclass(slots=True)
class Run:
    """A run over a template, once it is prepared."""

    kind: RunKind
    request: DeploymentRequest
    deployment_id: str
    on_event: OnEvent
    scope: Scope
    references: References
    plan: Plan
    graph: Graph
    prepared: dict[str, Prepared]
    pool: SessionPool
    caller: Caller
    redactor: Redactor
    secretless: Scope | None
    """Evaluates with secure parameters unknown; ``None`` when the template has none."""
    faults: list[ResourceFault] = field(default_factory=list[ResourceFault])
    started: float = field(default_factory=anyio.current_time)

    def wanted(self, alias: str) -> Wanted:
        """The provider that the template calls `alias`."""
        return wanted_provider(self.request, self.scope, alias)

    def config(self, alias: str) -> JsonObject:
        """The provider's configuration as far as it is known now. Raises `TemplateError`."""
        return self.scope.evaluate_config(alias)

    def properties(self, prepared: Prepared) -> JsonObject:
        """The properties as far as they are known now. Raises `TemplateError`."""
        if prepared.settled:
            return prepared.properties
        instance = prepared.instance
        return self.scope.evaluate_properties(instance.decl, loop=instance.loop)

    def tainted(self, prepared: Prepared) -> frozenset[Path]:
        """Places in the properties whose values come from secure parameters."""
        if self.secretless is None:
            return frozenset()
        instance = prepared.instance
        known = self.properties(prepared)
        hidden = self.secretless.evaluate_properties(instance.decl, loop=instance.loop)
        return frozenset(path for path, _ in find_unknowns(hidden) if not _is_unknown_at(known, path))


def wanted_provider(request: DeploymentRequest, scope: Scope, alias: str) -> Wanted:
    """The provider that the template calls `alias`, with the command given for its name or alias, if any."""
    declared = scope.template.imports[alias]
    commands = {name.lower(): command for name, command in request.providers.items()}
    command = commands.get(alias.lower(), commands.get(declared.provider.lower()))
    return Wanted(alias, declared.provider, declared.version, command, template_folder(request))


def template_folder(request: DeploymentRequest) -> FilePath:
    """Where providers run: the template's folder, absolute."""
    return request.template_path.absolute().parent


def prepare(
    kind: RunKind, request: DeploymentRequest, connector: Connector, on_event: OnEvent, redactor: Redactor
) -> Run:
    """Everything that can be known without a provider. Raises `TemplateError`; faults of resources are collected."""
    references = References()
    scope = Scope(request.template, request.parameters, reference=references, deployment_name=request.stack)
    for secret in scope.secrets():
        redactor.add(secret)
    plan = expand(request.template, scope)
    references.bind(plan)
    faults: list[ResourceFault] = []
    asked_by_config = {
        alias: _asked_by_config(alias, scope, references, faults)
        for alias in {instance.decl.import_alias: None for instance in plan.instances.values()}
    }
    prepared: dict[str, Prepared] = {}
    edges: dict[str, set[str]] = {}
    written: dict[str, set[str]] = {}
    for key, instance in plan.instances.items():
        asked = references.record()
        try:
            properties = scope.evaluate_properties(instance.decl, loop=instance.loop)
        except TemplateError as error:
            faults.extend(ResourceFault(key, fault) for fault in error.faults)
            properties = {}
        prepared[key] = Prepared(instance, properties, not asked and not has_unknown(properties))
        symbol = instance.decl.symbol
        if symbol not in written:
            written[symbol] = _written(instance, plan)
        edges[key] = asked | written[symbol] | asked_by_config[instance.decl.import_alias]
    graph = make_graph(plan, scope, edges)
    deployment_id = str(uuid.uuid4())
    return Run(
        kind,
        request,
        deployment_id,
        on_event,
        scope,
        references,
        plan,
        graph,
        prepared,
        SessionPool(connector, on_event, redact=redactor.text),
        Caller(deployment_id, request.budget_seconds, on_event, redactor),
        redactor,
        _secretless(request, scope, references),
        faults,
    )


async def describe(run: Run, *, strict: bool) -> None:
    """Ask the providers for their types and check every instance against them; then tell what the run is about.

    Providers start at the same time. What cannot be asked is left unchecked: a provider without types, or whose
    configuration is not known yet. A provider that does not start is a fault if `strict`, else left to the calls.
    """
    aliases: dict[str, list[Prepared]] = {}
    for prepared in run.prepared.values():
        aliases.setdefault(prepared.instance.decl.import_alias, []).append(prepared)
    broken = {item.symbolic_name for item in run.faults}
    async with anyio.create_task_group() as tasks:
        for alias, members in aliases.items():
            tasks.start_soon(_describe, run, alias, [one for one in members if one.instance.key not in broken], strict)
    _refuse_duplicates(run)
    run.on_event(RunStarted(run.kind, run.request.stack, run.deployment_id, len(run.prepared)))
    for key in run.graph.order:
        prepared = run.prepared[key]
        run.on_event(ResourcePlanned(prepared.ref(), run.graph.depends_on[key], prepared.instance.existing))


async def _describe(run: Run, alias: str, members: list[Prepared], strict: bool) -> None:
    try:
        config = run.config(alias)
    except TemplateError:
        return  # told when the run was prepared
    if has_unknown(config):
        return
    try:
        session = await run.pool.session(run.wanted(alias))
        index = await session.types()
    except (OperationFailed, ProtocolViolation, RpcError) as error:
        if isinstance(error, OperationFailed) and error.failure.code not in _NO_TYPES and strict:
            run.faults.append(ResourceFault(None, _start_fault(run, error)))
        return
    except ExtensorError as error:
        if strict:
            run.faults.append(ResourceFault(None, _start_fault(run, error)))
        return
    declared = run.scope.template.imports[alias]
    if index.config_type is not None:
        found = validate(config, index.config_type, purpose="config", path=(*declared.path, "config"))
        run.faults.extend(ResourceFault(None, fault) for fault in found)
    for prepared in members:
        _check(run, prepared, index)


def _check(run: Run, prepared: Prepared, index: TypeIndex) -> None:
    instance = prepared.instance
    try:
        type_ = index.resource(instance.type)
    except OperationFailed as error:
        path = format_path((*instance.decl.path, "type"))
        run.faults.append(ResourceFault(instance.key, Fault(error.failure.code, str(error), path)))
        return
    prepared.shape = shape_of(type_)
    # A get must not hold unknowns; the body of one that waits for others is looked at in its turn.
    if prepared.settled or not instance.existing:
        purpose = "get" if instance.existing else "preview_save"
        faults = validate(prepared.properties, type_, purpose=purpose, path=instance.properties_path)
        run.faults.extend(ResourceFault(instance.key, fault) for fault in faults)
    prepared.identifiers = known_identifiers(prepared.shape, prepared.properties)
    if run.secretless is not None and prepared.identifiers:
        _refuse_secret_identifiers(run, prepared)


def known_identifiers(shape: Shape | None, properties: JsonObject) -> JsonObject | None:
    """The identifiers in a body; ``None`` while one is unknown, or when the type does not tell which they are."""
    if shape is None:
        return None
    identifiers = shape.identifiers_of(properties)
    return None if not identifiers or has_unknown(identifiers) else identifiers


def _refuse_duplicates(run: Run) -> None:
    """Two instances that would write the same resource. Any number may read it."""
    seen: dict[object, str] = {}
    for key, prepared in run.prepared.items():
        if prepared.instance.existing or prepared.identifiers is None:
            continue
        claim = duplicate_key(run, prepared, prepared.identifiers)
        other = seen.setdefault(claim, key)
        if other != key:
            run.faults.append(ResourceFault(key, duplicate_fault(run, prepared, other)))


def duplicate_key(run: Run, prepared: Prepared, identifiers: JsonObject) -> tuple[object, str]:
    """What two instances share that would write the same resource: its identity and its provider's configuration."""
    alias = prepared.instance.decl.import_alias
    declared = run.scope.template.imports[alias]
    return identity(declared.provider, prepared.instance.type, identifiers), canonical(run.config(alias))


def duplicate_fault(run: Run, prepared: Prepared, other: str) -> Fault:
    """What to say of the second of two instances."""
    return Fault(
        "DuplicateResource",
        f"'{prepared.instance.key}' and '{other}' are one resource: same type, same identifiers; keep one of them, "
        "or declare the one that only reads as existing",
        format_path(prepared.instance.decl.path),
    )


def _refuse_secret_identifiers(run: Run, prepared: Prepared) -> None:
    assert prepared.shape is not None
    for path in run.tainted(prepared):
        names = tuple(part for part in path if isinstance(part, str))
        if any(names[: len(own)] == own or own[: len(names)] == names for own in prepared.shape.identifiers):
            run.faults.append(
                ResourceFault(
                    prepared.instance.key,
                    Fault(
                        "SecretIdentifier",
                        "an identifier is recorded and shown, so it must not come from a secure parameter",
                        format_path((*prepared.instance.properties_path, *path)),
                    ),
                )
            )


def _written(instance: Instance, plan: Plan) -> set[str]:
    """References in branches that were not evaluated, as far as they name a resource outright."""
    names = [name for name in references_of(instance.decl.properties) if isinstance(name, str)]
    return {key for name in names for key in plan.find(name) or ()}


def _asked_by_config(alias: str, scope: Scope, references: References, faults: list[ResourceFault]) -> set[str]:
    asked = references.record()
    try:
        scope.evaluate_config(alias)
    except TemplateError as error:
        faults.extend(ResourceFault(None, fault) for fault in error.faults)
    return asked


def _secretless(request: DeploymentRequest, scope: Scope, references: References) -> Scope | None:
    """A scope in which secure parameters are unknown and the others have the values they have in `scope`."""
    declared = request.template.parameters
    if not any(parameter.secure for parameter in declared.values()):
        return None
    given = {name.lower(): value for name, value in request.parameters.items()}
    values: dict[str, Json] = {}
    for name, parameter in declared.items():
        if name.lower() in given:
            values[name] = given[name.lower()]
        elif not parameter.secure and parameter.has_default:
            values[name] = scope.evaluate(f"[parameters('{name}')]", parameter.path)
    known = {name: value for name, value in values.items() if not has_unknown(value)}
    return Scope(
        request.template,
        known,
        reference=references,
        deployment_name=request.stack,
        now=scope.now,
        secure_as_unknown=True,
    )


def _start_fault(run: Run, error: ExtensorError) -> Fault:
    code = error.failure.code if isinstance(error, OperationFailed) else type(error).__name__
    return Fault(code, run.redactor.text(str(error)))


def _is_unknown_at(body: Json, path: Path) -> bool:
    for part in path:
        if type(body) is Unknown:
            return True
        try:
            body = body[part]
        except (KeyError, IndexError, TypeError):
            return False
    return type(body) is Unknown
