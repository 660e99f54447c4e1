"""The author's file, `conformance.toml`: the few things that generation cannot guess."""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path as FilePath

from extensor.contract import Json, JsonObject, parse_path
from extensor.contract.paths import Path


class FixtureError(ValueError):
    """The file cannot be used; the text names the place and what is expected there."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A failure that is expected, for a reason and until a day."""

    check: str
    reason: str
    type: str | None = None
    path: str | None = None
    """JSONPath, or a prefix of one; a problem at it or below it is waived."""
    until: date | None = None

    @property
    def expired(self) -> bool:
        """Whether its day has passed."""
        from datetime import UTC, datetime

        return self.until is not None and datetime.now(UTC).date() > self.until


@dataclass(frozen=True, slots=True)
class TypeFixture:
    """What the file says about one type."""

    overrides: Mapping[Path, JsonObject] = field(default_factory=dict[Path, JsonObject])
    """Path below the properties to ``{"pattern": …}``, ``{"choose": [...]}``, ``{"value": …}``, ``{"min": …, "max":
    …}`` or ``{"omit": true}``; ``"present": true`` beside any of them but the last, or alone."""
    identity: tuple[Path, ...] = ()
    """Identifier properties, when the schema does not mark them."""
    consistency_window: float = 0.0
    """Seconds after a change in which reads may still show what was before."""
    ephemeral: bool = False
    """Objects live as long as the process."""
    random: tuple[Path, ...] = ()
    """Paths whose values differ each time by design."""
    unordered: tuple[Path, ...] = ()
    """Arrays that are sets."""
    slow: JsonObject | None = None
    """Property values that make a save take long."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """The whole file; empty when there is none."""

    command: tuple[str, ...] = ()
    address: str | None = None
    cwd: FilePath | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    config: JsonObject = field(default_factory=dict[str, Json])
    secrets: tuple[str, ...] = ()
    """Values that must never leave the kit: everything from the environment and everything marked secret."""
    secret_config: tuple[Path, ...] = ()
    """Paths below the config whose values are secret."""
    types: Mapping[str, TypeFixture] = field(default_factory=dict[str, TypeFixture])
    waivers: tuple[Waiver, ...] = ()
    probe: tuple[str, ...] = ()
    faults: JsonObject = field(default_factory=dict[str, Json])
    """The table ``[faults]``: ``hook``, ``proxy``, ``triggers``."""
    source: FilePath | None = None
    digest: str = ""
    """SHA-256 of the file's bytes, in hexadecimal; empty when there is none."""

    def for_type(self, name: str) -> TypeFixture:
        """What it says about a type: by ``name@version``, or by the name alone; without case."""
        stem = name.rpartition("@")[0].lower()
        for key, found in self.types.items():
            if key.lower() in (name.lower(), stem):
                return found
        return TypeFixture()


