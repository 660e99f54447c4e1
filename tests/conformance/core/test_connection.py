"""The raw peer: it can send anything, waits never without a bound, and tells how things ended."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from extensor.contract import Verb
from extensor_conformance.answers import ConnectionEnded, NoAnswer, NotExpressible
from extensor_conformance.connection import Connection
from extensor_conformance.verdicts import Failed
from extensor_conformance.watch import Watch

Connect = Callable[..., Connection]


def test_a_greeting_tells_who_answers(connect: Connect) -> None:
    hello = connect().greet()
    assert (hello.name, hello.version, hello.protocol) == ("plain", "1.0.0", "1")


def test_a_refused_greeting_is_a_failure_with_the_provider_s_words(connect: Connect) -> None:
    with pytest.raises(Failed, match="refused"):
        connect().greet(["99"])


def test_the_four_verbs_travel(connect: Connect) -> None:
    connection = connect()
    connection.greet()
    body = {"name": "a", "size": 1}
    assert connection.call(Verb.SAVE, "box@1.0", body).properties == body
    assert connection.call(Verb.GET, "box@1.0", {"name": "a"}).identifiers == {"name": "a"}
    assert connection.call(Verb.DELETE, "box@1.0", {"name": "a"}).ok
    gone = connection.call(Verb.GET, "box@1.0", {"name": "a"})
    assert gone.has_code("ResourceNotFound")
    assert str(gone) == "error -32010: absent (ResourceNotFound)"


def test_raw_bytes_are_sent_as_they_are_and_their_answers_are_found_by_id(connect: Connect) -> None:
    connection = connect()
    for byte in b'{"jsonrpc":"2.0","id":"x","method":"provider/ping"}\n{broken\n':
        connection.send_raw(bytes([byte]))
    assert connection.expect("x").answer().result == {}
    broken = connection.expect(None).answer()
    assert broken.error is not None
    assert broken.error.code == -32700


def test_ids_of_any_type_come_back_as_they_went(connect: Connect, watch: Watch) -> None:
    connection = connect()
    for id_ in (10**30, "7", -3):
        assert connection.request("provider/ping", {}, id=id_).answer().id == id_
    assert watch.take() == []


def test_lone_surrogates_can_be_sent(connect: Connect) -> None:
    assert connect().request("provider/ping", {"text": "\ud800"}).answer().ok


def test_a_batch_gives_a_pending_for_each_id(connect: Connect) -> None:
    pending = connect("none").batch([{"method": "provider/ping", "id": 1}, {"method": "$/nothing"}])
    assert [item.id for item in pending] == [1]


@pytest.mark.parametrize("fault", ["hang-greeting", "never-read"])
def test_a_provider_that_does_not_answer_costs_no_more_than_the_bound(connect: Connect, fault: str) -> None:
    connection = connect(fault)
    with pytest.raises(NoAnswer, match=r"not answered within 0\.2 s"):
        connection.greet(timeout=0.2)


def test_a_provider_that_never_reads_cannot_block_the_sender(connect: Connect) -> None:
    connection = connect("never-read")
    connection.timeout = 0.3
    with pytest.raises(NoAnswer, match="does not read its input"):
        connection.send_raw(b"x" * 1_000_000)


def test_a_provider_that_ends_is_told_with_exit_code_and_stderr(connect: Connect) -> None:
    connection = connect("die")
    with pytest.raises(ConnectionEnded, match=r"exit code 3.*no licence"):
        connection.greet()
    assert connection.wait_exit(5) == 3
    assert not connection.alive


def test_a_call_under_way_ends_with_the_process(connect: Connect) -> None:
    connection = connect("hang-save")
    connection.greet()
    pending = connection.call_verb(Verb.SAVE, "box@1.0", {"name": "a", "size": 1})
    connection.signal("KILL")
    with pytest.raises(ConnectionEnded, match="SIGKILL"):
        pending.answer(5)


def test_a_flood_on_stderr_is_drained_and_kept_short(connect: Connect) -> None:
    connection = connect("flood-stderr")
    assert all(connection.ping().ok for _ in range(50))
    assert len(connection.stderr()) <= 64 * 1024


def test_the_end_of_input_ends_the_provider(connect: Connect) -> None:
    connection = connect()
    connection.greet()
    connection.close_input()
    assert connection.wait_exit(5) == 0
    with pytest.raises(ConnectionEnded):
        connection.ping()


def test_children_that_stay_are_seen_and_ended(connect: Connect) -> None:
    connection = connect("child")
    connection.greet()
    connection.close_input()
    assert connection.wait_exit(5) == 0
    left = connection.children()
    assert len(left) == 1
    connection.close(patient=False)
    assert connection.children() == []


def test_a_provider_that_ignores_everything_is_ended_by_force(connect: Connect) -> None:
    connection = connect("stay")
    connection.greet()
    connection.close(patient=False)
    assert connection.wait_exit(5) == -9


def test_stdio_has_no_second_client(connect: Connect) -> None:
    with pytest.raises(NotExpressible):
        connect().another("2")


def test_closing_gives_every_descriptor_and_thread_back(connect: Connect) -> None:
    connect().greet()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        connection = connect()
        connection.greet()
        connection.close(patient=False)
        connection.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_late_notification_is_kept_for_who_asks(connect: Connect) -> None:
    connection = connect("banner")
    connection.greet()
    connection.call(Verb.SAVE, "box@1.0", {"name": "a", "size": 1})
    connection.settle(0.1)
    assert connection.notifications() == []


def test_the_transcript_has_both_directions(connect: Connect, watch: Watch) -> None:
    connect().ping()
    entries = watch.transcript.entries()
    assert [entry.direction for entry in entries] == ["!", ">", "<"]
    assert json.loads(entries[1].text)["method"] == "provider/ping"
