"""Asking providers what a save would do, in dependency order, with what is known handed on."""

from collections.abc import Callable
from dataclasses import dataclass

from extensor.contract import (
    ErrorCode,
    Fault,
    Import,
    Json,
    JsonObject,
    Path,
    ResourceResult,
    Unknown,
    Verb,
    has_unknown,
    is_unknown,
    parse_path,
)
from extensor.engine.answers import Answers
from extensor.engine.calls import Failed, is_absent
from extensor.engine.describe import known_identifiers, learn_types, start_fault
from extensor.engine.ledger import Register
from extensor.engine.places import reason_of
from extensor.engine.prepare import Prepared, Run
from extensor.engine.providers import recorded_provider
from extensor.engine.records import ProviderRecord, Record
from extensor.engine.results import ResourceFault
from extensor.engine.secrecy import expression_of
from extensor.engine.sessions import Session
from extensor.errors import ExtensorError, TemplateError
from extensor.types import Shape

NOT_STARTED = "its provider did not start"
CONFIG_UNKNOWN = "not previewable: configuration unknown"


@dataclass(slots=True)
class Seen:
    """What the preview of one instance found.

    `before` is what `get` shows, ``None`` when there is nothing, or when it was not asked (`looked` is False); `after`
    is the provider's preview, ``None`` when it gave none, and `reason` says why then.
    """

    prepared: Prepared
    identifiers: JsonObject | None = None
    before: JsonObject | None = None
    looked: bool = False
    after: ResourceResult | None = None
    reason: str | None = None
    record: Record | None = None
    config_id: str | None = None
    """The control plane, as `get` named it."""


