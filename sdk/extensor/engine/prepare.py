"""What every run over a template begins with: parameters, instances, order, and each fault that shows in them."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath

import anyio

from extensor.contract import Fault, Json, JsonObject, Path, has_unknown
from extensor.contract.redaction import Redactor
from extensor.engine.calls import Caller
from extensor.engine.diff import masked
from extensor.engine.events import OnEvent, ResourceRef, RunKind
from extensor.engine.graph import Graph
from extensor.engine.places import placed
from extensor.engine.plan import Instance, Plan, expand, make_graph
from extensor.engine.records import EVERYTHING, Record
from extensor.engine.references import References
from extensor.engine.results import DeploymentRequest, ResourceFault
from extensor.engine.secrecy import (
    learn,
    learn_derived,
    moved_names,
    names_in,
    secret_identifiers,
    tainted_paths,
    texts_in,
    veiling,
)
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
    moved: frozenset[str] = frozenset()
    """Properties that may show what was given as a secret under other names."""
    formerly: frozenset[Path] = frozenset()
    """Places of what depended on a secret when the resource was saved last."""

    def remember(self, record: Record) -> None:
        """It was saved before."""
        self.formerly = frozenset(() if name == EVERYTHING else (name,) for name in record.secret)

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
    secretless: Scope
    """Evaluates with everything secret unknown: secure parameters, and secret properties of resources."""
    faults: list[ResourceFault] = field(default_factory=list[ResourceFault])
    started: float = field(default_factory=anyio.current_time)
    words: str = ""
    """What the template and the open parameters say in so many words, so that it is no secret."""
    told_configs: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    """Configurations that are known, by alias."""
    late: set[str] = field(default_factory=set[str])
    """Aliases whose configuration was not known when types were asked for."""
    has_secret_bodies: bool = False
    """Whether a resource has shown a secret that others could refer to."""
    learning: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while the types of a late alias are asked for."""

    def wanted(self, alias: str) -> Wanted:
        """The provider that the template calls `alias`."""
        return wanted_provider(self.request, self.scope, alias)

    def config(self, alias: str) -> JsonObject:
        """The provider's configuration as far as it is known now. Raises `TemplateError`."""
        config = self.scope.evaluate_config(alias)
        if not has_unknown(config) and self.told_configs.get(alias) != config:
            self.told_configs[alias] = config
            hidden = self.secretless.evaluate_config(alias)
            learn_derived(self.redactor, config, tainted_paths(config, hidden), self.words)
        return config

    def properties(self, prepared: Prepared) -> JsonObject:
        """The properties as far as they are known now. Raises `TemplateError`."""
        if prepared.settled:
            return prepared.properties
        instance = prepared.instance
        return self.scope.evaluate_properties(instance.decl, loop=instance.loop)

    def tainted(self, prepared: Prepared) -> frozenset[Path]:
        """Places in the properties whose values come from secure parameters or secret properties."""
        if not self.has_secure and (prepared.settled or not self.has_secret_bodies):
            return frozenset()
        properties = self.properties(prepared)
        try:
            tainted = tainted_paths(properties, self.hidden(prepared))
        except TemplateError:  # it cannot be told without the secrets, so all of it depends on them
            tainted = frozenset[Path]({()})
        learn_derived(self.redactor, properties, tainted, self.words)
        return tainted

    def hidden(self, prepared: Prepared) -> JsonObject:
        """The properties as far as they can be told without secrets. Raises `TemplateError`."""
        instance = prepared.instance
        return self.secretless.evaluate_properties(instance.decl, loop=instance.loop)

    @property
    def has_secure(self) -> bool:
        """Whether the template has secure parameters."""
        return any(parameter.secure for parameter in self.request.template.parameters.values())

    def learn(self, prepared: Prepared, *bodies: Json) -> None:
        """Keep the secrets in bodies of a resource out of everything that is told from now on."""
        self.has_secret_bodies = learn(self.redactor, prepared.shape, *bodies) or self.has_secret_bodies

    def learn_answer(self, prepared: Prepared, body: Json) -> None:
        """The same of what a provider answered, also where it shows under other names what it was given as a secret."""
        self.learn(prepared, body)
        if not isinstance(body, dict):
            return
        tainted = self.tainted(prepared)
        learn_derived(self.redactor, body, tainted | (prepared.formerly - {()}), self.words)
        if tainted:
            prepared.moved |= moved_names(self.properties(prepared), tainted, body, prepared.shape)
            self.has_secret_bodies = self.has_secret_bodies or bool(prepared.moved)

    def secret_names(self, prepared: Prepared) -> frozenset[str]:
        """The properties that depend on a secret, by names that may be recorded: none that is a secret itself."""
        tainted = self.tainted(prepared)
        names = prepared.moved.union(str(path[0]) for path in tainted if path)
        told = () not in tainted and all(self.redactor.text(name) == name for name in names)
        return names if told else frozenset({EVERYTHING})

    def shown(self, prepared: Prepared, body: JsonObject) -> Json:
        """A copy of a body without secrets and without what depends on them."""
        places = self.tainted(prepared) | {(name,) for name in prepared.moved} | prepared.formerly
        return masked(body if prepared.shape is None else prepared.shape.mask(body), self.redactor, places)

    def secret_identifiers(self, prepared: Prepared) -> list[Fault]:
        """A fault for each identifier that depends on a secret."""
        return secret_identifiers(self.tainted(prepared), prepared.shape, prepared.instance.properties_path)

    def placed(self, prepared: Prepared, *faults: Fault) -> tuple[Fault, ...]:
        """A provider's faults, free of secrets, at their places in the template."""
        decl = prepared.instance.decl
        declared = self.scope.template.imports[decl.import_alias]
        return tuple(
            placed(Fault(fault.code, self.redactor.text(fault.message), fault.path), decl, declared) for fault in faults
        )


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
    prepared: dict[str, Prepared] = {}
    asked_by_config = {
        alias: _asked_by_config(alias, scope, references, faults)
        for alias in {instance.decl.import_alias: None for instance in plan.instances.values()}
    }
    edges: dict[str, set[str]] = {}
    written: dict[str, set[str]] = {}
    for key, instance in plan.instances.items():
        asked = references.record()
        try:
            properties = scope.evaluate_properties(instance.decl, loop=instance.loop)
        except TemplateError as error:
            found = every_fault(scope, instance) or error.faults
            faults.extend(ResourceFault(key, fault) for fault in found)
            properties = {}
        prepared[key] = Prepared(instance, properties, not asked and not has_unknown(properties))
        symbol = instance.decl.symbol
        if symbol not in written:
            written[symbol] = _written(instance, plan)
        edges[key] = asked | written[symbol] | asked_by_config[instance.decl.import_alias]
    faults.extend(ResourceFault(None, fault) for fault in _outputs_faults(scope))
    graph = make_graph(plan, scope, edges)
    deployment_id = str(uuid.uuid4())
    secretless = _secretless(request, scope, veiling(references, lambda key: _known_of(prepared, key)))
    scope.veil_errors(secretless)
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
        secretless,
        faults,
        words=_words(request, scope) if any(one.secure for one in request.template.parameters.values()) else "",
    )


