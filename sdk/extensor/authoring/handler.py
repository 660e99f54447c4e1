"""The class an author writes for each resource type."""

from collections.abc import Awaitable
from typing import Any, ClassVar, Generic, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import TypeVar

from extensor.authoring.context import Context, SaveContext
from extensor.authoring.preview import Preview
from extensor.authoring.properties import Properties
from extensor.contract.codes import ErrorCode
from extensor.contract.verbs import Verb
from extensor.errors import OperationFailed

P = TypeVar("P", bound=Properties)
C = TypeVar("C", bound=BaseModel | None, default=None)


class ResourceHandler(Generic[P, C]):
    """Four verbs over one resource type: ``class NoteHandler(ResourceHandler[Note])`` or ``ResourceHandler[Note,
    Config]``.

    Define the verbs the type has; each may be ``async def`` or a plain function, which runs in a worker thread. One
    object of the class serves all calls, several at once: `save` and `delete` of one identity come one after the
    other, everything else in parallel. What arrives has been validated against the type; what is returned is
    validated before it leaves.

    Raise `OperationFailed` or one of its subclasses for what may go wrong; anything else becomes an internal error
    whose traceback goes to stderr and never to the host.
    """

    properties_model: ClassVar[type[Properties]]
    config_model: ClassVar[type[BaseModel] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is ResourceHandler:
                model, config = get_args(base)
                if isinstance(model, type) and issubclass(model, Properties):
                    cls.properties_model = model
                if isinstance(config, type) and issubclass(config, BaseModel):
                    cls.config_model = config

    def save(self, ctx: SaveContext[C], desired: P, /) -> P | Awaitable[P]:
        """Make it so, whether it exists or not, and return the whole resource as a following `get` would show it.

        Touch only the properties that were given: `Properties.over` does that. Called twice it does no more than
        once. When something was made before a later step fails, tell `SaveContext.record` as soon as it exists.
        """
        raise not_supported(Verb.SAVE)

    def preview_save(self, ctx: Context[C], desired: P, /) -> P | Preview[P] | Awaitable[P | Preview[P]]:
        """Say what `save` would return, and change nothing. Fields of `desired` may be `Unknown`.

        Pass each unknown on as it is; what is shown as known must hold whatever the unknowns turn out to be. Without
        this method the preview is made from the type and the current state, by the rule of `Properties.over`.
        """
        raise not_supported(Verb.PREVIEW_SAVE)

    def get(self, ctx: Context[C], wanted: P, /) -> P | Awaitable[P | None] | None:
        """The resource as it is, or ``None``. Of `wanted` the identifier properties are set and no others."""
        raise not_supported(Verb.GET)

    def delete(self, ctx: SaveContext[C], wanted: P, /) -> Awaitable[None] | None:
        """Remove the resource; that it is not there is no failure. `wanted` is as in `get`."""
        raise not_supported(Verb.DELETE)


def not_supported(verb: Verb, type_name: str | None = None) -> OperationFailed:
    """The answer to a verb that a type does not have."""
    whose = f"{type_name} does" if type_name else "this type does"
    return OperationFailed(f"{whose} not support {verb.wire}", code=ErrorCode.OPERATION_NOT_SUPPORTED)


def own_verbs(handler: type[ResourceHandler[Any, Any]]) -> frozenset[Verb]:
    """The verbs that a handler class defines."""
    return frozenset(verb for verb in Verb if getattr(handler, verb.value) is not getattr(ResourceHandler, verb.value))


_ALSO_CALLED = {
    "create": Verb.SAVE,
    "update": Verb.SAVE,
    "createorupdate": Verb.SAVE,
    "upsert": Verb.SAVE,
    "put": Verb.SAVE,
    "apply": Verb.SAVE,
    "deploy": Verb.SAVE,
    "plan": Verb.PREVIEW_SAVE,
    "preview": Verb.PREVIEW_SAVE,
    "whatif": Verb.PREVIEW_SAVE,
    "read": Verb.GET,
    "fetch": Verb.GET,
    "refresh": Verb.GET,
    "remove": Verb.DELETE,
    "destroy": Verb.DELETE,
}
"""What others call the verbs, and a handler's method may be called by mistake."""


def require_spelled_verbs(handler: type[ResourceHandler[Any, Any]]) -> None:
    """Raise `TypeError` for a public method that is meant for a verb and will never be called as one.

    That is a method with a name like a verb's that the class has not, and one that takes a context and has a name like
    any verb's, or another word for one that the class has not.
    """
    own = own_verbs(handler)
    for kind in handler.__mro__:
        if kind is ResourceHandler:
            return
        for name, member in vars(kind).items():
            if name.startswith("_") or name in _VERBS or not callable(member) or isinstance(member, type):
                continue
            takes_context = _takes_context(member)
            meant = _misspelt(name)
            if meant is None or (meant in own and not takes_context):
                meant = _ALSO_CALLED.get(name.replace("_", "").lower()) if takes_context else None
                if meant is None or meant in own:
                    continue
            raise TypeError(
                f"{handler.__name__}.{name} is no verb and would never be called: rename it to {meant.value}, "
                f"or to _{name} if it is a helper"
            )


_VERBS = frozenset(verb.value for verb in Verb)


def _misspelt(name: str) -> Verb | None:
    folded = name.replace("_", "").lower()
    for verb in Verb:
        word = verb.value.replace("_", "")
        if folded == word:  # previewSave, Save
            return verb
    from difflib import get_close_matches  # only for a handler with public methods of its own

    words = {verb.value.replace("_", ""): verb for verb in Verb}
    close = get_close_matches(folded[:40], words, 1, 0.8)
    return words[close[0]] if close else None


def _takes_context(member: Any) -> bool:
    code = getattr(member, "__code__", None)
    if code is None or code.co_argcount < 2:
        return False
    first = code.co_varnames[1]
    return first in ("ctx", "context") or "Context" in str(getattr(member, "__annotations__", {}).get(first, ""))
