"""From a template's imports to recorded providers, and from recorded providers back to ones that can be called."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from extensor.contract import Import, Json, JsonObject, decode_unknowns, encode_unknowns, find_unknowns
from extensor.engine.identity import canonical
from extensor.engine.prepare import Run
from extensor.engine.records import ProviderRecord
from extensor.engine.sessions import Wanted
from extensor.errors import StateError, TemplateError
from extensor.template import Scope, Template, parse_template

_PARAMETER = re.compile(r"\bparameters\(\s*'((?:[^']|'')+)'\s*\)", re.IGNORECASE)


def recorded_provider(run: Run, alias: str) -> ProviderRecord:
    """What to remember of an import: everything a later run needs to reach the same provider, and no secret."""
    wanted = run.wanted(alias)
    config = run.secretless.evaluate_config(alias)
    needed = {
        name.replace("''", "'")
        for _, unknown in find_unknowns(config)
        for name in _PARAMETER.findall(unknown.expression or "")
    }
    return ProviderRecord(
        0,
        wanted.provider,
        wanted.version,
        wanted.command,
        _relative(wanted.folder, run.request.state_dir),
        encode_unknowns(config),
        tuple(sorted(needed)),
        tuple(name for name in sorted(needed) if _has_default_value(run, name)),
    )


def _has_default_value(run: Run, name: str) -> bool:
    given = {one.lower() for one in run.request.parameters}
    return name.lower() not in given and name.lower() in literal_defaults(run.request.template)


def literal_defaults(template: Template) -> dict[str, Json]:
    """The defaults of secure parameters that say the value in so many words, by name in lower case."""
    return {
        parameter.name.lower(): parameter.default
        for parameter in template.parameters.values()
        if parameter.secure and parameter.has_default and _is_literal(parameter.default)
    }


def defaults_in(template_file: Path | None) -> dict[str, Json]:
    """The same of a template that is still there; none of one that is gone or is no template any more."""
    try:
        return {} if template_file is None else literal_defaults(parse_template(template_file.read_bytes()))
    except (OSError, TemplateError):
        return {}


def _is_literal(value: Json) -> bool:
    if isinstance(value, dict):
        return all(_is_literal(name) and _is_literal(item) for name, item in value.items())
    if isinstance(value, list):
        return all(map(_is_literal, value))
    return not (isinstance(value, str) and value.startswith("["))


class RecordedProviders:
    """Providers of a stack's records, ready to be called: their configuration is completed from given parameters."""

    def __init__(
        self,
        state_dir: Path,
        parameters: Mapping[str, Json],
        commands: Mapping[str, str],
        defaults: Mapping[str, Json] = MappingProxyType({}),
    ) -> None:
        """`defaults` are used for parameters that had their default when they were recorded; names in lower case."""
        self._state_dir = state_dir
        self._defaults = defaults
        self._parameters = {name.lower(): value for name, value in parameters.items()}
        self._commands = {name.lower(): command for name, command in commands.items()}
        self._configs: dict[int, JsonObject] = {}
        self._live: dict[tuple[str, str], JsonObject] = {}

    def know(self, record: ProviderRecord, config: JsonObject) -> None:
        """This is what a recorded configuration is in full, as a run that goes on knows it."""
        self._live[record.name.lower(), canonical(record.config)] = config

    def missing(self, record: ProviderRecord) -> list[str]:
        """The parameters that the provider's configuration needs and that are not given."""
        known = self._values(record)
        return [name for name in record.parameters if name.lower() not in known]

    def _values(self, record: ProviderRecord) -> dict[str, Json]:
        used = {name.lower() for name in record.defaults}
        return {name: value for name, value in self._defaults.items() if name in used} | self._parameters

    def wanted(self, record: ProviderRecord) -> Wanted:
        """Which provider it is and how it is started; a command given now goes before the recorded one."""
        command = self._commands.get(record.name.lower(), record.command)
        folder = Path(os.path.normpath(self._state_dir.absolute() / record.folder))
        return Wanted(record.name, record.name, record.version, command, folder)

    def imported(self, record: ProviderRecord, config_id: str | None) -> Import:
        """What goes with each call. Raises `TemplateError` for missing parameters, `StateError` for a bad record."""
        if record.id not in self._configs:
            self._configs[record.id] = self._config(record)
        return Import(record.name, record.version, self._configs[record.id], config_id)

    def _config(self, record: ProviderRecord) -> JsonObject:
        config = decode_unknowns(record.config)
        if not any(find_unknowns(config)):
            return config
        live = self._live.get((record.name.lower(), canonical(record.config)))
        if live is not None:
            return live
        if missing := self.missing(record):
            raise missing_parameters(record, missing)
        values = self._values(record)
        declared = {name: _declaration(values[name.lower()]) for name in record.parameters}
        template = parse_template({"parameters": declared, "resources": {}})
        scope = Scope(template, {name: values[name.lower()] for name in record.parameters})
        return _completed(config, scope, record)


def missing_parameters(record: ProviderRecord, names: list[str]) -> TemplateError:
    """The error for parameters whose values are secret, so that they were not recorded, and that are needed again."""
    listed = ", ".join(f"'{name}'" for name in names)
    return TemplateError(
        f"the configuration of provider {record.name} needs the secure parameter{'s'[: len(names) - 1]} {listed}; "
        "secrets are not recorded, so give them again",
        code="MissingParameter",
    )


def _completed(value: Json, scope: Scope, record: ProviderRecord) -> Json:
    found = next(find_unknowns(value), None)
    if found is None:
        return value
    if found[0] == () and found[1].expression is not None:
        completed = scope.evaluate(found[1].expression)
        if not any(find_unknowns(completed)):
            return completed
    elif isinstance(value, dict):
        return {name: _completed(item, scope, record) for name, item in value.items()}
    elif isinstance(value, list):
        return [_completed(item, scope, record) for item in value]
    source = f", {found[1].expression}" if found[1].expression else ""
    raise StateError(
        f"the configuration of provider {record.name} held a secret that is not recorded{source}; take the provider's "
        "resources out of the template and deploy it, which deletes them while the secret is known"
    )


def _declaration(value: Json) -> JsonObject:
    match value:
        case bool():
            kind = "bool"
        case int():
            kind = "int"
        case list():
            kind = "array"
        case dict():
            kind = "secureObject"
        case _:
            kind = "securestring"
    return {"type": kind}


def _relative(folder: Path, state_dir: Path) -> str:
    """Relative to the state folder, so that both can be moved together."""
    return os.path.relpath(folder, state_dir.absolute())
