"""What every run over a template begins with: parameters, instances, order, and each fault that shows in them."""

import uuid
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import anyio

from extensor.contract import Json, JsonObject, Path, Unknown, find_unknowns, has_unknown
from extensor.contract.redaction import Redactor
from extensor.engine.calls import Caller
from extensor.engine.events import OnEvent, ResourceRef, RunKind
from extensor.engine.graph import Graph
from extensor.engine.plan import Instance, Plan, expand, make_graph
from extensor.engine.references import References
from extensor.engine.results import DeploymentRequest, ResourceFault
from extensor.engine.sessions import Connector, SessionPool, Wanted
from extensor.errors import TemplateError
from extensor.template import Scope, references_of
from extensor.types import Shape


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
    late: set[str] = field(default_factory=set[str])
    """Aliases whose configuration was not known when types were asked for."""
    learning: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while the types of a late alias are asked for."""

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
    for name in declared:
        if name.lower() in given:
            values[name] = given[name.lower()]

    def secretless() -> Scope:
        return Scope(
            request.template,
            values,
            reference=references,
            deployment_name=request.stack,
            now=scope.now,
            secure_as_unknown=True,
        )

    first = secretless()
    for name, parameter in declared.items():
        if name not in values and not parameter.secure and parameter.has_default:
            expression = "[parameters('{}')]".format(name.replace("'", "''"))
            if not has_unknown(first.evaluate(expression, parameter.path)):  # else a secret went into the default
                values[name] = scope.evaluate(expression, parameter.path)
    return secretless()


def _is_unknown_at(body: Json, path: Path) -> bool:
    for part in path:
        if type(body) is Unknown:
            return True
        try:
            body = body[part]
        except (KeyError, IndexError, TypeError):
            return False
    return type(body) is Unknown
