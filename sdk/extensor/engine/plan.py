"""A template as instances of resources: loops expanded, false conditions dropped whole, names resolved."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from extensor.contract import Json, Path, Unknown, format_path
from extensor.engine.graph import Graph
from extensor.errors import TemplateError
from extensor.template import CopyContext, ResourceDecl, Scope, Template


@dataclass(frozen=True, slots=True)
class Instance:
    """One resource to deploy or to read. `key` is the symbol, ``name[3]`` for an element of a loop."""

    key: str
    decl: ResourceDecl
    loop: CopyContext | None = None

    @property
    def type(self) -> str:
        """``name@version``."""
        return self.decl.full_type

    @property
    def existing(self) -> bool:
        """Whether it is read and never written."""
        return self.decl.existing

    @property
    def properties_path(self) -> Path:
        """Where its body stands in the template."""
        return (*self.decl.path, "properties")


class Plan:
    """Every instance of a template by key, in declared order. Names are found without letter case."""

    def __init__(self, instances: Iterable[Instance], skipped: Iterable[Instance], loops: dict[str, list[str]]) -> None:
        self.instances = {instance.key: instance for instance in instances}
        """Those that take part."""
        self.skipped = {instance.key: instance for instance in skipped}
        """Those whose condition is false. Nothing of them is evaluated."""
        self._loops = {symbol.lower(): keys for symbol, keys in loops.items()}
        self._keys = {key.lower(): key for key in (*self.instances, *self.skipped)}

    def find(self, name: str) -> tuple[str, ...] | None:
        """The keys a name stands for: one instance, or all elements of a loop; ``None`` when nothing has that name."""
        keys = self._loops.get(name.lower())
        if keys is not None:
            return tuple(keys)
        key = self._keys.get(name.lower())
        return None if key is None else (key,)

    def is_loop(self, name: str) -> bool:
        """Whether a name stands for a whole loop."""
        return name.lower() in self._loops

    def by_resource_id(self, text: str) -> tuple[str, ...]:
        """Instances that an id of the form ``type/name`` means, ``name`` being a symbol or the body's own name."""
        wanted = text.lower().strip("/")
        return tuple(
            key
            for key, instance in {**self.instances, **self.skipped}.items()
            if any(wanted == one or wanted.endswith(f"/{one}") for one in _ids(instance))
        )

    def live(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Those of the keys that take part."""
        return tuple(key for key in keys if key in self.instances)

    def names(self) -> list[str]:
        """Every name that can be referred to, for messages."""
        return sorted({instance.decl.symbol for instance in (*self.instances.values(), *self.skipped.values())})


def expand(template: Template, scope: Scope) -> Plan:
    """The template's instances. Raises `TemplateError` for a count or condition that cannot be told beforehand."""
    live: list[Instance] = []
    skipped: list[Instance] = []
    loops: dict[str, list[str]] = {}
    for decl in template.resources.values():
        _refuse_options(decl)
        if "@" not in decl.full_type:
            raise TemplateError(
                "the type has no version; write it as name@version, or give apiVersion",
                format_path((*decl.path, "type")),
            )
        for instance in _instances(decl, scope):
            if decl.copy is not None:
                loops.setdefault(decl.symbol, []).append(instance.key)
            (live if _takes_part(instance, scope) else skipped).append(instance)
        if decl.copy is not None:
            loops.setdefault(decl.symbol, [])
    return Plan(live, skipped, loops)


def make_graph(plan: Plan, scope: Scope, references: dict[str, set[str]]) -> Graph:
    """The order of the instances: declared dependencies, `references` (key to keys), and batches of serial loops.

    Dependencies on skipped instances are dropped. Raises `TemplateError` for unknown names, `CycleError` for rings.
    """
    edges: dict[str, list[str]] = {}
    for key, instance in plan.instances.items():
        wanted: list[str] = []
        for position, raw in enumerate(instance.decl.depends_on):
            path = (*instance.decl.path, "dependsOn", position)
            wanted += _depended(plan, scope.evaluate(raw, path, loop=instance.loop), path)
        wanted += [name for name in sorted(references.get(key, ())) if name in plan.instances]
        edges[key] = list(dict.fromkeys(wanted))
    for previous, batch in _batches(plan):
        for key in batch:
            edges[key] += previous
    return Graph.of(edges)


def no_such_resource(plan: Plan, name: str) -> str:
    """What to say about a name that no resource has."""
    known = plan.names()
    close = get_close_matches(name.split("[")[0].lower(), [one.lower() for one in known], n=1)
    remedy = next((one for one in known if close and one.lower() == close[0]), None)
    hint = f"did you mean '{remedy}'?" if remedy else f"there are: {', '.join(known[:12]) or 'none'}"
    return f"there is no resource or loop element '{name}'; {hint}"


def _instances(decl: ResourceDecl, scope: Scope) -> Iterable[Instance]:
    if decl.copy is None:
        return [Instance(decl.symbol, decl)]
    loops = scope.loops(decl)
    if isinstance(loops, Unknown):
        raise TemplateError(
            "a loop's count must be known before anything is deployed; it cannot use reference()",
            format_path((*decl.path, "copy", "count")),
        )
    return [Instance(f"{decl.symbol}[{loop.index}]", decl, loop) for loop in loops]


def _takes_part(instance: Instance, scope: Scope) -> bool:
    if instance.decl.condition is True:
        return True
    value = scope.evaluate_condition(instance.decl, loop=instance.loop)
    if isinstance(value, Unknown):
        raise TemplateError(
            "a condition must be known before anything is deployed; it cannot use reference()",
            format_path((*instance.decl.path, "condition")),
        )
    return value


def _depended(plan: Plan, name: Json, path: Path) -> tuple[str, ...]:
    if not isinstance(name, str):
        raise TemplateError(
            "a dependency must be the name of a resource, known before anything is deployed", format_path(path)
        )
    keys = plan.find(name)
    if keys is None:
        keys = plan.by_resource_id(name) or None
    if keys is None:
        raise TemplateError(no_such_resource(plan, name), format_path(path))
    return plan.live(keys)


def _batches(plan: Plan) -> Iterable[tuple[list[str], list[str]]]:
    """Neighbouring batches of each serial loop. Skipped elements leave a gap and nothing else."""
    serial: dict[str, list[Instance]] = {}
    for instance in plan.instances.values():
        if instance.decl.copy is not None and instance.decl.copy.mode == "serial":
            serial.setdefault(instance.decl.symbol, []).append(instance)
    for elements in serial.values():
        copy = elements[0].decl.copy
        size = (copy.batch_size if copy is not None else None) or 1
        batches: dict[int, list[str]] = {}
        for instance in elements:
            batches.setdefault((instance.loop.index if instance.loop else 0) // size, []).append(instance.key)
        ordered = [batches[number] for number in sorted(batches)]
        yield from itertools.pairwise(ordered)


def _ids(instance: Instance) -> Iterable[str]:
    names = {instance.key.lower(), instance.decl.symbol.lower()}
    own = instance.decl.properties.get("name")
    if isinstance(own, str) and not own.startswith("["):
        names.add(own.lower())
    for type_ in (instance.decl.type.lower(), instance.type.lower()):
        for name in names:
            yield f"{type_}/{name}"


def _refuse_options(decl: ResourceDecl) -> None:
    for option in decl.options:
        raise TemplateError(
            f"the option '{option}' is not supported; remove the decorator that made it",
            format_path((*decl.path, "@options", option)),
        )
