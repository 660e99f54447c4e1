"""A type under test: its schema, the facts about it, and the inputs that can be made for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from extensor.contract import Json, JsonObject, TypeName, Verb
from extensor.contract.paths import Path
from extensor.types import ResourceType, Shape, model, shape_of

if TYPE_CHECKING:
    from extensor_conformance.draw import Draw
    from extensor_conformance.fixture import TypeFixture
    from extensor_conformance.generate import Change, Mutation, Placement


def _no_fixture() -> "TypeFixture":
    from extensor_conformance.fixture import TypeFixture

    return TypeFixture()


@dataclass(frozen=True, eq=False)
class Kind:
    """One resource type. All bodies are wire JSON: markers as they are sent, never `Unknown` objects."""

    name: str
    """``name@version``, as the provider spells it."""
    type: ResourceType
    operations: frozenset[Verb] = frozenset(Verb)
    """What `provider/listTypes` names."""
    fixture: "TypeFixture" = field(default_factory=_no_fixture)
    """What the author's file says about it."""

    @property
    def shape(self) -> Shape:
        """Paths of identifiers, read-only, write-only, immutable, calculated and secret properties."""
        return shape_of(self.type)

    @property
    def secretive(self) -> bool:
        """Whether a secret value can stand anywhere in a body."""
        facts = self.type.body.facts  # asked for with every answer
        known: bool | None = facts.get("secretive")
        if known is None:
            known = facts["secretive"] = reaches_secret(self.type.body)
        return known

    def has(self, *verbs: Verb) -> bool:
        """Whether it has all these operations."""
        return self.operations.issuperset(verbs)

    @property
    def identity(self) -> tuple[Path, ...]:
        """The properties that name a resource: those that the author's file tells, else those that the type marks."""
        return self.fixture.identity or self.shape.identifiers

    def identifiers(self, properties: JsonObject) -> JsonObject:
        """The part of a body that names the resource: what `get` and `delete` are given."""
        if not self.fixture.identity:
            return self.shape.identifiers_of(properties)
        from extensor_conformance.places import picked

        return picked(properties, self.identity)

    def valid(self, draw: "Draw", *, full: bool = False) -> JsonObject:
        """A body that `save` must take, with a name of its own. `full` gives every property that may be given."""
        from extensor_conformance.generate import valid

        return valid(draw, self, full=full)

    def change(self, draw: "Draw", properties: JsonObject) -> "Change | None":
        """The body with one property, no identifier and not immutable, changed; ``None`` when there is none."""
        from extensor_conformance.generate import change

        return change(draw, self, properties)

    def mutations(self, draw: "Draw", properties: JsonObject) -> "Iterator[Mutation]":
        """Every single-fault mutation of a valid body, each with the paths and codes an error may name."""
        from extensor_conformance.generate import mutations

        return mutations(draw, self, properties)

    def placements(self, properties: JsonObject, *, identifiers: bool = False) -> "Iterator[Placement]":
        """The body with an unknown marker in each place in turn: leaves, subtrees, array elements."""
        from extensor_conformance.generate import placements

        return placements(self, properties, identifiers=identifiers)

    def fillings(self, draw: "Draw", placement: "Placement") -> "tuple[JsonObject, JsonObject] | None":
        """A placement's body with two different known values where the marker stands, the first as it was before.

        ``None`` where only one value, or none, can stand: at a discriminator, at a fixed word.
        """
        from extensor_conformance.generate import fillings

        return fillings(draw, self, placement)

    def renamed(self, draw: "Draw", properties: JsonObject) -> JsonObject:
        """The same body under a fresh name."""
        from extensor_conformance.generate import renamed

        return renamed(draw, self, properties)

    def ignored(self) -> tuple[Path, ...]:
        """Paths that comparisons pass over: calculated and write-only ones, and those the author's file names.

        The step ``*`` stands for any name or index: what lies in arrays and maps.
        """
        from extensor_conformance.places import flagged

        inner: tuple[Path, ...] | None = self.type.body.facts.get("flagged")
        if inner is None:
            inner = self.type.body.facts["flagged"] = flagged(self.type.body)
        return (*self.shape.calculated, *self.shape.write_only, *inner, *self.fixture.random)


def reaches_secret(type_: model.Type) -> bool:
    """Whether a sensitive type can be reached from a type."""
    seen: set[int] = set()
    waiting = [type_]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, model.StringType | model.StringLiteralType | model.ObjectType) and one.sensitive:
            return True
        waiting.extend(model.children(one))
    return False


class NoSuchKind(LookupError):
    """None of a provider's types is asked for."""


def chosen_kinds(kinds: Mapping[str, Kind], patterns: Sequence[str]) -> dict[str, Kind]:
    """The kinds whose name, or name without the version, is like one of the patterns, without case; all for none."""
    wanted = [pattern.lower() for pattern in patterns]

    def chosen(name: str) -> bool:
        forms = (name.lower(), name.lower().rpartition("@")[0])
        return not wanted or any(fnmatchcase(form, pattern) for form in forms for pattern in wanted)

    return {name: kind for name, kind in kinds.items() if chosen(name)}


def find_kind(kinds: Mapping[str, Kind], type_: Json) -> Kind | None:
    """The kind that a type string means: names without case, a ``provider:`` prefix passed over."""
    if not isinstance(type_, str):
        return None
    found = kinds.get(type_)
    if found is not None:
        return found
    try:
        key = TypeName.parse(type_).key
    except ValueError:
        return None
    return next((kind for kind in kinds.values() if TypeName.parse(kind.name).key == key), None)