class Previewer:
    """Previews instances one by one. Calls `previewSave` and, when it compares, `get`; nothing else."""

    def __init__(
        self, run: Run, register: Register, *, compare: bool, decide: Callable[[Seen], None] = lambda _: None
    ) -> None:
        """`decide` is told of each instance before those that depend on it have their turn."""
        self._run = run
        self._register = register
        self._compare = compare
        self._decide = decide
        self._answers = Answers(run)
        self._providers: dict[str, ProviderRecord] = {}
        self.seen: dict[str, Seen] = {}

    async def perform(self, key: str) -> bool:
        """Preview one instance. True, so that what depends on it has its turn: it sees unknown values at worst."""
        seen = self.seen[key] = Seen(self._run.prepared[key])
        known = [item.fault for item in self._run.faults if item.symbolic_name == key]
        if known:  # more about it would be said of properties that the template does not mean
            seen.reason, seen.identifiers = reason_of(known), seen.prepared.identifiers
            self._register.claim_symbol(key)
        else:
            await self._see(seen)
        self._decide(seen)
        return True

    async def _see(self, seen: Seen) -> None:
        prepared = seen.prepared
        try:
            properties = self._run.properties(prepared)
            config = self._run.config(prepared.instance.decl.import_alias)
        except TemplateError as error:
            self._fault(seen, *error.faults)
            return
        if is_unknown(properties) or has_unknown(config):  # a name in them may hang on what is not known
            seen.reason = CONFIG_UNKNOWN if has_unknown(config) else "not previewable: a property's name is unknown"
            self._register.claim_symbol(prepared.instance.key)
            return
        try:
            session = await self._run.pool.session(self._run.wanted(prepared.instance.decl.import_alias))
        except ExtensorError as error:
            fault = start_fault(self._run, prepared.instance.decl.import_alias, error)
            if all(item.fault != fault for item in self._run.faults):
                self._run.faults.append(ResourceFault(None, fault))
            seen.reason = _why_not_started(fault)
            self._register.claim_symbol(prepared.instance.key)
            return
        if prepared.instance.decl.import_alias in self._run.late:
            await learn_types(self._run, prepared.instance.decl.import_alias, session)
        declared = self._run.scope.template.imports[prepared.instance.decl.import_alias]
        imported = Import(declared.provider, declared.version, config)
        seen.identifiers = known_identifiers(prepared.shape, properties)
        prepared.identifiers = seen.identifiers
        self._run.learn(prepared, properties)
        if secret := self._run.secret_identifiers(prepared):
            seen.identifiers = prepared.identifiers = None
            self._fault(seen, *secret)
            self._register.claim_symbol(prepared.instance.key)
            return
        if prepared.instance.existing:
            await self._read(seen, properties, imported, session)
        else:
            await self._preview(seen, properties, imported, session)

    async def _read(self, seen: Seen, properties: JsonObject, imported: Import, session: Session) -> None:
        prepared = seen.prepared
        if has_unknown(properties):
            seen.reason = "its identifiers are not known until the deployment runs"
            return
        if seen.identifiers is not None:
            self._register.claim_unrecorded(
                imported.provider, prepared.instance.type, seen.identifiers, prepared.instance.key
            )
        answer = await self._run.caller.call(
            session, Verb.GET, imported, prepared.ref(), properties, expected=self._may_be_made_first(prepared)
        )
        if not isinstance(answer, Failed):
            seen.identifiers = answer.identifiers or seen.identifiers
            seen.before, seen.looked = answer.properties, True
            self._run.learn_answer(prepared, answer.properties)
            self._run.references.tell(prepared.instance.key, answer.properties)
        elif is_absent(answer) and self._waits_for_change(prepared):
            seen.reason = "it is not there yet; the deployment may make it"
        else:
            self._fault(seen, *answer.faults)

    async def _preview(self, seen: Seen, properties: JsonObject, imported: Import, session: Session) -> None:
        prepared, run = seen.prepared, self._run
        provider = self._provider(prepared.instance.decl.import_alias)
        seen.record = self._register.find(prepared.instance.key, prepared.instance.type, provider, seen.identifiers)
        if seen.record is not None:
            self._register.claim(seen.record)
            prepared.remember(seen.record)
        config_id = seen.record.config_id if seen.record is not None else None
        imported = Import(imported.provider, imported.version, imported.config, config_id)
        if self._compare and not await self._look(seen, properties, imported, session):
            return
        answer = await run.caller.call(
            session, Verb.PREVIEW_SAVE, imported, prepared.ref(), properties, expected=_is_not_previewable
        )
        if not isinstance(answer, Failed):
            self._run.learn_answer(prepared, answer.properties)
            if (fault := self._answers.duplicate(prepared, answer)) is not None:
                self._fault(seen, fault)
                return
            seen.after = answer
            if seen.record is None and seen.identifiers is not None:
                self._register.claim_unrecorded(
                    imported.provider,
                    prepared.instance.type,
                    seen.identifiers,
                    prepared.instance.key,
                    answer.config_id or seen.config_id,
                    absent=seen.looked and seen.before is None,
                )
            run.references.tell(prepared.instance.key, told(answer, prepared, seen.before))
        elif _is_not_previewable(answer):
            seen.reason = reason_of(answer.faults)
        else:
            self._fault(seen, *answer.faults)

    async def _look(self, seen: Seen, properties: JsonObject, imported: Import, session: Session) -> bool:
        """See what is there now. False when that failed for another reason than absence.

        Where no type tells which properties are identifiers, a `get` is given all of them: it ignores the others.
        """
        identifiers = seen.identifiers
        if seen.prepared.shape is None and not has_unknown(properties):
            identifiers = properties
        if seen.record is not None and seen.record.identifiers and not seen.record.surely_absent:
            identifiers = seen.record.identifiers  # the provider's own spelling, those it made up included
        if identifiers is None:
            return True
        prepared = seen.prepared
        ref = prepared.ref(None if identifiers is properties else identifiers)
        answer = await self._run.caller.call(session, Verb.GET, imported, ref, identifiers, expected=is_absent)
        if not isinstance(answer, Failed):
            seen.before, seen.looked, seen.config_id = answer.properties, True, answer.config_id
            self._run.learn_answer(prepared, answer.properties)
            seen.identifiers = answer.identifiers or seen.identifiers
            return True
        if is_absent(answer):
            seen.looked = True
            return True
        if answer.code == ErrorCode.OPERATION_NOT_SUPPORTED:
            return True
        self._fault(seen, *answer.faults)
        return False

    def unchanged(self, seen: Seen) -> None:
        """Tell those that refer to an instance what is really there, since a deployment will not change it."""
        if seen.before is not None:
            self._run.references.tell(seen.prepared.instance.key, seen.before)

    def _provider(self, alias: str) -> ProviderRecord:
        if alias not in self._providers:
            self._providers[alias] = recorded_provider(self._run, alias)
        return self._providers[alias]

    def _may_be_made_first(self, prepared: Prepared) -> Callable[[Failed], bool]:
        return lambda failed: is_absent(failed) and self._waits_for_change(prepared)

    def _waits_for_change(self, prepared: Prepared) -> bool:
        """Whether something that is going to be saved comes before it."""
        waiting = list(self._run.graph.depends_on[prepared.instance.key])
        for key in waiting:
            if not self._run.prepared[key].instance.existing:
                return True
            waiting.extend(one for one in self._run.graph.depends_on[key] if one not in waiting)
        return False

    def _fault(self, seen: Seen, *faults: Fault) -> None:
        placed = self._run.placed(seen.prepared, *faults)
        self._run.faults.extend(ResourceFault(seen.prepared.instance.key, fault) for fault in placed)
        seen.reason = reason_of(placed)


