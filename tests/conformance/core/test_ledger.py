"""A kit that is killed leaves a ledger that names exactly what it made."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from extensor_conformance.bench import Bench
from extensor_conformance.case import Case
from extensor_conformance.ledger import Ledger, ledgers, read_ledger
from extensor_conformance.removal import STILL_THERE

SAVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from extensor_conformance.bench import Bench
from extensor_conformance.canary import Canaries
from extensor_conformance.ledger import Ledger
from extensor_conformance.names import Names
from extensor_conformance.provider import read_provider
from extensor_conformance.settings import Settings
from extensor_conformance.subject import Subject
ledger = Ledger(Path(sys.argv[1]) / "ledger-1.jsonl", {"command": ["x"]})
bench = Bench(Settings(Subject((sys.executable, sys.argv[2]))), names=Names(), canaries=Canaries("c"), ledger=ledger)
bench.watch.kinds = read_provider(bench.connection(), bench.fixture, 0).kinds
bench.kind = bench.watch.kinds["box@1.0"]
for index in range(3):
    bench.save({"name": f"box{index}", "size": index})
bench.delete({"name": "box1"})
bench.save({"name": "wrong", "size": 1000})
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_killed_kit_leaves_exactly_what_it_made(tmp_path: Path) -> None:
    provider = Path(__file__).with_name("plain_provider.py")
    with subprocess.Popen(
        [sys.executable, "-c", SAVER, str(tmp_path), str(provider), ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as kit:
        assert kit.stdout is not None
        assert kit.stdout.readline() == b"ready\n"
        os.kill(kit.pid, signal.SIGKILL)
    (path,) = ledgers(tmp_path)
    header, left = read_ledger(path)
    assert header["command"] == ["x"]
    assert [(made.identifiers["name"], made.deleted) for made in left] == [
        ("box2", False),
        ("box1", True),
        ("box0", False),
    ]
    assert all(made.certain for made in left)


def test_a_save_is_written_down_before_it_leaves(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger-1.jsonl")
    ledger.before_save("box@1.0", {"name": "a"})
    (left,) = read_ledger(tmp_path / "ledger-1.jsonl")[1]
    assert (left.identifiers, left.certain) == ({"name": "a"}, False)


def test_bodies_and_secrets_are_never_written(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = make_bench()
    bench.save({"name": "a", "size": 1, "password": "hunter2hunter2"})
    text = (tmp_path / "ledger-test.jsonl").read_text()
    assert "hunter2" not in text
    assert "size" not in text


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "ledger-1.jsonl"
    ledger = Ledger(path)
    ledger.before_save("box@1.0", {"name": "a"})
    with path.open("a") as file:
        file.write('{"op":"save","n":2,"ty')
    assert len(read_ledger(path)[1]) == 1


def test_another_file_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger-1.jsonl"
    path.write_text(json.dumps({"n": 1}))
    with pytest.raises(ValueError, match="is no ledger"):
        read_ledger(path)


def test_an_empty_ledger_is_removed_and_one_with_something_left_is_kept(tmp_path: Path) -> None:
    one, other = Ledger(tmp_path / "ledger-1.jsonl"), Ledger(tmp_path / "ledger-2.jsonl")
    one.before_save("box@1.0", {"name": "a"})
    one.deleted("box@1.0", {"name": "a"})
    other.before_save("box@1.0", {"name": "a"})
    one.close()
    other.close()
    assert [path.name for path in ledgers(tmp_path)] == ["ledger-2.jsonl"]


def test_a_save_beside_a_delete_leaves_the_object_to_be_removed(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench("slow-save")
    bench.save({"name": "a", "size": 1})
    connection = bench.connection()
    saving = connection.call_verb(_verb("save"), "box@1.0", {"name": "a", "size": 2})
    assert bench.delete({"name": "a"}).ok
    assert saving.answer().ok
    assert [made.identifiers for made in bench.tracker.mine()] == [{"name": "a"}]
    assert bench.last_sweep() == []
    assert bench.ledger.left() == []


def test_only_what_the_ledger_names_is_ever_deleted(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.save({"name": "mine", "size": 1})
    bench.ledger.deleted("box@1.0", {"name": "mine"})
    bench.tracker.forget(bench.tracker.mine()[0])
    bench.sweep()
    assert bench.get({"name": "mine"}).ok


def test_what_was_deleted_stays_in_the_ledger_until_a_get_says_that_it_is_gone(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench()
    bench.save({"name": "a", "size": 1})
    bench.delete({"name": "a"})
    assert [(made.certain, made.deleted) for made in bench.ledger.left()] == [(True, True)]
    assert not bench.get({"name": "a"}).ok
    assert (bench.ledger.left(), bench.ledger.removed, bench.tracker.doubts) == ([], 1, 0)


def test_what_is_made_again_after_its_delete_is_removed_again(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    for size in (1, 2):
        bench.save({"name": "a", "size": size})
        bench.delete({"name": "a"})
    bench.save({"name": "a", "size": 3})
    assert [made.deleted for made in bench.tracker.mine()] == [False]
    assert bench.last_sweep() == []
    assert not bench.get({"name": "a"}).ok
    assert (bench.ledger.created, bench.ledger.removed, bench.ledger.left()) == (1, 1, [])


def test_a_delete_that_does_nothing_is_seen_and_the_object_is_kept_in_the_ledger(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench("idle-delete")
    for name in ("a", "b", "c", "d"):
        bench.save({"name": name, "size": 1})
    bench.sweep()
    left = bench.last_sweep()
    assert sorted((made.identifiers["name"], why) for made, why in left) == [("b", STILL_THERE), ("d", STILL_THERE)]
    assert bench.get({"name": "b"}).ok
    assert bench.ledger.path is not None
    assert [(made.identifiers["name"], made.deleted) for made in read_ledger(bench.ledger.path)[1]] == [
        ("d", False),
        ("b", False),
    ]
    assert (bench.ledger.created, bench.ledger.removed, bench.ledger.unverified) == (4, 2, {})


def test_the_removal_of_a_type_without_get_is_told_as_not_verified(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench("idle-delete-no-get")
    for name in ("a", "b"):
        bench.save({"name": name, "size": 1})
    assert bench.last_sweep() == []
    assert (bench.ledger.removed, bench.ledger.unverified) == (2, {"its type has no get": 2})


def test_each_object_is_looked_at_once_at_the_end(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    for number in range(20):
        bench.save({"name": f"box{number}", "size": 1})
    bench.sweep()
    before = bench.calls
    assert bench.last_sweep() == []
    assert bench.calls - before == 20


def test_long_searches_look_now_and_then(make_bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor_conformance.bench.DOUBTS", 2)
    bench = make_bench("idle-delete")
    case = Case("c", "PRV-01", "box@1.0", 0, 1)
    for name in ("a", "b"):
        bench.save({"name": name, "size": 1})
    bench.end()
    bench.begin(case, bench.kind)
    assert [made.identifiers["name"] for made, _ in bench.stuck] == ["b"]
    assert bench.watch.take() == []
    assert bench.watch.transcript.entries(bench.watch.secrets) == ()
    assert [made.identifiers["name"] for made, _ in bench.last_sweep()] == ["b"]


def _verb(word: str):
    from extensor.contract.verbs import VERB_BY_WIRE

    return VERB_BY_WIRE[word]