def _words(request: DeploymentRequest, scope: Scope) -> str:
    """The texts of the template, the open parameters, and the names inside the secret ones."""
    template = request.template
    said: list[Json] = [
        {name: [declared.properties, declared.options] for name, declared in template.resources.items()},
        template.variables,
        {alias: declared.config for alias, declared in template.imports.items()},
        [[loop.name, body] for loop, body, _ in template.variable_copies.values()],
    ]
    for name, value in request.parameters.items():
        said.append(names_in(value) if scope.names.parameter(name).secure else value)
    said += [names_in(one.default) if one.secure else one.default for one in template.parameters.values()]
    return "\n".join(text for item in said for text in texts_in(item))


def every_fault(scope: Scope, instance: Instance) -> list[Fault]:
    """Each fault of an instance's properties that can be met by evaluating them part by part, in document order."""
    found: dict[Fault, None] = {}

    def look(value: Json, path: Path) -> None:
        if isinstance(value, dict) and value and not any(_is_special(name, item) for name, item in value.items()):
            for name, item in value.items():
                look(item, (*path, name))
        elif isinstance(value, list):
            for position, item in enumerate(value):
                look(item, (*path, position))
        else:
            try:
                scope.evaluate(value, path, loop=instance.loop)
            except TemplateError as error:
                found.update(dict.fromkeys(error.faults))

    look(instance.decl.properties, instance.properties_path)
    return list(found)


def _is_special(name: str, item: Json) -> bool:
    """Whether an object with this member is evaluated as a whole: it has a loop, or a name that is an expression."""
    return (name == "copy" and isinstance(item, list)) or name.startswith("[")


def _known_of(prepared: dict[str, Prepared], key: str) -> tuple[Shape | None, frozenset[str]]:
    return (prepared[key].shape, prepared[key].moved) if key in prepared else (None, frozenset())


def _outputs_faults(scope: Scope) -> list[Fault]:
    """What is wrong with the outputs whatever the resources will be: they are evaluated when all is done."""
    found: list[Fault] = []
    for declared in scope.template.outputs.values():
        try:
            if declared.condition is True or scope.evaluate(declared.condition, (*declared.path, "condition")) is True:
                scope.output(declared)
        except TemplateError as error:
            found += error.faults
    return found


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


def _secretless(request: DeploymentRequest, scope: Scope, references: Callable[[str], Json]) -> Scope:
    """A scope in which secure parameters are unknown and the others have the values they have in `scope`."""
    declared = request.template.parameters
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
