"""What counts as a change, and what is shown of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import PreviewMetadata, Unknown, is_unknown
from extensor.contract.redaction import MASK, Redactor
from extensor.engine.diff import Rules, masked, property_changes

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
def test_labels_that_others_added_are_left_alone() -> None:
    assert kinds({"labels": {"own": "1", "theirs": "2"}}, {"labels": {"own": "1"}}) == {}


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
