"""JSON in and out; the two codecs accept, refuse and mean the same."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensor.contract.limits import MAX_NESTING
from extensor.rpc import codec
from extensor.rpc.codec import CodecError, decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

TEXTS = [
    b"",
    b" ",
    b"1 2",
    b"01",
    b"1.",
    b"-",
    b"+1",
    b".5",
    b"nul",
    b"[1,]",
    b'{"a":1,}',
    b"'a'",
    b"NaN",
    b"[Infinity]",
    b"-Infinity",
    b"1e400",
    b"[-1E+400]",
    b"1e00400",
    b"1" * 310 + b".0",
    b"-" + b"9" * 400 + b"e1",
    b"1" * 5000,
    b'"\\ud800"',
    b'"\\uDE00\\uD83D"',
    b'"\\ud83d\\u0041"',
    b'"\xff"',
    b'"\xc3"',
    b'"\xed\xa0\x80"',
    b'"\n"',
    b'"\\x"',
    b'"a',
    b"\xef\xbb\xbf1",
    b"\xff\xfe1\x00",
    b"[" * 200,
    b"[" * 5000 + b"]" * 5000,
    b"[" * (MAX_NESTING + 1) + b"]" * (MAX_NESTING + 1),
    b'{"a":[' * (MAX_NESTING // 2) + b"[]" + b"]}" * (MAX_NESTING // 2),
]
GOOD = [
    (b'"\\ud83d\\uDE80"', "🚀"),
    (b'"\\\\ud800"', "\\ud800"),
    (b'"a\\u0000"', "a\0"),
    (b'{"a":1,"a":2}', {"a": 2}),
    (b"9007199254740993", 9007199254740993),
    (b" -0 ", 0),
    (b"1e308", 1e308),
    (b"1e-400", 0.0),
    (b'["1e400", "x\\",1e999", "ae123"]', ["1e400", 'x",1e999', "ae123"]),
    (b'"' + b"[" * 500 + b'\\"{"', "[" * 500 + '"{'),
    (b"[" * MAX_NESTING + b"]" * MAX_NESTING, None),
    (b"[" + b'{"a":[]},' * 400 + b"1]", [{"a": []}] * 400 + [1]),
    (b"1" * 4000, int("1" * 4000)),
]


@pytest.fixture(params=["stdlib", "pydantic_core"], autouse=True)
def which(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both codecs, whatever this process has loaded."""
    import pydantic_core as _  # noqa: F401

    monkeypatch.setattr(codec, "_fast", None)
    if request.param == "stdlib":
        monkeypatch.setattr(codec, "_find_fast", lambda: None)
    return request.param


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:20].decode("latin-1"))
def test_what_is_no_json_for_us_is_refused_with_one_exception(text: bytes) -> None:
    with pytest.raises(CodecError) as caught:
        decode(text)
    assert str(caught.value)


@pytest.mark.parametrize(("text", "value"), GOOD, ids=lambda item: str(item)[:20])
def test_what_is_json_is_read(text: bytes, value: Any) -> None:
    found = decode(text)
    if value is not None:
        assert found == value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [float("inf")],
        {"a": -float("inf")},
        "\ud800",
        object(),
        {"a": object},
        [lambda: None],
    ],
    ids=["nan", "infinity", "minus infinity", "lone surrogate", "object", "class", "function"],
)
def test_what_has_no_json_is_refused_with_one_exception(value: Any) -> None:
    with pytest.raises(CodecError):
        encode(value)


def test_cycles_and_deep_values_are_refused_and_never_a_recursion_error() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = 1
    for _ in range(MAX_NESTING):
        deep = {"a": deep}
    assert decode(encode(deep)) == deep
    far: Any = 1
    for _ in range(100_000):
        far = [far]
    for value in (cycle, [deep], far):
        with pytest.raises(CodecError):
            encode(value)


def test_a_text_that_says_nan_is_only_a_text() -> None:
    assert decode(encode(["NaN", "-Infinity"])) == ["NaN", "-Infinity"]


@given(value=values)
def test_a_value_comes_back_on_one_line_of_utf_8(value: Any) -> None:
    data = encode(value)
    assert b"\n" not in data
    assert b"\r" not in data
    assert decode(data) == value == json.loads(data.decode())


@given(
    text=st.binary(max_size=40) | st.text(alphabet='{}[]",:\\ud8eE+-.0123456789 nultrfas', max_size=40).map(str.encode)
)
def test_both_codecs_agree_on_any_text(text: bytes) -> None:
    import pydantic_core as _  # noqa: F401

    outcomes: list[Any] = []
    kept = codec._find_fast
    for find in (kept, lambda: None):
        codec._fast, codec._find_fast = None, find
        try:
            outcomes.append(repr(decode(text)))
        except CodecError:
            outcomes.append(CodecError)
        finally:
            codec._fast, codec._find_fast = None, kept
    assert outcomes[0] == outcomes[1]


def test_the_codec_imports_pydantic_for_nobody() -> None:
    program = (
        "import sys; from extensor.rpc.codec import decode, encode; encode(decode(b'{}'));"
        "assert not {'pydantic_core', 'anyio', 'trio', 'jsonrpcserver', 'ssl'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
