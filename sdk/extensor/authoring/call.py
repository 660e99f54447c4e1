"""One call from its params to its result: checked, handed over, its answer checked."""

import time
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from extensor.authoring.answer import PROPERTIES, Answer
from extensor.authoring.boundary import failure_of
from extensor.authoring.context import Context, Line, SaveContext, cancel
from extensor.authoring.default_preview import (
    can_look,
    created,
    desired_of,
    over_current,
    require_identity,
    without_current,
)
from extensor.authoring.dump import dump
from extensor.authoring.facts import TypeFacts, without_nulls
from extensor.authoring.handler import not_supported
from extensor.authoring.loop import Elapsed, limit
from extensor.authoring.materialise import identify, materialise, validated
from extensor.authoring.properties import Properties
from extensor.authoring.unchanging import given_immutables, refuse_changes, refuse_respelling
from extensor.contract.codes import ErrorCode
from extensor.contract.data import Import, ResourceData
from extensor.contract.faults import Fault
from extensor.contract.json import Json, JsonObject
from extensor.contract.names import TypeName, serves
from extensor.contract.paths import Path, format_path
from extensor.contract.redaction import Redactor
from extensor.contract.result import ResourceResult
from extensor.contract.unknown import Unknown, find_unknowns, has_unknown, may_hold_markers
from extensor.contract.value import value
from extensor.contract.verbs import Verb
from extensor.errors import DeadlineExceeded, NotFound, OperationFailed
from extensor.types.shape import shape_of
from extensor.types.validate import Purpose, validate

if TYPE_CHECKING:
    from extensor.authoring.runtime import ProviderRuntime

CONFIG: Path = ("import", "config")
NO_SECRETS = Redactor()
_serves = lru_cache(maxsize=64)(serves)


class CallLine(Line, Protocol):
    """A `Line` that is told which values to mask."""

    redactor: Redactor


@value
class Config:
    """A configuration, validated, as the handler gets it."""

    text: str = ""
    """As it came; unlike ``==`` a text tells ``True`` from ``1``."""
    model: Any = None
    id: str | None = None
    secrets: Sequence[Json] = ()


NO_CONFIG = Config()
PURPOSES: dict[Verb, Purpose] = {
    Verb.SAVE: "save",
    Verb.PREVIEW_SAVE: "preview_save",
    Verb.GET: "get",
    Verb.DELETE: "delete",
}
"""What each verb's properties are checked for."""