def load_fixture(path: FilePath | None, environ: Mapping[str, str] = os.environ) -> Fixture:
    """Read the file; the empty fixture for ``None``. Raises `FixtureError`."""
    if path is None:
        return Fixture()
    try:
        raw = path.read_bytes()
        data = tomllib.loads(raw.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FixtureError(f"{path}: {error}") from error
    return _Reader(path, environ).read(data, hashlib.sha256(raw).hexdigest())


def read_place(text: str, where: str) -> Path:
    """A place below properties or config: ``/spec/name``, ``$.spec.name`` or ``$.properties.spec.name``."""
    if text.startswith("/"):
        parts = [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]
        return tuple(int(part) if part.isdigit() else part for part in parts)
    try:
        path = parse_path(text)
    except ValueError as error:
        raise FixtureError(f"{where}: {error}") from None
    return path[1:] if path[:1] == ("properties",) else path


class _Reader:
    def __init__(self, path: FilePath, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._secrets: list[str] = []
        self._secret_paths: list[Path] = []

    def read(self, data: JsonObject, digest: str) -> Fixture:
        self._known("", data, {"provider", "config", "types", "waive", "probe", "faults"})
        provider = self._table(data, "provider")
        self._known("provider", provider, {"command", "address", "cwd", "env"})
        config = self._config(self._table(data, "config"), ())
        types: dict[str, TypeFixture] = {}
        waivers = [self._waiver(item, "waive", None) for item in self._list(data, "waive", "waive")]
        for name, table in self._table(data, "types").items():
            where = f'types."{name}"'
            types[name] = self._type(table, where)
            waivers += [self._waiver(item, where, name) for item in self._list(table, "waive", where)]
        probe = self._table(data, "probe")
        cwd = provider.get("cwd")
        env = {name: self._text(value, f"provider.env.{name}") for name, value in self._table(provider, "env").items()}
        return Fixture(
            command=self._words(provider.get("command"), "provider.command"),
            address=provider.get("address"),
            cwd=(self._path.parent / cwd).resolve() if isinstance(cwd, str) else None,
            env=env,
            config=config,
            secrets=tuple(self._secrets),
            secret_config=tuple(self._secret_paths),
            types=types,
            waivers=tuple(waivers),
            probe=tuple(self._beside(word) for word in self._words(probe.get("command"), "probe.command")),
            faults=self._table(data, "faults"),
            source=self._path,
            digest=digest,
        )

    def _beside(self, word: str) -> str:
        """A word that names a file beside this one as that file's full path: the probe runs where the provider does."""
        found = self._path.parent / word
        return str(found.resolve()) if found.is_file() else word

    def _type(self, table: Json, where: str) -> TypeFixture:
        if not isinstance(table, dict):
            raise self._error(where, "expected a table")
        self._known(
            where,
            table,
            {
                "overrides",
                "identity",
                "consistency_window",
                "ephemeral",
                "random",
                "unordered",
                "slow",
                "waive",
            },
        )
        overrides: dict[Path, JsonObject] = {}
        for place, rule in self._table(table, "overrides").items():
            inner = f"{where}.overrides.{place!r}"
            self._known(inner, rule, {"pattern", "choose", "value", "min", "max", "omit", "present"})
            if rule.get("omit") is True and rule.get("present") is True:
                raise self._error(inner, "a property cannot be both left out and always given")
            overrides[self._place(place, inner)] = rule

        def places(name: str) -> tuple[Path, ...]:
            return tuple(
                self._place(item, f"{where}.{name}") for item in self._words(table.get(name), f"{where}.{name}")
            )

        return TypeFixture(
            overrides,
            places("identity"),
            self._seconds(table.get("consistency_window", 0), f"{where}.consistency_window"),
            table.get("ephemeral") is True,
            places("random"),
            places("unordered"),
            table.get("slow"),
        )

    def _waiver(self, item: Json, where: str, type_: str | None) -> Waiver:
        if not isinstance(item, dict):
            raise self._error(where, "a waiver is a table with check and reason")
        self._known(f"{where}: a waiver", item, {"check", "path", "reason", "until", "type"})
        for name in ("check", "reason"):
            if not isinstance(item.get(name), str) or not item[name]:
                raise self._error(where, f"a waiver needs {name}")
        until = item.get("until")
        if isinstance(until, str):
            try:
                until = date.fromisoformat(until)
            except ValueError:
                raise self._error(where, f"until is a date like 2027-01-01, not {until!r}") from None
        elif until is not None and not isinstance(until, date):
            raise self._error(where, "until is a date like 2027-01-01")
        path = item.get("path")
        place = _waived_path(self._place(path, where)) if isinstance(path, str) else None
        return Waiver(item["check"], item["reason"], type_ or item.get("type"), place, until)

    def _config(self, table: JsonObject, path: Path) -> JsonObject:
        return {key: self._config_value(value, (*path, key)) for key, value in table.items()}

    def _config_value(self, value: Json, path: Path) -> Json:
        if isinstance(value, dict):
            if "env" in value and set(value) <= {"env", "secret"}:
                return self._from_environment(value, path)
            if "value" in value and set(value) <= {"value", "secret"}:
                if value.get("secret") is True:
                    self._secret(value["value"], path)
                return value["value"]
            return self._config(value, path)
        if isinstance(value, list):
            return [self._config_value(item, (*path, index)) for index, item in enumerate(value)]
        return value

    def _from_environment(self, value: JsonObject, path: Path) -> str:
        name = str(value["env"])
        found = self._environ.get(name)
        if found is None:
            raise self._error(f"config.{'.'.join(map(str, path))}", f"the environment has no {name}")
        if value.get("secret", True) is not False:
            self._secret(found, path)
        return found

    def _secret(self, value: Json, path: Path) -> None:
        self._secrets.append(str(value))
        self._secret_paths.append(path)

    def _place(self, text: str, where: str) -> Path:
        try:
            return read_place(text, where)
        except FixtureError as error:
            raise FixtureError(f"{self._path}: {error}") from None

    def _error(self, where: str, what: str) -> FixtureError:
        return FixtureError(f"{self._path}: {where}: {what}" if where else f"{self._path}: {what}")

    def _known(self, where: str, table: Json, names: set[str]) -> None:
        if not isinstance(table, dict):
            raise self._error(where, "expected a table")
        for name in table:
            if name not in names:
                raise self._error(where, f"{name!r} means nothing here; known are {', '.join(sorted(names))}")

    def _table(self, data: JsonObject, name: str) -> JsonObject:
        found = data.get(name, {})
        if not isinstance(found, dict):
            raise self._error(name, "expected a table")
        return found

    def _list(self, data: Json, name: str, where: str) -> list[Json]:
        found = data.get(name, []) if isinstance(data, dict) else []
        if not isinstance(found, list):
            raise self._error(where, f"{name} is a list")
        return found

    def _text(self, value: Json, where: str) -> str:
        if isinstance(value, dict) and set(value) <= {"env", "secret"} and "env" in value:
            found = self._environ.get(str(value["env"]))
            if found is None:
                raise self._error(where, f"the environment has no {value['env']}")
            self._secrets.append(found)
            return found
        if not isinstance(value, str):
            raise self._error(where, "expected a text")
        return value

    def _words(self, value: Json, where: str) -> tuple[str, ...]:
        if value is None:
            return ()
        if isinstance(value, str):
            import shlex

            return tuple(shlex.split(value))
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(where, "expected a list of texts")
        return tuple(value)

    def _seconds(self, value: Json, where: str) -> float:
        text = str(value).strip()
        for unit, factor in (("ms", 0.001), ("min", 60.0), ("s", 1.0), ("", 1.0)):
            if text.endswith(unit):
                try:
                    return float(text.removesuffix(unit)) * factor
                except ValueError:
                    break
        raise self._error(where, f"expected seconds such as 2 or '500ms', not {value!r}")


def _waived_path(place: Path) -> str:
    from extensor.contract import format_path

    return format_path(("properties", *place))
