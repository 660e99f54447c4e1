"""Laws of what is made from a type, for any type."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from extensor.contract import decode_unknowns, format_path
from extensor.types import ResourceType, model
from extensor.types.flags import Flag
from extensor.types.validate import validate
from extensor_conformance.canary import Canaries
from extensor_conformance.compare import differences, is_marker
from extensor_conformance.draw import Draw
from extensor_conformance.generate import collect
from extensor_conformance.kind import Kind
from extensor_conformance.names import Names

LAW = settings(
    phases=[Phase.explicit, Phase.generate],
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.nested_given],
)
WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "app.io/name", "Zoë", "with space"])
PATTERNS = ["^[a-z]{2,9}$", "[0-9]+x", r"^\d{4}-\d{2}$", "^(red|green)-.+$", r"^\w+\s\w+$", None]


@st.composite
def texts(draw: st.DrawFn) -> model.StringType:
    pattern = draw(st.sampled_from(PATTERNS))
    low = None if pattern else draw(st.none() | st.integers(0, 20))
    high = None if pattern else draw(st.none() | st.integers(low or 0, 40))
    return model.StringType(draw(st.booleans()), low, high, pattern)


@st.composite
def integers(draw: st.DrawFn) -> model.IntegerType:
    low = draw(st.none() | st.integers(-(2**40), 2**40))
    span = draw(st.none() | st.integers(0, 2**33))
    return model.IntegerType(low, None if span is None else (low or 0) + span)


@st.composite
def numbers(draw: st.DrawFn) -> model.NumberType:
    low = draw(st.none() | st.floats(-1e9, 1e9))
    span = draw(st.none() | st.floats(0.25, 1e9))
    high = None if span is None else (low or 0.0) + span
    return model.NumberType(low, high) if draw(st.booleans()) else model.NumberType(above=low, below=high)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[model.ObjectType]:
    flags = st.sampled_from([Flag.NONE, Flag.REQUIRED, Flag.READ_ONLY, Flag.WRITE_ONLY, Flag.DEPLOY_TIME_CONSTANT])
    items = st.builds(model.Property, inner, flags, st.none(), st.booleans(), st.booleans())
    return st.builds(
        model.ObjectType, st.just("T"), st.dictionaries(WORDS, items, max_size=4), st.none() | inner, st.booleans()
    )


def discriminated(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[model.DiscriminatedObjectType]:
    return st.builds(
        model.DiscriminatedObjectType,
        st.just("D"),
        st.just("kind"),
        st.dictionaries(WORDS, st.builds(model.Property, inner), max_size=2),
        st.dictionaries(WORDS, objects(inner), min_size=1, max_size=3),
    )


LEAVES = (
    texts()
    | integers()
    | numbers()
    | st.builds(model.BooleanType)
    | st.builds(model.AnyType)
    | st.builds(model.StringLiteralType, WORDS)
    | st.lists(WORDS, min_size=1, max_size=3, unique=True).map(
        lambda words: model.UnionType([model.StringLiteralType(word) for word in words])
    )
)
TYPES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | discriminated(inner)
        | st.builds(
            lambda item, low, more: model.ArrayType(item, low, low + more), inner, st.integers(0, 2), st.integers(0, 3)
        )
        | st.lists(inner, min_size=1, max_size=3).map(lambda items: model.UnionType([model.NullType(), *items]))
    ),
    max_leaves=8,
)


@st.composite
def kinds(draw: st.DrawFn) -> Kind:
    body = draw(objects(TYPES) | discriminated(TYPES))
    if isinstance(body, model.ObjectType):
        body.properties["id"] = model.Property(draw(texts()), Flag.REQUIRED | Flag.IDENTIFIER)
    return Kind("any@1", ResourceType("any@1", body))


def make(plan: Callable[[Draw], Any], seed: int, count: int = 2) -> list[Any]:
    return collect(plan, seed=seed, count=count, names=Names("laws"), canaries=Canaries("cnry0123abcd"))


def faults(kind: Kind, body: Any, purpose: Any = "save") -> set[tuple[str | None, str]]:
    return {(item.path, item.code) for item in validate(decode_unknowns(body), kind.type, purpose=purpose)}


@LAW
@given(kinds(), st.integers(0, 2**32), st.booleans())
def test_every_valid_body_is_valid(kind: Kind, seed: int, full: bool) -> None:
    for body in make(lambda draw: kind.valid(draw, full=full), seed):
        assert faults(kind, body) == set(), body


@LAW
@given(kinds(), st.integers(0, 2**32))
def test_every_mutation_has_its_fault_at_its_path_and_nowhere_else(kind: Kind, seed: int) -> None:
    def plan(draw: Draw) -> Any:
        body = kind.valid(draw)
        return list(kind.mutations(draw, body))

    for mutations in make(plan, seed):
        for mutation in mutations:
            found = faults(kind, mutation.properties)
            assert found, mutation.note
            assert {path for path, _ in found} <= set(mutation.paths), mutation.note
            assert {code for _, code in found} <= set(mutation.codes), mutation.note
            assert mutation.paths[0] == format_path(("properties", *mutation.path))


@LAW
@given(kinds(), st.integers(0, 2**32))
def test_an_unknown_in_any_place_is_valid_in_a_preview_and_refused_in_a_save(kind: Kind, seed: int) -> None:
    def plan(draw: Draw) -> Any:
        body = kind.valid(draw, full=True)
        return body, list(kind.placements(body, identifiers=True))

    for _, placements in make(plan, seed):
        for placement in placements:
            assert faults(kind, placement.properties, "preview_save") == set(), placement.path
            place = format_path(("properties", *placement.path))
            refused = [path for path, _ in faults(kind, placement.properties) if path is not None]
            assert any(place.startswith(path) for path in refused), "at the place, or at the union that it is in"


@LAW
@given(kinds(), st.integers(0, 2**32))
def test_a_change_is_valid_and_changes_one_place_that_may_change(kind: Kind, seed: int) -> None:
    def plan(draw: Draw) -> Any:
        body = kind.valid(draw)
        return body, kind.change(draw, body)

    for body, change in make(plan, seed):
        if change is None:
            continue
        assert faults(kind, change.properties) == set(), change
        rows = differences(body, change.properties)
        place = format_path(("properties", *change.path))
        assert rows
        assert all(row.path.startswith(place) for row in rows)
        assert kind.identifiers(change.properties) == kind.identifiers(body)


@LAW
@given(kinds(), st.integers(0, 2**32))
def test_two_fillings_are_valid_and_differ_where_the_unknown_was(kind: Kind, seed: int) -> None:
    def plan(draw: Draw) -> Any:
        body = kind.valid(draw, full=True)
        return body, [(item, kind.fillings(draw, item)) for item in kind.placements(body)]

    for body, filled in make(plan, seed, 1):
        for placement, pair in filled:
            if pair is None:
                continue
            one, other = pair
            assert one == body
            assert faults(kind, other) == set()
            rows = differences(one, other)
            assert rows
            assert all(row.path.startswith(format_path(("properties", *placement.path))) for row in rows)


@LAW
@given(kinds(), st.integers(0, 2**32))
def test_placements_cover_every_place_once(kind: Kind, seed: int) -> None:
    def places(value: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return {place for key, item in inner for place in ({(*path, key)} | places(item, (*path, key)))}

    def opaque(path: tuple[Any, ...], value: Any) -> bool:
        return any(path[: len(place)] == place and path != place for place in value)

    def plan(draw: Draw) -> Any:
        body = kind.valid(draw)
        return body, list(kind.placements(body, identifiers=True))

    for body, placements in make(plan, seed):
        paths = [item.path for item in placements]
        assert len(paths) == len(set(paths))
        missing = places(body) - set(paths)
        untyped = {item.path for item in placements if isinstance(item.replaced, dict | list)}
        assert all(opaque(path, untyped) for path in missing), "only what lies inside a value of any type has no place"
        assert all(not is_marker(item.replaced) for item in placements)


@LAW
@given(kinds(), st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4))
def test_the_same_seed_gives_the_same_bodies_and_asking_for_more_changes_none(
    kind: Kind, seed: int, count: int, more: int
) -> None:
    def plan(draw: Draw) -> Any:
        body = kind.valid(draw)
        return body, kind.change(draw, body), list(kind.mutations(draw, body))

    few = make(plan, seed, count)
    make(lambda draw: draw.text(), seed + 1)
    many = make(plan, seed, count + more)
    assert [item[0] for item in few] == [item[0] for item in many[: len(few)]]
