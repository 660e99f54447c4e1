"""From the words of a command line to the engine's request."""

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from extensor.cli.inputs import read_document, refuse_bicep
from extensor.cli.options import stack_name, state_dir
from extensor.cli.parameters import Declared, typed_values
from extensor.cli.trouble import Trouble
from extensor.contract.json import Json
from extensor.engine.results import DEFAULT_BUDGET_SECONDS, DEFAULT_PARALLELISM, DeploymentRequest
from extensor.errors import TemplateError
from extensor.template import check_parameters, load_parameters, parse_template
from extensor.template.schemas import resolve

if TYPE_CHECKING:
    from extensor.cli.console import Console
    from extensor.template import Template

_SECURE = {"securestring": "string", "secureobject": "object"}


def load_request(args: argparse.Namespace, console: "Console") -> DeploymentRequest:
    """Read the template and all parameters. Raises `Trouble` with every fault that no provider is needed for."""
    path: Path = args.template
    template = load_template(path)
    declared = declared_parameters(template)
    from_files = file_values(args.parameters)
    from_words, faults = typed_values(args.assignments, declared)
    unread = {fault.path for fault in faults}
    values = merged(from_files, from_words)
    faults += [fault for fault in check_parameters(template, values) if fault.path not in unread]
    if faults:
        raise Trouble(
            f"the parameters for {path} are not right; give them with -p NAME=VALUE or --parameters FILE", faults
        )
    known = {name for item in template.imports.values() for name in (item.alias, item.provider)}
    tell_unused(console, dict(args.providers), known)
    return DeploymentRequest(
        template=template,
        template_path=path,
        parameters=values,
        stack=args.stack or stack_name(path),
        state_dir=args.state or state_dir(path),
        providers=dict(args.providers),
        parallelism=args.parallelism or DEFAULT_PARALLELISM,
        budget_seconds=args.timeout or DEFAULT_BUDGET_SECONDS,
    )


def tell_unused(console: "Console", given: Iterable[str], known: Iterable[str]) -> None:
    """Say on stderr which names of ``--provider`` belong to nothing, and what may have been meant."""
    by_key = {name.lower(): name for name in known}
    for name in given:
        if name.lower() not in by_key:
            near = get_close_matches(name.lower(), by_key, n=1)
            there = ", ".join(sorted(set(by_key.values()))) or "none"
            hint = f"did you mean {by_key[near[0]]}?" if near else f"the providers here: {there}"
            console.line(f"{console.paint('note:', 'orange')} --provider {name} is given but not used; {hint}")


def load_template(path: Path) -> "Template":
    """The template in a file. Raises `Trouble` with the place and a remedy."""
    refuse_bicep(path)
    content = read_document(path, "template")
    try:
        return parse_template(content, source=str(path))
    except TemplateError as error:
        raise Trouble(f"{path} is not a template that can be deployed", error.faults) from error


def file_values(files: Iterable[Path]) -> dict[str, Json]:
    """The values of deployment parameter files; a later file wins."""
    values: dict[str, Json] = {}
    for file in files:
        refuse_bicep(file)
        content = read_document(file, "parameter file")
        try:
            values = merged(values, load_parameters(content, source=str(file)))
        except TemplateError as error:
            raise Trouble(f"{file} is not a parameter file that can be read", error.faults) from error
    return values


def merged(values: dict[str, Json], more: dict[str, Json]) -> dict[str, Json]:
    """Both, `more` before `values`; names compare without case."""
    fresh = {name.lower() for name in more}
    return {**{name: value for name, value in values.items() if name.lower() not in fresh}, **more}


def declared_parameters(template: "Template") -> list[Declared]:
    """What the command line needs to know of each parameter, types looked up in the template's definitions."""
    declared: list[Declared] = []
    for parameter in template.parameters.values():
        schema = resolve(parameter.schema.raw, template.definitions)
        kind = str(schema.get("type", "")).lower()
        secure = parameter.secure or kind in _SECURE
        declared.append(Declared(parameter.name, _SECURE.get(kind, kind), secure, schema.get("nullable") is True))
    return declared
