"""A path is one place in one spelling, or it is refused with a remedy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor import errors
from extensor_providers.files.paths import parse_path

REFUSED = {
    "": "empty",
    "/etc/passwd": "absolute",
    "a/": "ends with a slash",
    "/": "absolute",
    "a//b": "two slashes",
    ".": "'.'",
    "..": "'..'",
    "a/../b": "'..'",
    "./a": "'.'",
    "a/./b": "'.'",
    "a\0b": "control character",
    "a\nb": "control character",
    "a\x7fb": "control character",
    "\ud800": "surrogate",
    "x" * 256: "256 bytes",
    "ä" * 128: "256 bytes",
    "/".join(["x" * 250] * 17): "4266 bytes",
    "a/.extensor-0.tmp": "provider's own",
}


@pytest.mark.parametrize("text", REFUSED, ids=[repr(text)[:20] for text in REFUSED])
def test_a_path_that_could_leave_the_root_or_has_two_spellings_is_refused(text: str) -> None:
    with pytest.raises(errors.InvalidProperty) as caught:
        parse_path(text)
    (fault,) = caught.value.failure.faults
    assert (fault.code, fault.path) == ("InvalidProperty", "$.properties.path")
    assert REFUSED[text] in fault.message


@pytest.mark.parametrize(
    "text", ["a", "a/b.txt", "...", "..a", "a..", " ", "a b/ü/日本", "-rf", "~", "C:\\x", "*", "x" * 255]
)
def test_a_plain_path_is_its_names(text: str) -> None:
    assert parse_path(text) == tuple(text.split("/"))


@given(st.text(alphabet=st.sampled_from("ab./\\\0\n \ud800é"), max_size=12))
def test_whatever_is_accepted_joins_back_to_the_same_text_and_has_only_plain_names(text: str) -> None:
    try:
        names = parse_path(text)
    except errors.InvalidProperty:
        return
    assert "/".join(names) == text
    assert all(name and name not in {".", ".."} and "/" not in name and "\0" not in name for name in names)
