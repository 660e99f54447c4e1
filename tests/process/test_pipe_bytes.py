"""What a provider puts on its pipe, byte for byte."""

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extensor.contract.limits import DEFAULT_MAX_MESSAGE_BYTES

Data = Callable[..., dict[str, Any]]
Start = Callable[..., Any]
SECONDS = 15.0

TRANSLATING = """
import io, sys
sys.stdout = sys.__stdout__ = io.TextIOWrapper(sys.stdout.buffer, encoding="cp1252", newline="\\r\\n")
sys.stderr.write("translating\\n")
"""
"""What Python does to stdout on a system whose lines end otherwise; it runs before anything of ours."""


@pytest.mark.reported("W02")
@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_no_line_end_is_translated_on_the_way_out(start: Start, resource_data: Data, tmp_path: Path, framing: str):
    (tmp_path / "sitecustomize.py").write_text(TRANSLATING)
    child = start(env={"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])})
    text = "a\nb\r\nc 日本"
    request = {"jsonrpc": "2.0", "id": 1, "method": "resource/save", "params": resource_data({"name": text})}
    body = json.dumps(request).encode()
    child.stdin.write(body + b"\n" if framing == "lines" else b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    child.stdin.close()
    sent = child.stdout.read()
    assert child.process.wait(SECONDS) == 0
    assert child.stderr == "translating\n"
    if framing == "headers":
        head, sent = sent.split(b"\r\n\r\n", 1)
        assert head == b"Content-Length: %d" % len(sent)
    else:
        assert sent.endswith(b"}\n")
    assert b"\r" not in sent
    assert json.loads(sent)["result"]["identifiers"] == {"name": text}


LARGE = """
@provider.resource("note@1.0")
class Handler(ResourceHandler[Note]):
    async def get(self, ctx, wanted):
        return Note(name=wanted.name, text="x" * int(wanted.name))
"""


@pytest.mark.reported("W12")
def test_an_answer_may_be_as_large_as_declared_and_not_a_byte_larger(start: Start, resource_data: Data):
    child = start(LARGE)

    def got(size: int) -> bytes:
        child.send("resource/get", resource_data({"name": f"{size:010}"}))
        return child.line() + b"\n"

    limit = child.call("provider/initialize", {"protocolVersions": ["1"]})["result"]["limits"]["maxMessageBytes"]
    assert limit == DEFAULT_MAX_MESSAGE_BYTES
    around = len(got(0)) - 1  # the limit is the message's, without the end of its line
    assert len(got(limit - around)) - 1 == limit
    assert json.loads(got(limit - around + 1))["error"]["code"] == -32011
    assert len(json.loads(got(5 * 1024 * 1024))["result"]["properties"]["text"]) == 5 * 1024 * 1024


IDS = ["1", "007", "9007199254740993", 9007199254740993, 0, "0", "", -1, 2**70]


@pytest.mark.reported("W20")
def test_an_id_comes_back_from_every_kind_of_answer_with_its_type_and_value(start: Start, resource_data: Data):
    child = start(LARGE)
    ways = (
        ("provider/ping", {}),
        ("resource/get", resource_data({"name": "5"})),
        ("resource/get", resource_data({"name": 5})),
        ("resource/get", None),
        ("no/method", {}),
    )
    for number, (method, params) in itertools.product(IDS, ways):
        child.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
        )
        child.stdin.flush()
        answer = child.answer()
        assert (answer["id"], type(answer["id"])) == (number, type(number)), method


PING = {"jsonrpc": "2.0", "id": 1, "method": "provider/ping"}
NOTE = {"jsonrpc": "2.0", "method": "$/unheard"}


@pytest.mark.reported("W23")
@pytest.mark.parametrize(
    ("batch", "wanted"),
    [
        ([], (None, -32600)),
        ([None], [(None, -32600)]),
        ([1], [(None, -32600)]),
        ([PING, NOTE], [(1, None)]),
        ([NOTE, NOTE], ()),
        ([None, PING, NOTE, []], [(None, -32600), (None, -32600), (1, None)]),
    ],
    ids=str,
)
def test_a_batch_has_the_outcomes_of_json_rpc(start: Start, batch: list[Any], wanted: Any):
    child = start()
    for message in (batch, {**PING, "id": "last"}):
        child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
    if wanted != ():
        answer = child.answer()
        outcomes = [
            (item["id"], item.get("error", {}).get("code"))
            for item in (answer if isinstance(answer, list) else [answer])
        ]
        assert sorted(outcomes, key=str) == sorted([wanted] if isinstance(wanted, tuple) else wanted, key=str)
        assert isinstance(answer, list) is isinstance(wanted, list)
    assert child.answer() == {"jsonrpc": "2.0", "id": "last", "result": {}}
