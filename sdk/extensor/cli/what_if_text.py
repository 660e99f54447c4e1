"""A preview as text, in the style of ARM's what-if: a symbol a resource, a symbol a property, values that line up."""

from collections.abc import Callable, Iterable, Iterator

from extensor.cli.values import block, from_to, identity, plain, plain_path
from extensor.engine.results import Change, PropertyChange, WhatIfResult

Paint = Callable[[str, str], str]
"""A text and the name of a colour to the text as it is printed."""

_LOOKS: dict[str, tuple[str, str, str]] = {
    "Delete": ("-", "orange", "to delete"),
    "Create": ("+", "green", "to create"),
    "Modify": ("~", "purple", "to modify"),
    "Unsupported": ("x", "gray", "that cannot be previewed"),
    "NoChange": ("=", "gray", "without change"),
    "Ignore": ("*", "gray", "to ignore"),
}
_KIND_ORDER = {"Delete": 0, "Create": 1, "Modify": 2}
_LISTED = 5
"""Write-only properties that are named; the JSON names all."""
_LEGEND = {"Delete": "- delete", "Create": "+ create", "Modify": "~ modify", "Unsupported": "x cannot be previewed"}


def no_paint(text: str, colour: str) -> str:
    """The text alone, for where there is no terminal."""
    return text


def what_if_text(result: WhatIfResult, paint: Paint = no_paint) -> str:
    """The whole preview: what each change does, then one line that counts them."""
    lines: list[str] = []
    order = list(_LOOKS)
    changes = sorted(result.changes, key=lambda change: order.index(change.change_type))
    if changes:
        kinds = [
            _LEGEND[kind] for kind in order if kind in _LEGEND and any(change.change_type == kind for change in changes)
        ]
        lines += [f"What would change ({', '.join(kinds)}):", ""]
    for change in changes:
        lines += [*_change(change, paint), ""]
    lines += [*_not_compared(result), _summary(result)]
    return "\n".join(lines)


def _change(change: Change, paint: Paint) -> Iterator[str]:
    symbol, colour, _ = _LOOKS[change.change_type]
    where = identity(change.identifiers)
    name = paint(f"{symbol} {plain(change.symbolic_name)}", colour)
    yield f"  {name}  {plain(change.type)}{f'  {where}' if where else ''}"
    if change.reason:
        yield f"      {plain(change.reason)}"
    if change.change_type in ("Create", "Delete"):
        yield from _body(change.delta)
    else:
        yield from _delta(change.delta, paint)


def _body(delta: Iterable[PropertyChange]) -> Iterator[str]:
    rows = [(plain_path(item.path), item.before if item.kind == "Delete" else item.after) for item in delta]
    width = max((len(path) for path, _ in rows), default=0) + 1
    for path, value in rows:
        first, *rest = block(value)
        yield f"      {f'{path}:':<{width}} {first}"
        yield from (f"      {line}" for line in rest)


def _delta(delta: Iterable[PropertyChange], paint: Paint) -> Iterator[str]:
    rows = sorted(((plain_path(item.path), item) for item in delta), key=lambda row: (_KIND_ORDER[row[1].kind], row[0]))
    width = max((len(path) for path, _ in rows), default=0) + 1
    for path, item in rows:
        symbol, colour, _ = _LOOKS[item.kind]
        name = f"{f'{path}:':<{width}}"
        if item.kind == "Modify":
            before, after = from_to(item.before, item.after)
            first, rest = f"{before} => {after}", []
        else:
            first, *rest = block(item.before if item.kind == "Delete" else item.after)
        yield f"    {paint(f'{symbol} {name}', colour)} {first}"
        yield from (f"      {line}" for line in rest)


def _not_compared(result: WhatIfResult) -> list[str]:
    if not result.not_compared:
        return []
    shown = [f"{plain(name)}.{plain_path(path)}" for name, path in result.not_compared[:_LISTED]]
    more = ", …" if len(result.not_compared) > _LISTED else ""
    one = len(result.not_compared) == 1
    count = "1 write-only property" if one else f"{len(result.not_compared)} write-only properties"
    return [f"{count} cannot be compared, so that {'it' if one else 'they'} may change: {', '.join(shown)}{more}", ""]


def _summary(result: WhatIfResult) -> str:
    counts = [
        f"{count} {words}"
        for kind, (_, _, words) in _LOOKS.items()
        if (count := sum(change.change_type == kind for change in result.changes))
    ]
    if not counts:
        if not result.unchanged:
            return "Nothing to deploy: the template and the record hold no resource."
        return f"No change: {_resources(result.unchanged)} as the template says."
    if result.unchanged:
        counts.append(f"{result.unchanged} without change")
    return f"Resource changes: {', '.join(counts)}."


def _resources(count: int) -> str:
    return "1 resource is" if count == 1 else f"all {count} resources are"