def told(answer: ResourceResult, prepared: Prepared, before: JsonObject | None = None) -> JsonObject | Unknown:
    """What a preview lets others refer to: what it shows as known, and an unknown for all it cannot tell.

    What a provider sets once and never changes is known from `before`, what is there now, once it is there. Without a
    type nobody knows which properties a preview leaves out, so that all of it is unknown.
    """
    if prepared.shape is None or answer.properties is None:
        return Unknown()
    shown: JsonObject = dict(answer.properties)
    name = prepared.instance.key
    for path in prepared.shape.read_only:
        _veil(shown, path, name, only_missing=True)
    for path in prepared.shape.calculated:
        _veil(shown, path, name)
    if answer.metadata is not None:
        for text in (*answer.metadata.unknown, *answer.metadata.calculated):
            try:
                _veil(shown, parse_path(text)[1:], name)
            except ValueError:
                return Unknown()
    for path in _lasting(prepared.shape) if before is not None else ():
        _keep(shown, before, path)
    return shown


def _lasting(shape: Shape) -> list[Path]:
    """Read-only properties that stay as they were first: immutable ones and identifiers."""
    return [path for path in shape.read_only if path in shape.immutable or path in shape.identifiers]


def _keep(shown: JsonObject, before: Json, path: Path) -> None:
    """Put what is there now where nothing, or an unknown, is shown."""
    for part in path:
        before = before.get(str(part)) if isinstance(before, dict) else None
    if before is None:
        return
    body = shown
    *above, last = path
    for part in above:
        inner = body.get(str(part))
        if not isinstance(inner, dict):
            return
        body[str(part)] = body = dict(inner)
    if body.get(str(last)) is None or type(body.get(str(last))) is Unknown:
        body[str(last)] = before


def _veil(shown: JsonObject, path: Path, name: str, *, only_missing: bool = False) -> None:
    """Put an unknown at a path, copying what lies above it; with `only_missing` only where there is no value."""
    body = shown
    *above, last = path
    for part in above:
        inner = body.get(str(part)) if isinstance(body, dict) else None
        if not isinstance(inner, dict):
            return
        inner = dict(inner)
        body[str(part)] = inner
        body = inner
    if not isinstance(last, str) or (only_missing and body.get(last) is not None):
        return
    body[last] = Unknown(expression_of(name, path))


def _is_not_previewable(failed: Failed) -> bool:
    return failed.code in (ErrorCode.PREVIEW_NOT_SUPPORTED, ErrorCode.OPERATION_NOT_SUPPORTED)


def _why_not_started(fault: Fault) -> str:
    cause = (fault.message.splitlines() or [""])[0].partition(";")[0]
    return f"{NOT_STARTED}: {cause}" if cause else NOT_STARTED
