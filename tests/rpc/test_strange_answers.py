"""What a client makes of answers that no decent peer would send."""

import json
from typing import Any

import anyio
import pytest

from extensor.contract.redaction import Redactor
from extensor.errors import ConnectionFailed, ProtocolViolation
from extensor.rpc import Peer

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("transport", ["pipes", "memory"])]


ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"text":%b}}'


@pytest.mark.parametrize(
    "line",
    [
        ANSWER % b"NaN",
        ANSWER % b'"\xff"',
        ANSWER % (b"[" * 100_000),
        b'{"result":' + b"[" * 100_000 + b',"jsonrpc":"2.0","id":1}',
        b"WARNING: deprecated" + ANSWER % b'"x"',
        ANSWER % b'"x"' + b" and more",
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"},}',
    ],
    ids=["nan", "utf8", "deep", "deep, id last", "glued before", "glued after", "comma"],
)
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once_and_is_quoted(line: bytes, link: Any) -> None:
    violations: list[str] = []
    with anyio.fail_after(10):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing="lines", on_violation=violations.append)
            group.start_soon(client.run)

            async def stranger() -> None:
                await near.receive()
                await near.send(line + b"\n")

            group.start_soon(stranger)
            with pytest.raises(ProtocolViolation, match=r"cannot be read .*(jsonrpc|result)"):
                await client.call("ask")
            assert client.pending == 0
            await client.aclose()
            await near.aclose()
    assert violations == []


@pytest.mark.parametrize(
    "line",
    [
        b'got {"jsonrpc":"2.0","method":"ask","params":{"result":1},"id":1}',
        b'{"jsonrpc":"2.0","id":2,"result":NaN}',
        b'{"jsonrpc":"2.0","id":"1","result":0}',
        b'{"jsonrpc":"2.0","id":true,"result":0}',
        b'{"id":1}x',
    ],
)
async def test_a_line_that_is_no_answer_to_a_call_is_reported_and_answers_none(line: bytes, link: Any) -> None:
    violations: list[str] = []
    with anyio.fail_after(10):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing="lines", on_violation=violations.append)
            group.start_soon(client.run)

            async def stranger() -> None:
                await near.receive()
                await near.send(line + b"\n" + ANSWER % b"1" + b"\n")

            group.start_soon(stranger)
            assert await client.call("ask") == {"text": 1}
            await client.aclose()
            await near.aclose()
    assert len(violations) == 1


SECRET = "hunter\\2\"'\n"


@pytest.mark.parametrize(
    "line",
    [
        f"plain {SECRET!r}".encode(),
        f"raw {SECRET.strip()}".encode(),
        json.dumps({"jsonrpc": "2.0", "id": 9, "result": SECRET}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": None, "error": {"message": SECRET}}).encode(),
        json.dumps([SECRET]).encode(),
        b"x" * 195 + json.dumps(SECRET).encode(),
        b'{"jsonrpc":"2.0","id":1,"result":NaN,"s":' + json.dumps(SECRET).encode(),
    ],
)
async def test_what_is_quoted_of_a_message_is_masked_before_it_is_cut_or_escaped(line: bytes, link: Any) -> None:
    told: list[str] = []
    redactor = Redactor([SECRET, SECRET.strip()])
    with anyio.fail_after(10):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing="lines", on_violation=told.append, mask=redactor.text)
            group.start_soon(client.run)

            async def ask() -> None:
                try:
                    await client.call("ask")
                except ConnectionFailed as error:
                    told.append(str(error))

            group.start_soon(ask)
            await near.receive()
            await near.send(line + b"\n")
            while not told:
                await anyio.lowlevel.checkpoint()
            begins = client.beginning()
            await client.aclose()
            await near.aclose()
    assert begins is not None
    for text in (told[0], begins):
        assert "***" in text or line.startswith(b"x")
        assert "hunter" not in text
