"""What counts as a change, and what is shown of it."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.contract import PreviewMetadata, Unknown, is_unknown, parse_path
from extensor.contract.redaction import MASK, Redactor
from extensor.engine.diff import Rules, masked, property_changes
from extensor.engine.results import PropertyChange
from extensor.types import (
    ArrayType,
    DiscriminatedObjectType,
    NullType,
    ObjectType,
    Property,
    StringType,
    UnionType,
    shape_of,
)

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
bodies = st.dictionaries(
    st.text(min_size=1, max_size=3),
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def kinds(before, after, rules=Rules()) -> dict[str, str]:  # noqa: B008 - immutable
    return {change.path: change.kind for change in property_changes(before, after, rules)}


@given(bodies)
def test_a_body_does_not_differ_from_itself(body) -> None:
    assert kinds(body, body) == {}


@given(bodies, bodies)
def test_what_the_template_leaves_out_is_never_a_change(body, more) -> None:
    assert kinds({**more, **body}, body) == {}


@pytest.mark.reported("I02")
def test_values_that_the_service_filled_in_are_not_managed() -> None:
    before = {"name": "a", "created": "2020", "spec": {"replicas": 1, "filled": True}}
    assert kinds(before, {"name": "a", "spec": {"replicas": 1}}) == {}


@pytest.mark.reported("I05")
def test_labels_that_others_added_are_left_alone_where_no_type_says_that_they_are_a_map() -> None:
    assert kinds({"labels": {"own": "1", "theirs": "2"}}, {"labels": {"own": "1"}}) == {}


@pytest.mark.reported("I05", "I12")
def test_keys_that_a_map_loses_are_removals_each_with_its_path() -> None:
    before = {"labels": {"own": "1", "app.io/x": "2", "null": None}, "ports": [{"tags": {"a": "1"}}], "filled": 1}
    after = {"labels": {"own": "1"}, "ports": [{"tags": {}}]}
    lost = frozenset({("labels", "app.io/x"), ("labels", "null"), ("ports", 0, "tags", "a")})
    assert property_changes(before, after, Rules(), lost=lost) == (
        PropertyChange("$.properties.labels['app.io/x']", "Delete", "2", None),
        PropertyChange("$.properties.ports[0].tags.a", "Delete", "1", None),
    )


@pytest.mark.parametrize("known", ["calculated", "read_only", "unknown"])
@pytest.mark.parametrize("place", ["$.properties.labels.k", "$.properties.labels"])
def test_a_lost_key_is_no_removal_where_the_preview_says_that_nothing_follows_from_it(known, place) -> None:
    rules = Rules().told(PreviewMetadata(**{known: (place,)}))
    found = property_changes({"labels": {"k": "1"}}, {"labels": {}}, rules, lost=frozenset({("labels", "k")}))
    kind = {"calculated": None, "read_only": "Delete", "unknown": "Modify"}[known] if place.endswith("labels") else None
    assert [change.kind for change in found] == ([] if kind is None else [kind])


def test_the_name_of_a_lost_key_is_masked_where_its_map_is() -> None:
    def change(places):
        def mask(body):
            return masked(body, Redactor(["hunter22"]), frozenset(places))

        before = {"labels": {"a": "1", "hunter22": "2"}}
        lost = frozenset({("labels", "a"), ("labels", "hunter22")})
        return [(one.path, one.before) for one in property_changes(before, {"labels": {}}, Rules(), mask, lost)]

    assert change([]) == [("$.properties.labels.a", "1"), ("$.properties.labels['***']", MASK)]
    assert change([("labels",)]) == [("$.properties.labels['***']", MASK)] * 2
    assert change([("labels", "a")]) == [("$.properties.labels.a", MASK), ("$.properties.labels['***']", MASK)]


TEXT = StringType()
TAGS = ObjectType("tags", {}, TEXT)
PORT = ObjectType("port", {"number": Property(TEXT), "tags": Property(TAGS)})
AUTH = DiscriminatedObjectType(
    "auth",
    "kind",
    {"tags": Property(TAGS)},
    {"one": ObjectType("one", {"x": Property(TEXT)}), "two": ObjectType("two", {"y": Property(TAGS)})},
)
BODY = ObjectType(
    "body",
    {
        "text": Property(TEXT),
        "labels": Property(TAGS),
        "port": Property(PORT),
        "ports": Property(ArrayType(PORT)),
        "deep": Property(ObjectType("deep", {}, ObjectType("mid", {}, TAGS))),
        "named": Property(ObjectType("named", {}, PORT)),
        "auth": Property(AUTH),
        "mixed": Property(ObjectType("mixed", {"a": Property(TEXT)}, TEXT)),
        "maybe": Property(UnionType([TAGS, NullType(), TEXT])),
    },
)


def values(type_):
    """Values of a type, without nulls, often with names in common."""
    match type_:
        case ArrayType():
            return st.lists(values(type_.item_type), max_size=2)
        case UnionType():
            return st.one_of([values(one) for one in type_.elements if not isinstance(one, NullType)])
        case DiscriminatedObjectType():
            return st.one_of([values(one).map(lambda v, k=k: v | {"kind": k}) for k, one in type_.variants.items()])
        case ObjectType():
            named = {name: values(item.type) for name, item in type_.properties.items() if name != "kind"}
            if type_.additional_properties is None:
                return st.fixed_dictionaries({}, optional=named)
            keys = st.dictionaries(st.sampled_from(["k", "l", "m/n"]), values(type_.additional_properties), max_size=3)
            return st.builds(lambda one, other: one | other, keys, st.fixed_dictionaries({}, optional=named))
        case _:
            return st.sampled_from("xyz")


def saved(type_, before, after):
    """The state to come: properties that are not given stay, and maps are as they are given."""
    match type_:
        case ArrayType() if isinstance(before, list) and len(before) == len(after):
            return [saved(type_.item_type, one, other) for one, other in zip(before, after, strict=True)]
        case UnionType():
            return saved(type_.elements[0], before, after) if isinstance(after, dict) else after
        case DiscriminatedObjectType() if isinstance(before, dict):
            names = {name for variant in type_.variants.values() for name in variant.properties}
            types = type_.variants[after["kind"]].properties
            kept = {name: before[name] for name in names & before.keys()}
            return kept | {name: saved(types[name].type, before.get(name), value) for name, value in after.items()}
        case ObjectType() if isinstance(before, dict):
            types = {name: item.type for name, item in type_.properties.items()}
            kept = {name: before[name] for name in types.keys() & before.keys()}
            return kept | {
                name: saved(types.get(name, type_.additional_properties), before.get(name), value)
                for name, value in after.items()
            }
        case _:
            return after


def applied(body, changes):
    body = copy.deepcopy(body)
    for change in changes:
        *above, last = parse_path(change.path)[1:]
        place = body
        for part in above:
            place = place[part]
        if change.kind == "Delete":
            del place[last]
        else:
            place[last] = change.after
    return body


@pytest.mark.reported("I05", "I12")
@settings(max_examples=300)
@given(values(BODY), values(BODY))
def test_the_changes_lead_from_what_is_there_to_what_will_be(before, after) -> None:
    changes = property_changes(before, after, Rules(), lost=shape_of(BODY).lost_keys(before, after))
    assert applied(before, changes) == saved(BODY, before, after)
    assert bool(changes) == (saved(BODY, before, after) != before)


def test_each_changed_property_has_its_own_path() -> None:
    before = {"a": 1, "spec": {"ports": [{"name": "x", "port": 1}], "gone": "y"}}
    after = {"a": 2, "spec": {"ports": [{"name": "x", "port": 2}], "gone": None}, "new": {"q": 1}}
    assert kinds(before, after) == {
        "$.properties.a": "Modify",
        "$.properties.spec.ports[0].port": "Modify",
        "$.properties.spec.gone": "Delete",
        "$.properties.new": "Create",
    }


def test_lists_of_different_length_differ_as_a_whole() -> None:
    (change,) = property_changes({"items": [1, 2]}, {"items": [1]}, Rules())
    assert (change.path, change.before, change.after) == ("$.properties.items", [1, 2], [1])


def test_true_is_not_one_and_a_null_is_an_absence() -> None:
    assert kinds({"a": 1}, {"a": True}) == {"$.properties.a": "Modify"}
    assert kinds({}, {"a": None}) == {}
    assert kinds({"a": None}, {"a": 1}) == {"$.properties.a": "Create"}


def test_calculated_properties_never_count() -> None:
    rules = Rules(calculated=frozenset({("stamp",)}))
    assert kinds({"stamp": 1, "more": {"stamp": 1}}, {"stamp": 2, "more": {"stamp": 1}}, rules) == {}
    told = Rules().told(PreviewMetadata(calculated=("$.properties.items[0].at",)))
    assert kinds({"items": [{"at": 1}]}, {"items": [{"at": 2}]}, told) == {}


def test_a_read_only_property_counts_only_where_the_preview_knows_better() -> None:
    rules = Rules(read_only=frozenset({("sha256",)}))
    assert kinds({"sha256": "a"}, {"sha256": Unknown()}, rules) == {}
    assert kinds({"sha256": "a"}, {"sha256": None}, rules) == {}
    assert kinds({"sha256": "a"}, {}, rules) == {}
    assert kinds({"sha256": "a"}, {"sha256": "b"}, rules) == {"$.properties.sha256": "Modify"}


def test_an_unknown_value_is_shown_as_unknown() -> None:
    (change,) = property_changes({"text": "old"}, {"text": Unknown("[reference('a').x]")}, Rules())
    assert change.before == "old"
    assert is_unknown(change.after)
    assert change.after.expression == "[reference('a').x]"


def test_what_the_preview_calls_unknown_is_unknown_whatever_it_shows() -> None:
    rules = Rules().told(PreviewMetadata(unknown=("$.properties.text",)))
    (change,) = property_changes({"text": "old"}, {"text": "guess"}, rules)
    assert is_unknown(change.after)


def test_secrets_are_compared_bare_and_shown_masked_on_both_sides() -> None:
    def mask(body):
        return masked(body, Redactor(["hunter22"]), frozenset({("password",)}))

    before = {"password": "old", "text": "say hunter22", "same": 1}
    after = {"password": "new", "text": "say hunter22 again", "same": 1}
    changes = {change.path: (change.before, change.after) for change in property_changes(before, after, Rules(), mask)}
    assert changes == {"$.properties.password": (MASK, MASK), "$.properties.text": (f"say {MASK}", f"say {MASK} again")}


def test_a_masked_value_hides_what_is_in_it() -> None:
    def mask(body):
        return masked(body, Redactor(), frozenset({("auth",)}))

    (change,) = property_changes({"auth": {"user": "a"}}, {"auth": {"user": "b"}}, Rules(), mask)
    assert (change.path, change.before, change.after) == ("$.properties.auth.user", MASK, MASK)


def test_an_unknowns_expression_is_masked_too() -> None:
    hidden = masked(Unknown("[format('{0}', 'hunter22')]"), Redactor(["hunter22"]))
    assert hidden.expression == f"[format('{{0}}', '{MASK}')]"
