"""Frames out of bytes, however they were chunked."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from extensor.rpc.framing import MAX_HEADER_BYTES, Broken, Frame, FrameReader, Framing, Oversized, write_frame

LIMIT = 200

bodies = st.one_of(
    st.binary(min_size=1, max_size=40).map(lambda body: b"{" + body.replace(b"\n", b" ") + b"}"),
    st.just(b'{"a":"' + "naïve\u2028日本🚀\r".encode() + b'"}'),
    st.just(b"[" + b"x" * (LIMIT - 1)),
    st.integers(1, 400).map(lambda more: b"{" + b"y" * (LIMIT + more)),
)
framings = st.sampled_from(["lines", "headers"])
noise = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"\r\n", b"\n", b"X: y\r\n\r\n", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n\r\n", b"{\n", b"z" * 9000]
    ),
)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


def read(parts: list[bytes], framing: Framing | None, *, early: bool) -> list[Frame]:
    reader = FrameReader(LIMIT, framing, early=early)
    return [frame for part in parts for frame in reader.feed(part)] + reader.finish()


def shape(frames: list[Frame]) -> list[object]:
    """Early reports hold what had arrived of the head, so only the announced length of those is compared."""
    return [("oversized", frame.length) if isinstance(frame, Oversized) else frame for frame in frames]


@given(
    st.lists(bodies, max_size=6), framings, st.lists(st.integers(0, 10_000), max_size=12), st.booleans(), st.booleans()
)
def test_frames_come_back_whatever_the_chunks(
    messages: list[bytes], framing: Framing, cuts: list[int], early: bool, detect: bool
) -> None:
    data = b"".join(write_frame(message, framing) for message in messages)
    frames = read(chunks(data, cuts), None if detect else framing, early=early)
    assert len(frames) == len(messages)
    for frame, message in zip(frames, messages, strict=True):
        if len(message) <= LIMIT:
            assert frame == message
        else:
            assert isinstance(frame, Oversized)
            assert frame.length in (None, len(message))
            if not early:
                assert message.startswith(frame.head)
                assert message.endswith(frame.tail)


@given(
    st.lists(st.one_of(noise, bodies), max_size=8),
    st.lists(st.integers(0, 20_000), max_size=12),
    framings,
    st.booleans(),
)
def test_any_bytes_give_the_same_frames_whatever_the_chunks(
    pieces: list[bytes], cuts: list[int], framing: Framing, detect: bool
) -> None:
    data = b"".join(pieces)
    chosen = None if detect else framing
    whole, parts = read([data], chosen, early=True), read(chunks(data, cuts), chosen, early=True)
    excerptless = [
        [item if not isinstance(item, Broken) else item.reason for item in shape(frames)] for frames in (whole, parts)
    ]
    assert excerptless[0] == excerptless[1]


@given(st.lists(noise, max_size=8))
def test_a_good_header_block_on_its_own_line_is_found_again_after_anything(pieces: list[bytes]) -> None:
    reader = FrameReader(LIMIT, "headers")
    reader.feed(write_frame(b"{}", "headers"))
    for piece in pieces:
        reader.feed(piece)
    reader.feed(b"z" * (LIMIT + MAX_HEADER_BYTES + 1))
    reader.feed(b"\r\n\r\n" * 3)
    assert reader.feed(b"\r\n" + write_frame(b'{"found":1}', "headers"))[-1:] == [b'{"found":1}']


@given(st.binary(max_size=3000), st.booleans())
def test_a_reader_keeps_no_more_than_the_limit(data: bytes, headers: bool) -> None:
    reader = FrameReader(LIMIT, "headers" if headers else "lines")
    for start in range(0, len(data), 100):
        reader.feed(data[start : start + 100].replace(b"\n", b" "))
    kept = sum(map(len, reader._parts)) + len(reader._line)
    assert kept <= max(LIMIT, MAX_HEADER_BYTES)


def test_only_a_line_feed_ends_a_line() -> None:
    odd = '{"a":"\u2028\u2029\x85\x0b\x0c\r"}'.encode()
    assert FrameReader(LIMIT).feed(odd + b"\n") == [odd]


@given(
    st.text(alphabet=" \t\r\n", max_size=12),
    st.sampled_from(["lines", "headers"]),
    st.lists(st.integers(0, 50), max_size=5),
)
def test_blanks_before_the_first_byte_do_not_decide(blanks: str, framing: Framing, cuts: list[int]) -> None:
    data = blanks.encode() + write_frame(b"{}", framing)
    reader = FrameReader(LIMIT)
    assert [frame for part in chunks(data, cuts) for frame in reader.feed(part)] == [b"{}"]
    assert reader.framing == framing


def test_blank_lines_are_no_messages() -> None:
    reader = FrameReader(LIMIT, "lines")
    assert reader.feed(b"\n \r\n\n{}\n\t\n") == [b"{}"]
    assert reader.finish() == []


def test_a_last_line_without_its_end_is_a_message_and_a_cut_off_body_is_broken() -> None:
    reader = FrameReader(LIMIT)
    assert reader.feed(b'{"a":1}') == []
    assert reader.finish() == [b'{"a":1}']
    reader = FrameReader(LIMIT)
    assert reader.feed(b"Content-Length: 10\r\n\r\n{}") == []
    assert reader.finish() == [Broken("the input ended inside a message", b"{}")]
    assert FrameReader(LIMIT).finish() == []


def test_a_body_may_hold_line_feeds_and_headers() -> None:
    body = b'{\n"a":\n\n"Content-Length: 5\\r\\n"}'
    assert FrameReader(LIMIT).feed(write_frame(body, "headers") * 2) == [body, body]


def test_a_length_that_starts_no_line_is_found_when_hunting() -> None:
    reader = FrameReader(LIMIT, "headers")
    frames = reader.feed(b'Content-Length: x\r\n\r\n{"lost":1}Content-Length: 2\r\n\r\n{}')
    assert [type(frame) for frame in frames] == [Broken, bytes]
    assert frames[-1] == b"{}"
