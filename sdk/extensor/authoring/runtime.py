"""What serves the verbs of one provider's types, whatever the connection."""

import threading

from extensor.authoring.call import Call, CallLine, Config
from extensor.authoring.facts import TypeFacts
from extensor.authoring.loop import must_pass, poster
from extensor.authoring.operation import Caller
from extensor.authoring.provider import Provider
from extensor.authoring.watchdog import Watchdog
from extensor.contract.codes import ErrorCode
from extensor.contract.data import ResourceData
from extensor.contract.names import TypeName
from extensor.contract.result import ResourceResult
from extensor.contract.verbs import Verb
from extensor.errors import OperationFailed, Unavailable
from extensor.rpc.runtime import current_runtime

MOST_SPELLINGS = 1024
"""As many ways to ask for types are remembered."""


class ProviderRuntime:
    """Serves the four verbs of one provider's types to any connection. Made inside the event loop it serves on."""

    def __init__(self, provider: Provider, watchdog: Watchdog | None = None) -> None:
        self.provider = provider
        self._watchdog = watchdog
        self._thread = threading.get_ident()
        self.caller = Caller(current_runtime(), poster())
        self.closing = False
        """Whether calls are refused from now on."""
        self._running: set[Call] = set()
        self.last_config: Config | None = None
        """The configuration last seen: hosts send the same with every call."""
        self._facts: dict[str, TypeFacts] = {}
        self.admitted: dict[tuple[str, str, str], TypeFacts] = {}
        """What was asked for before and is ours: provider, version and type, as hosts spell them."""

    async def call(self, verb: Verb, data: ResourceData, line: CallLine, text: bytes | None = None) -> ResourceResult:
        """Serve one call. Raises `OperationFailed` and nothing else but cancellation; all it says is masked.

        `text` is the message that the data come from, if they do: what it shows to be absent is not looked for.
        """
        if self.closing:
            raise Unavailable("the provider is shutting down")
        call = Call(self, verb, data, line, text)
        self._running.add(call)
        if self._watchdog is not None:
            self._watchdog.enter()
        try:
            return await call.run()
        except BaseException as error:
            if must_pass(error):
                raise
            raise call.failed(error) from None
        finally:
            self._running.discard(call)
            if self._watchdog is not None:
                self._watchdog.leave()

    def drain_seconds(self, otherwise: float) -> float:
        """How long what runs may still take: until its deadlines, `otherwise` where there are none."""
        return max((call.seconds_left(otherwise) for call in self._running), default=otherwise)

    def on_loop_thread(self) -> bool:
        """Whether this is the thread of the event loop that serves."""
        return threading.get_ident() == self._thread

    def admit(self, asked: tuple[str, str, str], facts: TypeFacts) -> None:
        """Remember in `admitted`; hosts spell their wishes in few ways, and a hostile one gets no more room."""
        if len(self.admitted) >= MOST_SPELLINGS:
            self.admitted.clear()
        self.admitted[asked] = facts

    def facts(self, type_name: str) -> TypeFacts:
        """What is known of a type. Raises `OperationFailed` with the code ``UnknownResourceType``."""
        facts = self._facts.get(type_name)
        if facts is not None:
            return facts
        try:
            key = TypeName.parse(type_name).key
        except ValueError as error:
            raise OperationFailed(str(error), code=ErrorCode.INVALID_REQUEST, path="$.type") from None
        registration = self.provider.resources.get(key)
        if registration is None:
            self.provider.types.resource(type_name)  # raises, and names what is near
            raise OperationFailed(f"there is no type {type_name}", code=ErrorCode.UNKNOWN_RESOURCE_TYPE, path="$.type")
        facts = self._facts.get(key)
        if facts is None:
            facts = self._facts[key] = self._facts[str(registration.name)] = TypeFacts(self.provider, registration)
        return facts
