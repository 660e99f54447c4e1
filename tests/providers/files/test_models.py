"""What properties mean as bytes and modes."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor import InvalidProperty
from extensor_providers.files.models import (
    File,
    content_of,
    directory_mode,
    file_mode,
    mode_text,
    shown_file,
)


@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_the_shown_form_of_any_bytes_means_the_same_bytes(content: bytes) -> None:
    shown = shown_file("f", content, "0644")
    assert content_of(shown) == content
    assert shown_file("f", content_of(shown) or b"", "0644") == shown
    assert content_of(File(path="f", content_base64=base64.b64encode(content).decode())) == content


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(InvalidProperty) as caught:
        content_of(File.model_construct(path="f", content="\ud800", content_base64=None))
    assert caught.value.failure.faults[0].path == "$.properties.content"


@pytest.mark.parametrize("text", ["0200", "0000", "0377", "1333"])
def test_a_mode_that_its_owner_could_not_read_is_refused_with_the_least_that_is_not(text: str) -> None:
    with pytest.raises(InvalidProperty, match="0400"):
        file_mode(text)
    with pytest.raises(InvalidProperty, match="0500"):
        directory_mode(text)


@given(st.integers(0, 0o7777))
def test_a_mode_is_written_as_it_is_read(mode: int) -> None:
    text = mode_text(mode)
    assert len(text) == 4
    if mode & 0o400:
        assert file_mode(text) == mode
    if mode & 0o500 == 0o500:
        assert directory_mode(text) == mode
