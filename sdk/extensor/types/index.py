"""All types of one provider: what `index.json` says, with the types themselves behind it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from extensor.contract.codes import ErrorCode
from extensor.contract.names import TypeName
from extensor.errors import OperationFailed, TypesError
from extensor.types.model import (
    Body,
    NamespaceFunctionType,
    ResourceFunctionType,
    ResourceType,
    Settings,
)

V = TypeVar("V")
REMEMBERED = 64
"""How many names that only the fallback type answers are kept."""


class Lazily(Mapping[str, V]):
    """A mapping whose values are made when they are first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], V]]) -> None:
        self._makers = makers
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        try:
            return self._made[key]
        except KeyError:
            made = self._made[key] = self._makers[key]()
            return made

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class TypeIndex:
    """A provider's resource types by ``name@version``, its configuration type and its settings.

    An index that was read parses a types file when a type in it is first asked for; `check` reads everything.
    """

    def __init__(
        self,
        settings: Settings | None,
        resources: Mapping[str, ResourceType],
        *,
        config_type: Body | Callable[[], Body | None] | None = None,
        fallback: ResourceType | Callable[[], ResourceType | None] | None = None,
        namespace_functions: Callable[[], list[NamespaceFunctionType]] = list,
        resource_functions: Callable[[], dict[str, dict[str, list[ResourceFunctionType]]]] = dict,
    ) -> None:
        self.settings = settings
        self.resources = resources
        self._config_type = config_type
        self._fallback = fallback
        self._namespace_functions = namespace_functions
        self._resource_functions = resource_functions
        self._spelling: dict[str, str] | None = None
        self._stand_ins: dict[str, ResourceType] = {}

    @property
    def config_type(self) -> Body | None:
        """The type of the import's configuration; ``None`` when it takes none."""
        if callable(self._config_type):
            self._config_type = self._config_type()
        return self._config_type

    @property
    def fallback(self) -> ResourceType | None:
        """The type that stands for every name the index does not hold."""
        if callable(self._fallback):
            self._fallback = self._fallback()
        return self._fallback

    @property
    def namespace_functions(self) -> list[NamespaceFunctionType]:
        """The extension's own functions."""
        return self._namespace_functions()

    @property
    def resource_functions(self) -> dict[str, dict[str, list[ResourceFunctionType]]]:
        """Functions on Azure resource types, by type name and version."""
        return self._resource_functions()

    def resource(self, type_string: str) -> ResourceType:
        """The type of that name: names without case, versions exactly, a ``provider:`` prefix is passed over.

        Raises `OperationFailed` with the code ``UnknownResourceType``, naming what is near.
        """
        found = self.resources.get(type_string)
        if found is not None:
            return found
        try:
            asked = TypeName.parse(type_string)
        except ValueError as error:
            raise _unknown(str(error)) from None
        spelling = self._spelling
        if spelling is None:
            spelling = self._spelling = {_key(name): name for name in self.resources}
        name = spelling.get(asked.key)
        if name is not None:
            return self.resources[name]
        fallback = self.fallback
        if fallback is None:
            raise _unknown(f"there is no type {asked}{self._near(asked)}")
        stand_in = self._stand_ins.get(asked.key)
        if stand_in is None:
            stand_in = ResourceType(
                str(asked), fallback.body, fallback.readable_scopes, fallback.writable_scopes, fallback.functions
            )
            if len(self._stand_ins) < REMEMBERED:
                self._stand_ins[asked.key] = stand_in
        return stand_in

    def _near(self, asked: TypeName) -> str:
        from extensor.types.suggest import nearest

        versions = [name for name in self.resources if _key(name).rpartition("@")[0] == asked.name.lower()]
        if versions:
            return f"; there is {', '.join(versions[:5])}"
        near = nearest(str(asked), self.resources)
        return f"; did you mean {near}?" if near else ""

    def check(self) -> None:
        """Read everything. Raises `TypesError` for the first thing that is broken, with file and position."""
        for name in self.resources:
            _ = self.resources[name]
        _ = self.config_type, self.fallback, self.namespace_functions, self.resource_functions

    def write(self) -> tuple[str, dict[str, str]]:
        """The text of `index.json`, and of each types file by path: one, ``types.json``. Same index, same bytes."""
        from extensor.types.writer import write_index

        return write_index(self)

    @classmethod
    def read(cls, index_text: str, file_reader: Callable[[str], str]) -> "TypeIndex":
        """From the text of `index.json` and a function that gives a types file's text by its path.

        Raises `TypesError`, also later, when a type is asked for that is broken; see `check`.
        """
        from extensor.types.reader import read_index

        return read_index(index_text, file_reader)

    @classmethod
    def from_files(cls, index_text: str, files: Mapping[str, str]) -> "TypeIndex":
        """From texts, as `provider/getTypeFiles` answers them."""

        def read(path: str) -> str:
            if path not in files:
                raise TypesError(f"{path}: the index refers to this file and it is not among the type files")
            return files[path]

        return cls.read(index_text, read)

    @classmethod
    def read_directory(cls, path: Path) -> "TypeIndex":
        """From a folder with an `index.json`. Files outside the folder are refused."""

        def text(file: Path, name: str) -> str:
            try:
                return file.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise TypesError(f"{name}: cannot be read: {error}") from error

        def read(name: str) -> str:
            file = (path / name).resolve()
            if not file.is_relative_to(path.resolve()):
                raise TypesError(f"{name}: lies outside the folder of the index")
            return text(file, name)

        return cls.read(text(path / "index.json", "index.json"), read)


def _key(name: str) -> str:
    stem, at, version = name.rpartition("@")
    return f"{stem.lower()}{at}{version}"


def _unknown(message: str) -> OperationFailed:
    return OperationFailed(message, code=ErrorCode.UNKNOWN_RESOURCE_TYPE, path="$.type")


__all__ = ["Lazily", "TypeIndex"]
