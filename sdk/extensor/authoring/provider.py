"""The object an author makes: a name, a version, and the handlers of its types."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from extensor.authoring.handler import ResourceHandler, own_verbs, require_spelled_verbs
from extensor.authoring.operation import Operation
from extensor.authoring.properties import Properties
from extensor.contract.names import TypeName
from extensor.contract.verbs import Verb

if TYPE_CHECKING:
    from extensor.types.index import TypeIndex

H = TypeVar("H", bound=ResourceHandler[Any, Any])
ConfigId = Callable[[Any], str | None]


class Registration:
    """A type and who handles it. A handler class is made an object of, without arguments, when it is first needed."""

    def __init__(self, name: TypeName, handler: ResourceHandler[Any, Any] | type[ResourceHandler[Any, Any]]) -> None:
        self.name = name
        self.key = name.key
        """What spellings of the type's name share."""
        self._given = handler
        self.handler_class = handler if isinstance(handler, type) else type(handler)
        self.verbs = own_verbs(self.handler_class)

    @property
    def model(self) -> type[Properties]:
        """The properties' model."""
        return self.handler_class.properties_model

    @cached_property
    def operations(self) -> Mapping[Verb, Operation]:
        """The verbs that the handler defines, ready to be called."""
        handler = self._given() if isinstance(self._given, type) else self._given
        return {
            verb: Operation(getattr(handler, verb.value), f"{self.handler_class.__name__}.{verb}")
            for verb in self.verbs
        }

    @cached_property
    def offered(self) -> list[Verb]:
        """The verbs that are answered, the default preview included, in the contract's order."""
        previews = self.verbs | {Verb.PREVIEW_SAVE} if Verb.SAVE in self.verbs else self.verbs - {Verb.PREVIEW_SAVE}
        return [verb for verb in Verb if verb in previews]


class Provider:
    """A provider of resource types. Two of them in one process know nothing of each other.

    `version` is the provider's own, by Semantic Versioning: it serves requests for the same major version that ask
    for it or an earlier one. `config` is the model of the configuration block. `config_id` names the control plane
    that a configuration leads to, a digest of its address and identity and never of a secret; a host that sends back
    another one is refused before anything is touched.
    """

    def __init__(
        self, name: str, version: str, *, config: type[BaseModel] | None = None, config_id: ConfigId | None = None
    ) -> None:
        if not name or not version:
            raise ValueError("a provider needs a name and a version")
        self.name = name
        self.version = version
        self.config = config
        self.config_id = config_id
        self._registered: dict[str, Registration] = {}

    def resource(self, type_name: str) -> Callable[[type[H]], type[H]]:
        """Register a handler class for a type, ``@provider.resource("note@1.0")``; see `add`."""

        def register(handler: type[H]) -> type[H]:
            self.add(type_name, handler)
            return handler

        return register

    def add(self, type_name: str, handler: ResourceHandler[Any, Any] | type[ResourceHandler[Any, Any]]) -> None:
        """Register a handler, or a handler class to be made without arguments when it is first needed.

        Raises `ValueError` for a name that is none or is taken, `TypeError` for a handler without properties or
        verbs, with another configuration than the provider's, or with a method that looks like a misspelt verb.
        """
        name = TypeName.parse(type_name)
        if name.provider is not None and name.provider.lower() != self.name.lower():
            raise ValueError(f"type {type_name!r} names the provider {name.provider!r}, this one is {self.name!r}")
        kind = handler if isinstance(handler, type) else type(handler)
        if getattr(kind, "properties_model", None) is None:
            raise TypeError(
                f"{kind.__name__} does not say its properties; derive it from ResourceHandler[YourProperties]"
            )
        if kind.config_model is not None and (self.config is None or not issubclass(self.config, kind.config_model)):
            own = self.config.__name__ if self.config else "no configuration"
            raise TypeError(
                f"{kind.__name__} expects the configuration {kind.config_model.__name__}, "
                f"provider {self.name} has {own}"
            )
        require_spelled_verbs(kind)
        if not own_verbs(kind):
            raise TypeError(f"{kind.__name__} defines none of save, preview_save, get and delete")
        name = TypeName(name.name, name.version)
        if name.key in self._registered:
            raise ValueError(f"type {name} has a handler already: {self._registered[name.key].handler_class.__name__}")
        self._registered[name.key] = Registration(name, handler)
        self.__dict__.pop("types", None)

    @property
    def resources(self) -> Mapping[str, Registration]:
        """The registered types by `TypeName.key`."""
        return MappingProxyType(self._registered)

    @cached_property
    def types(self) -> "TypeIndex":
        """The types as bicep-types. Raises `TypesError` for a model that has no counterpart there."""
        from extensor.types.models import index_of

        items = self._registered.values()
        return index_of(
            self.name,
            self.version,
            {str(item.name): item.model for item in items},
            self.config,
            without_get=[str(item.name) for item in items if Verb.GET not in item.verbs],
            without_save=[str(item.name) for item in items if Verb.SAVE not in item.verbs],
        )

    def run(self, argv: Sequence[str] | None = None) -> None:
        """Serve, or do what the command line says; see `extensor.run`.

        What the module itself prints before this may reach the host, where it is reported as noise: a module that
        prints is better served by ``extensor.run("module:provider")``.
        """
        # `extensor.entry` knows the command line as well as the author's side, so it is above this room.
        import_module("extensor.entry").run(self, argv)
