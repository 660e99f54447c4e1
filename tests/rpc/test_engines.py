"""Our engine against jsonrpcserver on the same requests; what differs is listed with its reason."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensor.rpc import Peer, Request, RpcFailure, memory_pair
from extensor.rpc.engine import OwnEngine
from extensor.rpc.engine_jsonrpcserver import JsonRpcServerEngine


async def serve(request: Request) -> Any:
    if request.method == "echo":
        return request.params
    if request.method == "fail":
        raise RpcFailure(-32010, "failed", request.params)
    if request.method == "boom":
        raise ValueError("the secret is 12345")
    raise RpcFailure(-32601, "Method not found")


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
methods = st.sampled_from(["echo", "fail", "boom", "none", ""])
requests = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": methods},
    optional={"id": scalars, "params": json_values},
)
messages = st.one_of(
    requests,
    st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.sampled_from(["2.0", "1.0", 2.0, None]),
            "method": methods | scalars,
            "id": json_values,
            "params": json_values,
            "more": scalars,
        },
    ),
    json_values,
    st.lists(requests | scalars, max_size=3),
)


async def through_peer(message: Any, engine: str = "own") -> Any:
    """The answer our peer gives, ``None`` for none."""
    near, far = memory_pair()
    server = Peer(near, serve, engine=engine, role="server", framing="lines", on_error=lambda error: None)
    server._engine.first_answer_left()
    sentinel = {"jsonrpc": "2.0", "id": "the sentinel", "method": "echo"}
    lines = b""
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(server.run)
            await far.send(json.dumps(message).encode() + b"\n" + json.dumps(sentinel).encode() + b"\n")
            answers: list[Any] = []
            while (
                not any(isinstance(item, dict) and item.get("id") == "the sentinel" for item in answers)
                or server.running
            ):
                lines += await far.receive()
                answers = [json.loads(line) for line in lines.splitlines()]
            await far.aclose()
    answers = [item for item in answers if not (isinstance(item, dict) and item.get("id") == "the sentinel")]
    assert len(answers) <= 1
    return answers[0] if answers else None


async def through_oracle(message: Any) -> Any:
    """The answer of jsonrpcserver as it comes, its own validation included."""
    from jsonrpcserver import Error, Success, async_dispatch

    def method(name: str) -> Callable[..., Any]:
        async def call(*args: Any, **params: Any) -> Any:
            request = Request(None, name, (args and list(args)) or params, None, False)  # type: ignore[arg-type]
            try:
                return Success(await serve(request))
            except RpcFailure as failure:
                return Error(failure.code, failure.message, failure.data)

        return call

    text = await async_dispatch(json.dumps(message), {name: method(name) for name in ("echo", "fail", "boom")})
    return json.loads(text) if text else None


@dataclass(frozen=True)
class Deviation:
    """Where we differ from jsonrpcserver on purpose."""

    reason: str
    applies: Callable[[Any], bool]


def is_request(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and type(message.get("id")) in (type(None), int, float, str)
    )


DEVIATIONS = [
    Deviation(
        "a batch with a bad member fails as a whole there; JSON-RPC 2.0 section 6 wants an answer for each member",
        lambda message: isinstance(message, list) and not all(is_request(member) for member in message),
    ),
    Deviation(
        "an invalid request with a readable id gets it back from us; section 5 says null only when it cannot be told",
        lambda message: isinstance(message, dict) and not is_request(message),
    ),
    Deviation(
        "further members of the envelope are refused there; we ignore them, so that a peer may add trace context",
        lambda message: is_request(message) and bool(message.keys() - {"jsonrpc", "id", "method", "params"}),
    ),
    Deviation(
        "params that are no structure are invalid there; here the callback says so with -32602 (fault row W33)",
        lambda message: is_request(message) and "params" in message and not isinstance(message["params"], dict | list),
    ),
    Deviation(
        "empty and absent params are one thing there; here absent params are null",
        lambda message: is_request(message) and not message.get("params"),
    ),
    Deviation(
        "an answer is invalid input there; a peer takes it for one to a call of its own",
        lambda message: (
            isinstance(message, dict) and "method" not in message and bool({"result", "error"} & message.keys())
        ),
    ),
    Deviation(
        "two requests of one id at once are served there; here the second is refused, or cancel would be ambiguous",
        lambda message: isinstance(message, list) and _twice([member.get("id") for member in message]),
    ),
]


def _twice(ids: list[Any]) -> bool:
    return any(ids.count(id) > 1 for id in ids if id is not None)  # noqa: A001


def deviates(message: Any) -> bool:
    """Whether a listed deviation applies to a message or a member of a batch."""
    if any(deviation.applies(message) for deviation in DEVIATIONS):
        return True
    return isinstance(message, list) and any(deviates(member) for member in message if isinstance(member, dict))


def canonical(answer: Any) -> Any:
    """An answer with the answers of a batch in one order, and with the types of its values."""
    if isinstance(answer, list):
        return sorted(json.dumps(item, sort_keys=True) for item in answer)
    return json.dumps(answer, sort_keys=True)


def comparable(answer: Any) -> Any:
    """An answer without the wording of errors that are our own: message and data are for people."""
    if isinstance(answer, list):
        return [comparable(item) for item in answer]
    if isinstance(answer, dict) and "error" in answer:
        code = answer["error"]["code"]
        more = answer["error"] if code == -32010 else {}
        return {"id": answer["id"], "code": code, "message": more.get("message"), "data": more.get("data")}
    return answer


@given(message=messages)
@settings(max_examples=100, deadline=None)
def test_we_answer_as_jsonrpcserver_does_except_where_listed(message: Any) -> None:
    async def both() -> tuple[Any, Any]:
        return await through_peer(message), await through_oracle(message)

    ours, theirs = asyncio.run(both())
    if not deviates(message):
        assert canonical(comparable(ours)) == canonical(comparable(theirs))
    assert "12345" not in json.dumps(ours)


@given(message=messages)
@settings(max_examples=75, deadline=None)
def test_a_peer_answers_the_same_with_either_engine(message: Any) -> None:
    async def both() -> tuple[Any, Any]:
        return await through_peer(message), await through_peer(message, "jsonrpcserver")

    ours, theirs = asyncio.run(both())
    assert canonical(ours) == canonical(theirs)


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": [1]}, {"foo": 1}], 0),
        ({"jsonrpc": "2.0", "id": 7, "method": 1}, 1),
        ({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": [1], "traceparent": "x"}, 2),
        ({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": 5}, 3),
        ({"jsonrpc": "2.0", "id": 7, "method": "echo"}, 4),
        ({"jsonrpc": "2.0", "id": 7, "result": 1}, 5),
        ([{"jsonrpc": "2.0", "id": 7, "method": "echo", "params": [1]}] * 2, 6),
    ],
)
def test_each_listed_deviation_is_real(message: Any, number: int) -> None:
    async def both() -> tuple[Any, Any]:
        return await through_peer(message), await through_oracle(message)

    assert DEVIATIONS[number].applies(message)
    ours, theirs = asyncio.run(both())
    assert canonical(comparable(ours)) != canonical(comparable(theirs))


@pytest.mark.anyio
@pytest.mark.parametrize("engine", [OwnEngine(), JsonRpcServerEngine()], ids=["own", "jsonrpcserver"])
async def test_an_engine_lets_cancellation_out_and_nothing_else(engine: Any) -> None:
    async def wait(request: Request) -> Any:
        started.set()
        await anyio.sleep_forever()

    started = anyio.Event()
    ended: list[str] = []

    async def run() -> None:
        try:
            await engine.dispatch(Request(1, "x", {}, None, False), wait, seen.append)  # type: ignore[arg-type]
        finally:
            ended.append("canceled")

    seen: list[Exception] = []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await started.wait()
            group.cancel_scope.cancel()
    assert ended == ["canceled"]
    assert seen == []


def test_jsonrpcserver_is_imported_only_once_the_first_answer_has_left() -> None:
    program = """
import asyncio, sys
from extensor.rpc import Peer, memory_pair
async def serve(request):
    return "jsonrpcserver" in sys.modules
async def main():
    near, far = memory_pair()
    server, client = Peer(near, serve), Peer(far, framing="lines")
    tasks = [asyncio.create_task(server.run()), asyncio.create_task(client.run())]
    print([await client.call("x"), await client.call("x")])
    await client.aclose()
    await asyncio.gather(*tasks)
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"EXTENSOR_RPC_ENGINE": "jsonrpcserver"},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout == "[False, True]\n"
