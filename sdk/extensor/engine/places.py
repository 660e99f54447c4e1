"""Faults that providers tell in terms of a request, as places in the template that people can go to."""

from collections.abc import Iterable

from extensor.contract import Fault, Path, format_path, parse_path
from extensor.template import ImportDecl, ResourceDecl


def placed(fault: Fault, decl: ResourceDecl, declared: ImportDecl) -> Fault:
    """The fault at its place in the template; as it is when its path is no part of a request."""
    if fault.path is None:
        return fault
    try:
        inner = parse_path(fault.path)
    except ValueError:
        return fault
    place = _place(inner, decl, declared)
    return fault if place is None else Fault(fault.code, fault.message, format_path(place))


def reason_of(faults: Iterable[Fault]) -> str:
    """Faults of one resource as a clause: each with the property that it is about."""
    return "; ".join(dict.fromkeys(_clause(fault) for fault in faults))


def _place(inner: Path, decl: ResourceDecl, declared: ImportDecl) -> Path | None:
    match inner:
        case ("properties", *rest):
            return (*decl.path, "properties", *rest)
        case ("type", *_):
            return (*decl.path, "type")
        case ("import", "config", str(name), *rest):
            return (*declared.config_paths.get(name, (*declared.path, "config", name)), *rest)
        case ("import", ("provider" | "version" | "config") as part, *_):
            return (*declared.path, part)
        case _:
            return None


def _clause(fault: Fault) -> str:
    if fault.path is None:
        return fault.message
    try:
        parts = parse_path(fault.path)
    except ValueError:
        return fault.message
    if "properties" in parts:
        parts = parts[parts.index("properties") + 1 :]
    where = format_path(parts)[1:].removeprefix(".")
    return f"{where}: {fault.message}" if where else fault.message
