"""A template as data. Values are as they stand in the file, expressions unevaluated; `path` is the place in it."""

from dataclasses import dataclass, field
from typing import Literal

from extensor.contract.json import Json, JsonObject
from extensor.contract.paths import Path


@dataclass(frozen=True, slots=True)
class Schema:
    """The declared type of a parameter, an output or a user function's argument. `raw` is the declaration itself."""

    raw: JsonObject
    path: Path = ()

    @property
    def type(self) -> str | None:
        """string, securestring, int, bool, object, secureObject or array; ``None`` for any, or beside a ``$ref``."""
        return self.raw.get("type")

    @property
    def nullable(self) -> bool:
        """Whether null is a value of it."""
        return self.raw.get("nullable") is True


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter. `default` counts only if `has_default`; it may be an expression."""

    name: str
    schema: Schema
    has_default: bool
    default: Json
    secure: bool
    path: Path

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return not self.has_default and not self.schema.nullable


@dataclass(frozen=True, slots=True)
class ImportDecl:
    """A provider the template uses, from `imports` or `extensions`. `config` is unevaluated."""

    alias: str
    provider: str
    version: str
    config: JsonObject
    path: Path
    config_paths: dict[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class CopyDecl:
    """A loop. `count` is an integer or an expression; `batch_size` is how many run at once in serial mode."""

    name: str
    count: Json
    mode: Literal["parallel", "serial"] = "parallel"
    batch_size: int | None = None


@dataclass(frozen=True, slots=True)
class ResourceDecl:
    """A resource. `condition` is ``True`` where none is written; `depends_on` may hold expressions."""

    symbol: str
    import_alias: str
    type: str
    api_version: str | None
    existing: bool
    condition: Json
    copy: CopyDecl | None
    properties: JsonObject
    depends_on: tuple[str, ...]
    options: JsonObject
    path: Path

    @property
    def full_type(self) -> str:
        """``type@version``, or the bare type where the template names no version."""
        return f"{self.type}@{self.api_version}" if self.api_version else self.type


@dataclass(frozen=True, slots=True)
class Output:
    """An output; `copy` with `value` as the input of each iteration."""

    name: str
    schema: Schema
    value: Json
    condition: Json
    copy: CopyDecl | None
    secure: bool
    path: Path


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One argument of a user function."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function declared by the template, called as ``namespace.name(…)``."""

    namespace: str
    name: str
    parameters: tuple[FunctionParameter, ...]
    output: Schema
    value: Json
    path: Path


@dataclass(frozen=True, slots=True)
class Template:
    """A whole template. Dictionaries keep the order and the spelling of the file; look names up without letter case."""

    language_version: str | None
    parameters: dict[str, Parameter]
    variables: JsonObject
    variable_copies: dict[str, tuple[CopyDecl, Json, Path]]
    imports: dict[str, ImportDecl]
    resources: dict[str, ResourceDecl]
    outputs: dict[str, Output]
    functions: dict[str, UserFunction]
    definitions: dict[str, Schema]
    source: str | None = None
