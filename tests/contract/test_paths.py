import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract import format_path, parse_path, to_pointer

parts = st.lists(st.one_of(st.text(), st.integers(min_value=0, max_value=10**9))).map(tuple)


@given(parts)
def test_a_path_written_and_read_back_is_the_same_path(path: tuple[str | int, ...]) -> None:
    assert parse_path(format_path(path)) == path


@pytest.mark.parametrize(
    ("path", "text", "pointer"),
    [
        ((), "$", ""),
        (
            ("properties", "spec", "ports", 0, "name"),
            "$.properties.spec.ports[0].name",
            "/properties/spec/ports/0/name",
        ),
        (
            ("properties", "labels", "app.io/name"),
            "$.properties.labels['app.io/name']",
            "/properties/labels/app.io~1name",
        ),
        (("it's",), "$['it\\'s']", "/it's"),
        (("a~b",), "$['a~b']", "/a~0b"),
    ],
)
def test_paths_are_written_as_the_protocol_shows_them(path: tuple[str | int, ...], text: str, pointer: str) -> None:
    assert format_path(path) == text
    assert to_pointer(path) == pointer


@pytest.mark.parametrize("text", ["", "properties.name", "$..name", "$.a[*]", "$.a[01]", "$.a[-1]", "$['open", "$.a b"])
def test_what_is_no_path_to_one_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(text)
