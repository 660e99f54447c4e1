"""A server in a process of its own, as a host or a shell meets it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = """
import {loop}
from extensor.rpc import Peer, fd_stream

async def serve(request):
    if request.method == "wait":
        await {loop}.sleep(60)
    return request.params

async def main():
    await Peer(fd_stream(0, 1), serve, end_grace={grace}).run()

{run}
"""
RUN = {"asyncio": "asyncio.run(main())", "trio": "trio.run(main)"}


@pytest.fixture(params=["asyncio", "trio"])
def loop(request: pytest.FixtureRequest) -> str:
    return request.param


def command(loop: str, grace: float = 1.0) -> list[str]:
    return [sys.executable, "-W", "error", "-c", SERVER.format(loop=loop, run=RUN[loop], grace=grace)]


@pytest.fixture
def piped(loop: str) -> Iterator[Any]:
    started: list[subprocess.Popen[bytes]] = []

    def start(**more: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            command(loop, **more), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.mark.reported("W01")
@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_the_wire_is_utf_8_whatever_the_locale(loop: str, framing: str) -> None:
    text = "naïve 日本 🚀 \u2028\r"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": text}, ensure_ascii=False).encode()
    frame = body + b"\n" if framing == "lines" else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    done = subprocess.run(
        command(loop),
        input=frame,
        env={
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "PYTHONIOENCODING": "cp1252",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
        capture_output=True,
        timeout=30,
        check=True,
    )
    answer = '{"jsonrpc":"2.0","id":1,"result":"naïve 日本 🚀 \u2028\\r"}'.encode()
    expected = answer + b"\n" if framing == "lines" else b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer)
    assert done.stdout == expected
    assert done.stderr == b""


def test_what_a_shell_pipes_in_is_answered_before_the_end(loop: str) -> None:
    lines = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"echo"}\n' % number for number in range(100))
    done = subprocess.run(command(loop), input=lines, capture_output=True, timeout=30, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(100))
    assert done.stderr == b""


def test_the_end_of_input_cancels_what_runs_and_the_process_exits(piped: Any) -> None:
    process = piped(grace=0)
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"wait"}\n{"jsonrpc":"2.0","id":2,"method":"x"}\n')
    assert json.loads(process.stdout.readline())["id"] == 2
    process.stdin.close()
    assert json.loads(process.stdout.readline())["error"]["code"] == -32800
    assert process.stdout.read() == b""
    assert process.wait(5) == 0
    assert process.stderr.read() == b""


def test_a_host_that_closes_both_ends_leaves_no_trace(piped: Any) -> None:
    process = piped(grace=0)
    process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"x"}\n')
    process.stdout.readline()
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"wait"}\n')
    process.stdout.close()
    process.stdin.close()
    assert process.wait(5) == 0
    assert process.stderr.read() == b""


def test_a_file_on_stdin_and_stdout_works(loop: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b'{"jsonrpc":"2.0","id":1,"method":"echo","params":"x"}\n' * 3)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        subprocess.run(command(loop), stdin=source, stdout=target, timeout=30, check=True)
    lines = (tmp_path / "out").read_bytes().splitlines()
    assert len(lines) == 3
    assert all(json.loads(line)["id"] == 1 for line in lines)


def test_a_server_on_asyncio_answers_without_anyio_trio_ssl_or_pydantic() -> None:
    program = """
import asyncio, sys
from extensor.rpc import Peer, fd_stream
async def serve(request):
    return sorted({"anyio", "trio", "pydantic", "jsonrpcserver", "jsonschema", "http", "email"} & set(sys.modules))
async def main():
    await Peer(fd_stream(0, 1), serve).run()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=b'{"jsonrpc":"2.0","id":1,"method":"x"}\n',
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["result"] == []
