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