class Call:
    """One call from its params to its result.

    `text` is the message that the data come from, where it is at hand: what it shows to be absent is not looked for.
    """

    def __init__(
        self,
        runtime: "ProviderRuntime",
        verb: Verb,
        data: ResourceData,
        line: CallLine,
        text: bytes | None = None,
    ) -> None:
        self._runtime = runtime
        self._provider = runtime.provider
        self._verb = verb
        self._data = data
        self._line = line
        self._arrived = time.monotonic()
        self._context: Context[Any] | None = None
        self._faults: list[Fault] = []
        self._may_hold_unknown = verb is Verb.PREVIEW_SAVE and (text is None or may_hold_markers(text))
        self.unknowns: tuple[Unknown, ...] = ()

    @property
    def title(self) -> str:
        """Type and verb, for the log."""
        return f"{self._data.type} {self._verb.wire}"

    @property
    def recorded(self) -> JsonObject | None:
        """What exists by the handler's own word."""
        return self._context.recorded if isinstance(self._context, SaveContext) else None

    def seconds_left(self, otherwise: float) -> float:
        """Until the call's deadline, `otherwise` when it has none."""
        left = None if self._context is None else self._context.seconds_left
        return otherwise if left is None else left

    def failed(self, error: BaseException) -> OperationFailed:
        """What the host is told of an exception."""
        return OperationFailed.of(
            failure_of(
                error,
                title=self.title,
                redactor=self._line.redactor,
                unknowns=self.unknowns,
                resource=self.recorded,
            )
        )

    async def run(self) -> ResourceResult:
        """Serve it. Raises whatever goes wrong; `failed` says what the host is told of that."""
        facts = self._admit()
        config = self._configure()
        properties = self._data.properties
        secrets = (*config.secrets, *facts.shape.secrets_in(properties))
        if secrets:
            self._mask(secrets)
        if self._may_hold_unknown:
            self.unknowns = tuple(item for _, item in find_unknowns([properties, self._data.imported.config]))
        purpose = PURPOSES[self._verb]
        if self._faults or not facts.surely_takes(properties, purpose):
            properties = facts.clean(properties)
            self._faults += validate(properties, facts.type, purpose=purpose)
            if self._faults:
                raise OperationFailed.many(self._faults)
        model = self._model(facts, properties)
        context = self._context = self._new_context(facts, config.model)
        try:
            if self._data.context.deadline_seconds is None:
                return await self._handle(facts, properties, model, context, config.id)
            return await self._bounded(facts, properties, model, context, config.id)
        except BaseException:
            cancel(context)
            raise

    def _admit(self) -> TypeFacts:
        """The type's facts, when provider, version, type and verb are ours."""
        imported = self._data.imported
        asked = (imported.provider, imported.version, self._data.type)
        facts = self._runtime.admitted.get(asked)
        if facts is None:
            facts = self._check_import(imported)
            self._runtime.admit(asked, facts)
        if self._verb not in facts.registration.offered:
            raise not_supported(self._verb, facts.name)
        return facts

    def _check_import(self, imported: Import) -> TypeFacts:
        own, faults = self._provider, self._faults
        if imported.provider.lower() != own.name.lower():
            message = f"this is provider {own.name}, the request is for {imported.provider}"
            faults.append(Fault(ErrorCode.INVALID_REQUEST, message, "$.import.provider"))
        if not _serves(own.version, imported.version):
            message = f"version {imported.version} was asked for, provider {own.name} is {own.version}"
            faults.append(Fault(ErrorCode.UNSUPPORTED_VERSION, message, "$.import.version"))
        facts: TypeFacts | None = None
        try:
            facts = self._runtime.facts(self._data.type)
        except OperationFailed as error:
            faults.extend(error.failure.faults)
        if facts is not None and ":" in self._data.type:
            prefix = TypeName.parse(self._data.type).provider
            if prefix is not None and prefix.lower() != own.name.lower():
                message = f"the type belongs to provider {prefix}, this is {own.name}"
                faults.append(Fault(ErrorCode.INVALID_REQUEST, message, "$.type"))
        if faults or facts is None:
            raise OperationFailed.many(faults)
        return facts

    def _configure(self) -> Config:
        """The configuration, validated; its faults are noted, not raised, unless nothing can go on without it."""
        raw, own = self._data.imported.config, self._provider
        if own.config is None and not raw:
            return NO_CONFIG
        preview = self._verb is Verb.PREVIEW_SAVE
        if own.config is None:
            self._faults.extend(
                Fault(
                    ErrorCode.UNKNOWN_PROPERTY,
                    f"provider {own.name} takes no configuration",
                    format_path((*CONFIG, name)),
                )
                for name in raw
            )
            return NO_CONFIG
        unknown = has_unknown(raw)
        last = self._runtime.last_config
        if last is not None and not unknown and last.text == repr(raw):
            config = last
        else:
            config = self._read_config(own.config, raw, preview, unknown)
            if not unknown:
                self._runtime.last_config = config
        asked = self._data.imported.config_id
        if asked is not None and config.id is not None and asked != config.id:
            message = "the configuration leads to another control plane than the one this resource was saved in"
            raise OperationFailed(message, code=ErrorCode.CONFIG_MISMATCH, path="$.import.configId")
        return config

    def _read_config(self, model: type[BaseModel], raw: JsonObject, preview: bool, unknown: bool) -> Config:
        config_type = self._provider.types.config_type
        secrets: Sequence[Json] = ()
        if config_type is not None:
            secrets = shape_of(config_type).secrets_in(raw)
            self._mask(secrets)
            faults = validate(raw, config_type, purpose="preview_config" if preview else "config", path=CONFIG)
            if faults:
                raise OperationFailed.many([*self._faults, *faults])
            raw_clean = without_nulls(raw, config_type)
        else:
            raw_clean = raw
        made = materialise(model, raw_clean, CONFIG)
        identify_plane = self._provider.config_id
        return Config(repr(raw), made, identify_plane(made) if identify_plane and not unknown else None, secrets)

    def _mask(self, secrets: Sequence[Json]) -> None:
        if not secrets:
            return
        if self._line.redactor is NO_SECRETS:
            self._line.redactor = Redactor()
        for secret in secrets:
            self._line.redactor.learn(secret)

    def _model(self, facts: TypeFacts, properties: JsonObject) -> Properties:
        model = facts.model
        if self._may_hold_unknown:
            return materialise(model, properties, PROPERTIES)
        if self._verb is Verb.SAVE or self._verb is Verb.PREVIEW_SAVE:
            return validated(model, properties, PROPERTIES)
        return identify(model, facts.shape.identifiers_of(properties), PROPERTIES)

    def _new_context(self, facts: TypeFacts, config: Any) -> Context[Any]:
        told = self._data.context
        kind: type[Context[Any]] = SaveContext if self._verb.mutates else Context
        return kind(
            config=config,
            line=self._line,
            type_name=facts.name,
            call=told,
            deadline=None if told.deadline_seconds is None else self._arrived + told.deadline_seconds,
        )

    async def _bounded(
        self, facts: TypeFacts, properties: JsonObject, model: Properties, context: Context[Any], config_id: str | None
    ) -> ResourceResult:
        try:
            async with limit(context.seconds_left or 0.0):
                return await self._handle(facts, properties, model, context, config_id)
        except Elapsed:
            cancel(context)
        message = (
            f"not done within {self._data.context.deadline_seconds:g} s; what it had begun may or may not have happened"
        )
        raise DeadlineExceeded(message)

    async def _handle(
        self, facts: TypeFacts, properties: JsonObject, model: Properties, context: Context[Any], config_id: str | None
    ) -> ResourceResult:
        verb, shape = self._verb, facts.shape
        answer = Answer(facts, properties, config_id)
        refuse_respelling(facts, model, properties)
        if verb is Verb.PREVIEW_SAVE and verb not in facts.registration.verbs:
            return await self._default_preview(facts, answer, model, context)
        guarded = facts.guards_immutables and (verb is Verb.SAVE or verb is Verb.PREVIEW_SAVE)
        before = partial(self._refuse_changes, facts, properties, model, context) if guarded else None
        identity = None
        if verb.mutates and (key := shape.key_of(properties)) is not None:
            identity = (facts.registration.key, key)
        try:
            returned = await self._runtime.caller.call(
                facts.registration.operations[verb], context, model, identity, before
            )
        except NotFound:
            if verb is not Verb.DELETE:
                raise
            returned = None
        if verb is Verb.DELETE:
            return answer.deleted()
        if verb is Verb.PREVIEW_SAVE:
            return answer.preview(returned)
        if returned is None and verb is Verb.GET:
            raise NotFound(f"there is no {facts.registration.name} with {shape.identity_of(properties)}")
        return answer.state(returned)

    async def _default_preview(
        self, facts: TypeFacts, answer: "Answer", model: Properties, context: Context[Any]
    ) -> ResourceResult:
        properties = answer.properties
        require_identity(facts, properties)
        desired = desired_of(model)
        if Verb.GET not in facts.registration.verbs:
            return answer.preview_of(without_current(facts, desired))
        found = await self._look(facts, properties, context)
        if found is None:
            return answer.preview_of(created(facts, desired))
        current = answer.state(found).properties or {}
        return answer.preview_of(over_current(facts, desired, current))

    async def _look(self, facts: TypeFacts, properties: JsonObject, context: Context[Any]) -> Any:
        """What the handler's `get` returns, ``None`` also when the request does not say of what."""
        if not can_look(facts, properties):
            return None
        wanted = identify(facts.model, facts.shape.identifiers_of(properties), PROPERTIES)
        try:
            return await self._runtime.caller.call(facts.registration.operations[Verb.GET], context, wanted)
        except NotFound:
            return None

    async def _refuse_changes(
        self, facts: TypeFacts, properties: JsonObject, model: Properties, context: Context[Any]
    ) -> None:
        """Hold immutable properties also where the handler does not (P-TYPE-04)."""
        given = given_immutables(facts, model)
        if given is None or has_unknown(facts.shape.identifiers_of(properties)):
            return
        found = await self._look(facts, properties, context)
        if isinstance(found, facts.model):
            refuse_changes(facts, given, dump(found))
