"""Laws over generated types and bodies: what fits passes, what is changed is found where it was changed."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extensor.authoring.facts import without_nulls
from extensor.contract import Unknown, format_path
from extensor.types import (
    AnyType,
    ArrayType,
    BooleanType,
    DiscriminatedObjectType,
    Flag,
    IntegerType,
    NullType,
    NumberType,
    ObjectType,
    Property,
    ResourceType,
    Settings,
    StringLiteralType,
    StringType,
    Type,
    TypeIndex,
    UnionType,
    read_inline,
    resolve_inline,
    same_type,
)
from extensor.types.json_schema import json_schema
from extensor.types.validate import OFTEN, Purpose, surely_fits, validate

LAW = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
NAMES = st.sampled_from(["name", "text", "Text", "size", "tags", "app.io/x", "a b", "$ref", "kind-of"])
WORDS = st.sampled_from(["red", "green", "blue", "Red", ""])


def bounds(low: int, high: int) -> st.SearchStrategy[tuple[int | None, int | None]]:
    limit = st.none() | st.integers(low, high)
    return st.tuples(limit, limit).map(lambda pair: pair if None in pair else tuple(sorted(pair)))  # type: ignore[return-value,type-var]


literals = WORDS.map(StringLiteralType)
strings = st.one_of(
    st.builds(StringType, st.booleans()),
    bounds(0, 4).map(lambda pair: StringType(False, *pair)),
    st.just(StringType(pattern="^[a-f]+$")),
)
integers = bounds(-3, 9).map(lambda pair: IntegerType(*pair))
leaves: st.SearchStrategy[Type] = st.one_of(
    st.builds(AnyType),
    st.builds(BooleanType),
    integers,
    strings,
    literals,
    st.lists(literals, min_size=1, max_size=3).map(lambda items: UnionType(list(items))),
    st.sampled_from(
        [lambda: UnionType([StringType(), NullType()]), lambda: UnionType([IntegerType(), BooleanType()])]
    ).map(lambda make: make()),
)
numbers = st.builds(NumberType)
FLAGS = [
    Flag.NONE,
    Flag.REQUIRED,
    Flag.READ_ONLY,
    Flag.WRITE_ONLY,
    Flag(1) | Flag.IDENTIFIER,
    Flag(1) | Flag.WRITE_ONLY,
]
DESCRIPTIONS = [None, "", "What it is.", "In (brackets)", "Größe\n„x“"]
PROPERTIES = [
    (flags, description, immutable, calculated)
    for flags in FLAGS
    for description in DESCRIPTIONS
    for immutable, calculated in ((False, False), (True, False), (True, True))
]


def properties(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[dict[str, Property]]:
    one = st.tuples(inner | numbers, st.sampled_from(PROPERTIES)).map(lambda pair: Property(pair[0], *pair[1]))
    return st.dictionaries(NAMES, one, max_size=3)


def objects(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[ObjectType]:
    return st.builds(ObjectType, st.sampled_from(["", "Thing"]), properties(inner), st.none() | inner, st.booleans())


def discriminated(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[DiscriminatedObjectType]:
    elements = st.dictionaries(st.sampled_from(["one", "two", "three"]), objects(inner), min_size=1, max_size=2)
    return st.builds(DiscriminatedObjectType, st.just("Choice"), st.just("method"), properties(inner), elements)


def nest(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    arrays = st.tuples(inner, bounds(0, 3)).map(lambda pair: ArrayType(pair[0], *pair[1]))
    return leaves | arrays | objects(inner) | discriminated(inner)


types = nest(nest(leaves))
bodies = st.one_of(objects(types), discriminated(types))
ANYTHING = [
    None,
    True,
    False,
    -4,
    0,
    3,
    0.5,
    2.0,
    1e300,
    "",
    "red",
    "abc",
    "größer 🙂",
    [],
    {},
    [1],
    {"name": "red"},
    {"text": [{}]},
]
LETTERS = "abcdefß漢 🙂"
seeds = st.integers(0, 2**32).map(random.Random)
"""Bodies are drawn by a seeded generator, several for a type: hypothesis shrinks the type, which tells most."""
BODIES = 6


def text(draw: random.Random, least: int | None, most: int | None) -> str:
    least = least or 0
    return "".join(draw.choices(LETTERS, k=draw.randint(least, least + 3 if most is None else most)))


def value_of(type_: Type, draw: random.Random, *, given: bool) -> Any:
    """A value that fits."""
    match type_:
        case AnyType():
            return draw.choice(ANYTHING)
        case NullType():
            return None
        case BooleanType():
            return draw.random() < 0.5
        case IntegerType():
            least = type_.min_value if type_.min_value is not None else (type_.max_value or 0) - 10
            return draw.randint(least, type_.max_value if type_.max_value is not None else least + 10)
        case NumberType():
            return draw.choice([0, -1.5, 3, 1e30])
        case StringType(pattern=str()):
            return "".join(draw.choices("abcdef", k=draw.randint(1, 4)))
        case StringType():
            return text(draw, type_.min_length, type_.max_length)
        case StringLiteralType():
            return type_.value
        case UnionType():
            return value_of(draw.choice(type_.elements), draw, given=given)
        case ArrayType():
            least = type_.min_length or 0
            size = draw.randint(least, least + 2 if type_.max_length is None else type_.max_length)
            return [value_of(type_.item_type, draw, given=given) for _ in range(size)]
        case DiscriminatedObjectType():
            return value_of(draw.choice(list(type_.variants.values())), draw, given=given)
        case ObjectType():
            return object_of(type_, draw, given=given)
        case _:
            raise TypeError(type_)


def object_of(type_: ObjectType, draw: random.Random, *, given: bool) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, item in type_.properties.items():
        if refused(item, given=given):
            if draw.random() < 0.3:
                body[name] = None
        elif item.required:
            body[name] = value_of(item.type, draw, given=given)
        elif draw.random() < 0.7:
            body[name] = None if draw.random() < 0.2 else value_of(item.type, draw, given=given)
    if type_.additional_properties is not None:
        for name in ("extra1", "extra2")[: draw.randint(0, 2)]:
            body[name] = value_of(type_.additional_properties, draw, given=given)
    return body


def refused(item: Property, *, given: bool) -> bool:
    return item.read_only if given else item.write_only


class Change(NamedTuple):
    path: tuple[str | int, ...]
    code: str
    value: Any = None
    drop: bool = False


def changes(type_: Type, value: Any, path: tuple[str | int, ...], *, given: bool) -> Iterator[Change]:
    """Everything that can be done wrong to a fitting value, each with the one fault that it must give."""
    yield Change(path, "UnknownValueNotAllowed", Unknown())
    match type_:
        case AnyType():
            if isinstance(value, dict | list):
                for key, _ in value.items() if isinstance(value, dict) else enumerate(value):
                    yield Change((*path, key), "UnknownValueNotAllowed", Unknown())
        case ArrayType():
            yield Change(path, "InvalidProperty", {})
            for n, item in enumerate(value):
                yield from changes(type_.item_type, item, (*path, n), given=given)
        case DiscriminatedObjectType():
            yield Change(path, "InvalidProperty", [])
            yield Change((*path, "method"), "InvalidProperty", "four")
            yield Change((*path, "method"), "InvalidProperty", 4)
            yield Change((*path, "method"), "MissingProperty", drop=True)
            for change in changes(type_.variants[value["method"]], value, path, given=given):
                if change.path[: len(path) + 1] != (*path, "method"):
                    yield change
        case ObjectType():
            yield Change(path, "InvalidProperty", [])
            if type_.additional_properties is None:
                yield Change((*path, "nobody's"), "UnknownProperty", 1)
                yield Change((*path, "naMe"), "UnknownProperty", 1)
            for name, item in type_.properties.items():
                if refused(item, given=given):
                    yield Change((*path, name), "ReadOnlyProperty" if given else "InvalidProperty", 1)
                    continue
                if item.required:
                    yield Change((*path, name), "MissingProperty", drop=True)
                if value.get(name) is not None:
                    yield from changes(item.type, value[name], (*path, name), given=given)
            for name in value.keys() - type_.properties.keys():
                if value[name] is not None and type_.additional_properties is not None:
                    yield from changes(type_.additional_properties, value[name], (*path, name), given=given)
        case UnionType():
            yield Change(path, "InvalidProperty", 0.5)
        case StringType(min_length=int(least)) if least > 0:
            yield Change(path, "InvalidProperty", "x" * (least - 1))
        case StringType(max_length=int(most)):
            yield Change(path, "InvalidProperty", "x" * (most + 1))
        case StringType(pattern=str()):
            yield Change(path, "InvalidProperty", "abc1")
        case IntegerType(min_value=int(least)):
            yield Change(path, "InvalidProperty", least - 1)
        case StringLiteralType():
            yield Change(path, "InvalidProperty", f"not {type_.value}")
        case _:
            yield Change(path, "InvalidProperty", [1])


def changed(value: Any, change: Change) -> Any:
    if not change.path:
        return change.value
    value = copy.copy(value)
    step, *rest = change.path
    if change.drop and not rest:
        value.pop(step, None)
    else:
        inner = value.get(step) if isinstance(value, dict) else value[step]
        value[step] = changed(inner, change._replace(path=tuple(rest)))
    return value


@LAW
@given(seeds, bodies, st.booleans())
def test_a_body_that_fits_has_no_faults(draw: random.Random, body: Any, given: bool) -> None:
    for _ in range(BODIES):
        value = value_of(body, draw, given=given)
        for purpose in ("save", "preview_save", "config") if given else ("result", "preview_result"):
            assert validate(value, body, purpose=purpose) == []


@LAW
@given(seeds, bodies, st.booleans())
def test_a_changed_body_has_one_fault_exactly_where_it_was_changed(draw: random.Random, body: Any, given: bool) -> None:
    for _ in range(BODIES):
        value = value_of(body, draw, given=given)
        change = draw.choice(list(changes(body, value, (), given=given)))
        faults = validate(changed(value, change), body, purpose="save" if given else "result")
        expected = format_path(("properties", *change.path)), change.code
        assert [(fault.path, fault.code) for fault in faults] == [expected]


@LAW
@given(seeds, bodies, st.booleans(), st.booleans())
def test_what_surely_fits_has_no_faults_and_no_null_of_a_property(
    draw: random.Random, body: Any, given: bool, preview: bool
) -> None:
    purpose: Purpose = ("preview_save" if preview else "save") if given else ("preview_result" if preview else "result")
    for _ in range(OFTEN):
        surely_fits({}, body, purpose=purpose)
    for _ in range(BODIES):
        value = value_of(body, draw, given=given)
        change = draw.choice(list(changes(body, value, (), given=given)))
        other = changed(value, change._replace(value=draw.choice(ANYTHING)))
        for candidate in (value, changed(value, change), other, draw.choice(ANYTHING)):
            if surely_fits(candidate, body, purpose=purpose):
                assert validate(candidate, body, purpose=purpose) == []
                assert without_nulls(candidate, body) == candidate


def test_a_usual_body_surely_fits_once_its_type_was_asked_about_often() -> None:
    disk = ObjectType("Disk", {"name": Property(StringType(), Flag.REQUIRED), "size": Property(IntegerType(1, 9))})
    body = ObjectType(
        "Server",
        {
            "name": Property(StringType(pattern="^[a-z]+$"), Flag.REQUIRED | Flag.IDENTIFIER),
            "labels": Property(ObjectType("Labels", {}, StringType())),
            "disks": Property(ArrayType(disk, 0, 2)),
            "state": Property(UnionType([StringLiteralType("on"), StringLiteralType("off")])),
            "anything": Property(AnyType()),
            "id": Property(StringType(), Flag.READ_ONLY),
        },
    )
    usual = {
        "name": "web",
        "labels": {"a": "b"},
        "disks": [{"name": "d", "size": 3}],
        "state": "on",
        "anything": {"x": [None]},
    }
    assert [surely_fits(usual, body, purpose="save") for _ in range(OFTEN)] == [False] * OFTEN
    assert surely_fits(usual, body, purpose="save")
    for name, wrong in {"name": "WEB", "labels": {"a": 1}, "disks": [{"name": "d", "size": 10}], "id": "x"}.items():
        assert not surely_fits({**usual, name: wrong}, body, purpose="save")
        assert not surely_fits({**usual, name: None}, body, purpose="save")


def test_arrays_in_arrays_may_be_as_deep_as_they_like_and_hold_themselves() -> None:
    deep: Type = StringType()
    value: Any = "x"
    for _ in range(120):
        deep, value = ArrayType(deep), [value]
    cyclic = ArrayType(StringType())
    cyclic.item_type = cyclic
    body = ObjectType("De\0ep", {"deep": Property(deep), "cyclic": Property(cyclic)}, deep)
    for _ in range(OFTEN + 1):
        assert not surely_fits({"deep": value}, body, purpose="save")
    assert surely_fits({"deep": [[]], "cyclic": [[], []], "other": [[[]]]}, body, purpose="save")
    assert validate({"deep": value, "cyclic": [[[]]], "other": value}, body, purpose="save") == []


@LAW
@given(seeds, bodies)
def test_two_changes_give_two_faults(draw: random.Random, body: Any) -> None:
    for _ in range(BODIES):
        value = value_of(body, draw, given=True)
        possible = list(changes(body, value, (), given=True))
        one, other = draw.choice(possible), draw.choice(possible)
        apart = one.path[: len(other.path)] != other.path and other.path[: len(one.path)] != one.path
        if not apart or "method" in (one.path + other.path):
            continue
        faults = validate(changed(changed(value, one), other), body, purpose="save")
        assert {(fault.path, fault.code) for fault in faults} == {
            (format_path(("properties", *change.path)), change.code) for change in (one, other)
        }


@LAW
@given(seeds, bodies)
def test_an_unknown_may_stand_anywhere_in_a_preview(draw: random.Random, body: Any) -> None:
    for _ in range(BODIES):
        value = value_of(body, draw, given=True)
        places = [change for change in changes(body, value, (), given=True) if isinstance(change.value, Unknown)]
        place = draw.choice(places)
        assert validate(changed(value, place), body, purpose="preview_save") == []


@LAW
@given(seeds, bodies, st.booleans())
def test_the_validator_agrees_with_jsonschema(draw: random.Random, body: Any, given: bool) -> None:
    schema = json_schema(body, purpose="save" if given else "result")
    jsonschema.Draft202012Validator.check_schema(schema)
    theirs = jsonschema.Draft202012Validator(schema)
    for _ in range(BODIES):
        value = value_of(body, draw, given=given)
        known = [item for item in changes(body, value, (), given=given) if not isinstance(item.value, Unknown)]
        candidates = [value, draw.choice(ANYTHING)]
        if known:
            candidates.append(changed(value, draw.choice(known)))
            candidates.append(changed(value, draw.choice(known)._replace(value=draw.choice(ANYTHING))))
        for candidate in candidates:
            ours = validate(candidate, body, purpose="save" if given else "result")
            assert (ours == []) == theirs.is_valid(candidate), (candidate, ours, list(theirs.iter_errors(candidate)))


@LAW
@given(seeds, bodies)
def test_no_message_holds_a_given_value(draw: random.Random, body: Any) -> None:
    canary = "canary-5e7a1c"
    for _ in range(BODIES):
        value = value_of(body, draw, given=True)
        wrong = draw.choice([canary, [canary], {"x": canary}])
        for change in changes(body, value, (), given=True):
            faults = validate(changed(value, change._replace(value=wrong)), body, purpose="save")
            assert canary not in json.dumps([fault.message for fault in faults])


@LAW
@given(bodies)
def test_a_type_written_inline_reads_the_same(body: Any) -> None:
    again = read_inline(json.loads(json.dumps(resolve_inline(body))))
    assert same_type(again, body)


@LAW
@given(
    st.dictionaries(st.sampled_from(["a@1", "B@2.0", "c/d@v1"]), bodies, max_size=3),
    st.none() | bodies,
    st.none() | bodies,
)
def test_an_index_written_reads_the_same_and_to_the_same_bytes(found: Any, config: Any, fallback: Any) -> None:
    resources = {name: ResourceType(name, body) for name, body in found.items()}
    index = TypeIndex(
        Settings("x", "1.0.0", True, None, False),
        resources,
        config_type=config,
        fallback=None if fallback is None else ResourceType("any", fallback, 8, 0),
    )
    written = index.write()
    again = TypeIndex.from_files(*written)
    again.check()
    assert all(same_type(again.resource(name), item) for name, item in resources.items())
    assert again.settings == index.settings
    assert (again.config_type is None) == (config is None)
    assert config is None or same_type(again.config_type, config)  # type: ignore[arg-type]
    assert fallback is None or same_type(again.fallback, index.fallback)  # type: ignore[arg-type]
    assert again.write() == written
    assert (
        TypeIndex(
            index.settings, dict(reversed(resources.items())), config_type=config, fallback=index.fallback
        ).write()
        == written
    )
