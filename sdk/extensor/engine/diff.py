"""How two states of one resource differ, in the terms of whoever decides whether to deploy."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from extensor.contract import Json, JsonObject, Path, PreviewMetadata, Unknown, format_path, parse_path
from extensor.contract.redaction import MASK, Redactor
from extensor.engine.results import PropertyChange, PropertyChangeKind

Names: TypeAlias = tuple[str, ...]
"""A path without its places in lists: what a type can say something about."""

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Rules:
    """What is known of a resource's properties. All paths start inside `properties` and leave out places in lists.

    `calculated` ones never count as a change. `read_only` ones count only where the preview shows a value that differs
    from the present one: an unknown, null or absent one says nothing. What is at `unknown` ones is not known, whatever
    the preview shows there.
    """

    calculated: frozenset[Names] = frozenset()
    read_only: frozenset[Names] = frozenset()
    unknown: frozenset[Names] = frozenset()

    def told(self, metadata: PreviewMetadata | None) -> "Rules":
        """The same, with what a preview says of its own result."""
        if metadata is None:
            return self
        return Rules(
            self.calculated | _all_names(metadata.calculated),
            self.read_only | _all_names(metadata.read_only),
            self.unknown | _all_names(metadata.unknown),
        )


def property_changes(
    before: JsonObject | None,
    after: JsonObject,
    rules: Rules,
    mask: Callable[[JsonObject], Json] = lambda body: body,
    lost: frozenset[Path] = frozenset(),
) -> tuple[PropertyChange, ...]:
    """What would differ once `after` is saved, as `after` declares it; paths start with ``$.properties``.

    `before` is what `get` shows, ``None`` when there is nothing; `after` is what the preview shows. What `after` leaves
    out is not managed and stays as it is, but for the keys of maps at the places in `lost`, which go. `mask` makes the
    copy of a body that may be shown; it is used after the comparison, so that a changed secret is a change. The name of
    a lost key is masked where the copy does not show it: nothing else tells whether it was a secret.
    """
    old = {} if before is None else before
    found = list(_walk((), old, after, rules, lost))
    if not found:
        return ()
    shown_before, shown_after = mask(old), mask(after)
    return tuple(
        PropertyChange(
            format_path(("properties", *_shown(path, shown_before, lost))),
            kind,
            None if kind == "Create" else _at(shown_before, path),
            None if path in lost else _after(path, shown_after, rules),
        )
        for path, kind in found
    )


def masked(body: Json, redactor: Redactor, tainted: frozenset[Path] = frozenset(), path: Path = ()) -> Json:
    """A copy of a body without what is at the tainted paths and without the redactor's texts. Null stays null."""
    if body is not None and path in tainted:
        return MASK
    if type(body) is Unknown:
        return Unknown(None if body.expression is None else redactor.text(body.expression), body.path)
    if isinstance(body, dict):
        return {redactor.text(name): masked(item, redactor, tainted, (*path, name)) for name, item in body.items()}
    if isinstance(body, list):
        return [masked(item, redactor, tainted, (*path, index)) for index, item in enumerate(body)]
    return redactor.data(body)


def left_out(body: Json, shown: Json, path: Path = ()) -> Iterator[Path]:
    """Places that a body has, with a value, and its copy has not."""
    if isinstance(body, dict) and isinstance(shown, dict):
        for name, value in body.items():
            if name in shown:
                yield from left_out(value, shown[name], (*path, name))
            elif value is not None:
                yield (*path, name)
    elif isinstance(body, list) and isinstance(shown, list):
        for index, (value, other) in enumerate(zip(body, shown, strict=False)):
            yield from left_out(value, other, (*path, index))


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal; booleans are no numbers, and an unknown equals nothing."""
    if type(one) is Unknown or type(other) is Unknown:
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def names_of(path: Path) -> Names:
    """A path without its places in lists."""
    return tuple(part for part in path if isinstance(part, str))


def _walk(
    path: Path, before: object, after: Json, rules: Rules, lost: frozenset[Path] = frozenset()
) -> Iterator[tuple[Path, PropertyChangeKind]]:
    names = names_of(path)
    if names in rules.calculated:
        return
    if names in rules.unknown:
        after = _unknown(path)
    if names in rules.read_only and (after is None or type(after) is Unknown):
        return
    if isinstance(after, dict) and isinstance(before, dict):
        for name, value in after.items():
            yield from _walk((*path, name), before.get(name, _ABSENT), value, rules, lost)
        for name, value in before.items() if lost else ():
            if (*path, name) in lost and (*names, name) not in rules.unknown:
                yield from _walk((*path, name), value, None, rules)
    elif isinstance(after, list) and isinstance(before, list) and len(after) == len(before):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _walk((*path, index), old, new, rules, lost)
    elif before is _ABSENT or before is None:
        # A null asks for absence; an object whose every part says nothing (all read-only, say) changes nothing.
        if after is not None and not (isinstance(after, dict) and after and not any(_walk(path, {}, after, rules))):
            yield path, "Create"
    elif after is None:
        yield path, "Delete"
    elif not same(before, after):
        yield path, "Modify"


def _at(body: Json, path: Path) -> Json:
    """What a masked body shows at a path; where an outer value is masked, the mask."""
    for part in path:
        if isinstance(body, dict):
            body = body.get(str(part), MASK)  # a name that held a secret has changed
        elif isinstance(body, list) and isinstance(part, int):
            body = body[part]
        else:
            return body
    return body


def _shown(path: Path, shown: Json, lost: frozenset[Path]) -> Path:
    """The path as it may be told."""
    if path not in lost:
        return path
    *above, name = path
    body = _at(shown, tuple(above))
    return path if isinstance(body, dict) and name in body else (*above, MASK)


def _after(path: Path, shown: Json, rules: Rules) -> Json:
    value = _at(shown, path)
    if names_of(path) in rules.unknown and type(value) is not Unknown:  # its own says what it waits for
        return _unknown(path)
    return value


def _unknown(path: Path) -> Unknown:
    return Unknown(path=format_path(("properties", *path)))


def _all_names(paths: Iterable[str]) -> frozenset[Names]:
    """Paths from a preview's metadata (``$.properties.…``); what is no such path is left out."""
    found: set[Names] = set()
    for path in paths:
        try:
            parts = parse_path(path)
        except ValueError:
            continue
        if parts[:1] == ("properties",):
            found.add(names_of(parts[1:]))
    return frozenset(found)
