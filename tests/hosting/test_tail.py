"""The kept end of stderr."""

from hypothesis import given
from hypothesis import strategies as st

from extensor.contract.redaction import Redactor
from extensor.hosting.tail import MAX_LINE_BYTES, MAX_LINES, StderrTail


def test_the_last_lines_are_kept_and_all_are_handed_on():
    heard: list[str] = []
    tail = StderrTail(Redactor(), heard.append)
    tail.feed("".join(f"line {n}\n" for n in range(MAX_LINES + 10)).encode())
    assert len(heard) == MAX_LINES + 10
    assert tail.text().splitlines() == heard[10:]


def test_an_unfinished_line_is_shown_and_handed_on_at_the_end_only():
    heard: list[str] = []
    tail = StderrTail(Redactor(), heard.append)
    tail.feed(b"half")
    assert (tail.text(), heard) == ("half", [])
    tail.end()
    assert (tail.text(), heard) == ("half", ["half"])


def test_a_line_without_end_costs_a_bounded_amount_of_memory():
    tail = StderrTail(Redactor())
    for _ in range(100):
        tail.feed(b"x" * 65536)
    assert len(tail.text()) < MAX_LINE_BYTES + 10
    tail.feed(b"\nnext")
    assert tail.text().endswith("[...]\nnext")


def test_a_secret_learned_later_is_masked_in_what_came_before():
    redactor = Redactor()
    tail = StderrTail(redactor)
    tail.feed(b"the key is hunter2!\n")
    redactor.add("hunter2")
    assert tail.text() == "the key is ***!"


def test_bytes_that_are_no_utf8_do_no_harm():
    tail = StderrTail(Redactor())
    tail.feed(b"caf\xe9\r\n")
    assert tail.text() == "caf\\xe9"


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_where_the_chunks_are_cut_makes_no_difference(chunks: list[bytes]):
    whole, cut = StderrTail(Redactor()), StderrTail(Redactor())
    whole.feed(b"".join(chunks))
    for chunk in chunks:
        cut.feed(chunk)
    assert cut.text() == whole.text()


def test_a_secret_at_the_place_where_a_long_line_is_cut_is_not_shown_by_half():
    tail = StderrTail(Redactor(["s3cr3t-s3cr3t"]))
    tail.feed(b"x " * (MAX_LINE_BYTES // 2 - 3) + b"key=s3cr3t-s3cr3t and more\n")
    assert "s3c" not in tail.text()
    assert tail.text().endswith("key= [...]")
