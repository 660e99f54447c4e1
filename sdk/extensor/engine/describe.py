"""What providers say of their types, and each fault that shows in the light of it."""

import anyio

from extensor.contract import ErrorCode, Fault, JsonObject, format_path, has_unknown, is_unknown
from extensor.engine.events import ResourcePlanned, RunStarted
from extensor.engine.identity import canonical, identity
from extensor.engine.prepare import Prepared, Run
from extensor.engine.results import ResourceFault
from extensor.engine.secrecy import learn
from extensor.engine.sessions import Session
from extensor.errors import ExtensorError, OperationFailed, ProtocolViolation, RpcError, TemplateError
from extensor.types import Shape, TypeIndex, shape_of
from extensor.types.validate import validate

_NO_TYPES = frozenset({ErrorCode.OPERATION_NOT_SUPPORTED, ErrorCode.INTERNAL_ERROR})


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


async def learn_types(run: Run, alias: str, session: Session) -> None:
    """Learn the types of a provider whose configuration was not known at the start; the first to come asks for all."""
    async with run.learning:
        if alias not in run.late:
            return
        try:
            index = await session.types()
        except ExtensorError:
            return  # it is deployed without what types are good for
        finally:
            run.late.discard(alias)
        _learn_config(run, alias, index)
        for prepared in run.prepared.values():
            if prepared.instance.decl.import_alias == alias:
                try:
                    prepared.shape = shape_of(index.resource(prepared.instance.type))
                except OperationFailed:
                    continue  # the provider's own answer will say so


async def _describe(run: Run, alias: str, members: list[Prepared], strict: bool) -> None:
    try:
        config = run.config(alias)
    except TemplateError:
        return  # told when the run was prepared
    if has_unknown(config):
        run.late.add(alias)
        return
    try:
        session = await run.pool.session(run.wanted(alias))
        index = await session.types()
    except (OperationFailed, ProtocolViolation, RpcError) as error:
        if isinstance(error, OperationFailed) and error.failure.code not in _NO_TYPES and strict:
            run.faults.append(ResourceFault(None, start_fault(run, alias, error)))
        return
    except ExtensorError as error:
        if strict:
            run.faults.append(ResourceFault(None, start_fault(run, alias, error)))
        return
    declared = run.scope.template.imports[alias]
    if index.config_type is not None:
        _learn_config(run, alias, index)
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
        run.faults.extend(
            ResourceFault(instance.key, Fault(fault.code, fault.message, path)) for fault in error.failure.faults
        )
        return
    prepared.shape = shape_of(type_)
    if is_unknown(prepared.properties):  # a property's name is not known; it is looked at in its turn
        return
    run.learn(prepared, prepared.properties)
    # A get must not hold unknowns; the body of one that waits for others is looked at in its turn.
    if prepared.settled or not instance.existing:
        purpose = "get" if instance.existing else "preview_save"
        faults = validate(prepared.properties, type_, purpose=purpose, path=instance.properties_path)
        run.faults.extend(ResourceFault(instance.key, fault) for fault in faults)
    prepared.identifiers = known_identifiers(prepared.shape, prepared.properties)
    if run.has_secure:
        secret = run.secret_identifiers(prepared)
        run.faults.extend(ResourceFault(instance.key, fault) for fault in secret)
        prepared.identifiers = None if secret else prepared.identifiers


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


def start_fault(run: Run, alias: str, error: ExtensorError) -> Fault:
    """Why a provider cannot be used, at the place of the template that asks for it where that can be the remedy."""
    code = error.failure.code if isinstance(error, OperationFailed) else type(error).__name__
    text = run.redactor.text(str(error))
    if text.startswith(f"{ErrorCode.UNSUPPORTED_VERSION}: "):
        place = (*run.scope.template.imports[alias].path, "version")
        return Fault(ErrorCode.UNSUPPORTED_VERSION, text.split(": ", 1)[1], format_path(place))
    return Fault(code, text)


def _learn_config(run: Run, alias: str, index: TypeIndex) -> None:
    if index.config_type is not None:
        learn(run.redactor, shape_of(index.config_type), run.config(alias))
