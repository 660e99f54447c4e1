"""The text of a first `conformance.toml`."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from extensor.contract import Json
from extensor.types import Flag, model

if TYPE_CHECKING:
    from extensor_conformance.kind import Kind
    from extensor_conformance.provider import Provider


def starter_text(
    provider: "Provider", command: Sequence[str], address: str | None = None, cwd: str | None = None
) -> str:
    """What the provider needs and what each type may need; lines that are only proposals are comments.

    `cwd` is the folder in which it is started, from the file's own.
    """
    lines = [
        f"# How provider-conformance tests {provider.name}. Every part is optional; see docs/conformance.md.",
        "",
        "[provider]",
    ]
    if command:
        lines.append(f"command = {_toml(list(command))}")
    if address:
        lines.append(f"address = {_toml(address)}")
    if cwd:
        lines.append(f"cwd = {_toml(cwd)}   # from the folder of this file")
    lines.append('# env = { LOG_LEVEL = "debug", TOKEN = { env = "MY_TOKEN" } }')
    lines += ["", *_config(provider)]
    for kind in provider.kinds.values():
        lines += ["", *_kind(kind)]
    lines += [
        "",
        "# A command that looks at the world behind the provider: CMD exists|list|mutate|remove,",
        '# {"type", "identifiers", "config", "change"?} on its input, {"exists": true}, {"objects": [...]}',
        "# or {} on its output. Without it some checks are NOT-TESTED.",
        "# [probe]",
        '# command = ["python", "probe.py"]   # a file beside this one is found from everywhere',
        "",
        "# Ways to make the world behind the provider fail; without any, some checks are NOT-TESTED.",
        "# [faults]",
        "# hook = true   # the provider reads the file that EXTENSOR_TEST_FAULTS names; those written with the SDK do",
        '# proxy = "endpoint"   # or: the key of [config] that holds the backend\'s address',
        '# triggers = { throttle = { name = "busy" } }   # or: properties with which the backend fails so',
    ]
    return "\n".join(lines) + "\n"


def _config(provider: "Provider") -> list[str]:
    body = provider.config_type
    properties = _properties(body) if body is not None else {}
    if not properties:
        return ["# It takes no configuration.", "# [config]"]
    lines = ["[config]", "# Values of `env` come from the environment and are never stored."]
    for name, item in properties.items():
        if Flag.READ_ONLY in item.flags:
            continue
        key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
        value = _example(name, item.type)
        required = Flag.REQUIRED in item.flags
        note = f"   # {' '.join(item.description.split())}" if item.description else ""
        lines.append(f"{'' if required else '# '}{key} = {value}{note}")
    return lines


def _kind(kind: "Kind") -> list[str]:
    shape = kind.shape
    lines = [f"[types.{_toml(kind.name)}]"]
    identity = [_place(path) for path in shape.identifiers]
    if identity:
        lines.append(f"# identity is {', '.join(identity)}, as the type says")
    else:
        lines.append('identity = ["/name"]   # <the type marks no identifier: say which properties name an object>')
    free = [path for path, text in _texts(kind.type.body, ()) if text.pattern is None and not text.sensitive]
    proposals = [_place(path) for path in free[:3]]
    if proposals:
        rules = ", ".join(f'{_toml(place)} = {{ pattern = "[a-z][a-z0-9]{{7}}" }}' for place in proposals)
        lines += [
            "# Where the type allows more than the backend takes; also choose, value, min, max, omit = true, and",
            "# present = true for an optional property that is needed:",
            f"# overrides = {{ {rules} }}",
        ]
    lines.append('# consistency_window = "2s"   # reads may be behind for so long')
    if shape.calculated:
        lines.append(f"# calculated, so not compared: {', '.join(_place(path) for path in shape.calculated)}")
    lines.append('# random = ["/badge"]         # another value each time by design')
    lines.append('# waive = [{ check = "PRV-12", path = "/badge", reason = "…", until = "2030-01-01" }]')
    return lines


def _properties(body: model.Type) -> "dict[str, model.Property]":
    if isinstance(body, model.ObjectType):
        return dict(body.properties)
    if isinstance(body, model.DiscriminatedObjectType):
        return dict(body.base_properties)
    return {}


def _texts(body: model.Type, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], model.StringType]]:
    for name, item in _properties(body).items():
        if Flag.READ_ONLY in item.flags:
            continue
        if isinstance(item.type, model.StringType):
            yield (*path, name), item.type
        elif isinstance(item.type, model.ObjectType) and len(path) < 3:
            yield from _texts(item.type, (*path, name))


def _example(name: str, type_: model.Type) -> str:
    match type_:
        case model.StringType(sensitive=True):
            return f"{{ env = {_toml(re.sub(r'[^A-Za-z0-9]+', '_', name).upper())}, secret = true }}"
        case model.StringType():
            return '"<text>"'
        case model.StringLiteralType():
            return _toml(type_.value)
        case model.IntegerType() | model.NumberType():
            return "0"
        case model.BooleanType():
            return "false"
        case model.ArrayType():
            return "[]"
        case model.UnionType():
            return _example(name, next(iter(type_.elements)))
        case _:
            return "{}"


def _place(path: Sequence[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _toml(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
