import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract.paths import format_path
from extensor.contract.redaction import MASK, Redactor

SECRET = 'p@ss "wörd"/+\n'


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_masked_in_every_spelling(spelling: str) -> None:
    masked = Redactor([SECRET]).text(f"before {spelling} after")
    assert masked == f"before {MASK} after"


@given(st.text(min_size=4, max_size=12), st.text(max_size=10), st.text(max_size=10))
def test_a_known_secret_never_survives(secret: str, before: str, after: str) -> None:
    masked = Redactor([secret]).text(before + secret + after)
    assert secret not in masked or secret in MASK


def test_secrets_inside_data_are_learnt_and_masked_in_names_and_values() -> None:
    redactor = Redactor()
    redactor.learn({"user": "someone", "keys": ["topsecret", 12345]})
    assert redactor.data({"topsecret": ["x topsecret", 7]}) == {MASK: [f"x {MASK}", 7]}
    assert redactor.text("12345") == MASK


def test_very_short_values_do_not_mask_everything() -> None:
    assert Redactor(["a"]).text("banana") == "banana"


@pytest.mark.parametrize(
    "spelling",
    [
        lambda text: format_path(("properties", text)),
        lambda text: json.dumps(json.dumps(text)),
        repr,
        lambda text: "[parameters('{}')]".format(text.replace("'", "''")),
        quote,
        quote_plus,
        lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    ],
)
@pytest.mark.parametrize("others", [0, 500])
def test_a_secret_is_masked_inside_paths_expressions_and_nested_texts(
    spelling: Callable[[str], str], others: int
) -> None:
    secret = 'it\'s a \\ "secret"/é\n'
    redactor = Redactor([secret, *(f"another secret {n}" for n in range(others))])
    masked = redactor.text(f"before {spelling(secret)} after")
    assert "secret" not in masked
    assert MASK in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_many_secrets_are_looked_for_as_fast_as_a_few() -> None:
    redactor = Redactor(f"{n:04d}-some-secret" for n in range(2000))
    assert redactor.text("x" * 10_000 + "1234-some-secret") == "x" * 10_000 + MASK
    assert redactor.finds("see 1999-some-secret", 8)
    assert not redactor.finds("see 2000-some-secret", 8)
