import pytest

from extensor.contract import TypeName, Verb, serves
from extensor.contract.verbs import VERB_BY_METHOD, VERB_BY_WIRE


@pytest.mark.parametrize(
    ("own", "asked", "served"),
    [
        ("1.4.0", "1.4.0", True),
        ("1.4.0", "1.3", True),
        ("1.4.0", "1", True),
        ("1.4.0", "1.4.1", False),
        ("2.0.0", "1.4.0", False),
        ("0.1.0", "0.1", True),
        ("1.0.0", "1.0.0-preview", True),
        ("1.0.0-preview", "1.0.0", False),
        ("1.0.0-rc.10", "1.0.0-rc.9", True),
        ("1.0.0-alpha.beta", "1.0.0-alpha.1", True),
        ("v1", "v1", True),
        ("beta", "beta", True),
        ("beta", "1.0", False),
    ],
)
def test_a_provider_serves_its_own_major_version_up_to_its_own_version(own: str, asked: str, served: bool) -> None:
    assert serves(own, asked) is served


def test_type_names_compare_without_case_and_versions_exactly() -> None:
    assert TypeName.parse("apps/Deployment@v1").key == TypeName.parse("Apps/deployment@v1").key
    assert TypeName.parse("a@V1").key != TypeName.parse("a@v1").key


def test_a_provider_prefix_is_read_apart() -> None:
    assert TypeName.parse("aad:application@1.0") == TypeName("application", "1.0", "aad")


@pytest.mark.parametrize("text", ["", "file", "@1", "file@", "a@b@c", "a b@1", ":file@1", "x:y:z@1"])
def test_what_is_no_type_name_is_refused_with_the_expected_form(text: str) -> None:
    with pytest.raises(ValueError, match="name@version"):
        TypeName.parse(text)


def test_verbs_map_to_the_wire_and_back() -> None:
    assert Verb.PREVIEW_SAVE.method == "resource/previewSave"
    assert {VERB_BY_METHOD[verb.method] for verb in Verb} == {VERB_BY_WIRE[verb.wire] for verb in Verb} == set(Verb)
    assert {verb for verb in Verb if verb.mutates} == {Verb.SAVE, Verb.DELETE}
