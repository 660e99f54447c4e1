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
from extensor_conformance.ledger import Ledger, ledgers, read_ledger

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
    assert [made.identifiers for made in left] == [{"name": "box2"}, {"name": "box0"}]
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
    bench.sweep()
    assert bench.ledger.left() == []


def test_only_what_the_ledger_names_is_ever_deleted(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.save({"name": "mine", "size": 1})
    bench.ledger.deleted("box@1.0", {"name": "mine"})
    bench.tracker.forget(bench.tracker.mine()[0])
    bench.sweep()
    assert bench.get({"name": "mine"}).ok


def _verb(word: str):
    from extensor.contract.verbs import VERB_BY_WIRE

    return VERB_BY_WIRE[word]
