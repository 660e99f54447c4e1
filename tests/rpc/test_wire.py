"""What a server sends back, byte for byte, to good and to careless peers."""

import json
from typing import Any

import anyio
import pytest

from extensor.contract import Limits
from extensor.contract.limits import MAX_NESTING
from extensor.rpc import Request, RpcFailure
from extensor.rpc.serving import MAX_BATCH_MEMBERS

pytestmark = pytest.mark.anyio


async def serve(request: Request) -> Any:
    if request.method == "echo":
        return request.params
    if request.method == "object":
        if not isinstance(request.params, dict):
            raise RpcFailure(-32602, "params must be an object")
        return request.params
    raise RpcFailure(-32601, f"there is no method {request.method!r}")


def call(id: Any, method: str = "echo", **more: Any) -> dict[str, Any]:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "method": method, **more}


def codes(answer: Any) -> Any:
    return [(item.get("id"), item["error"]["code"]) for item in (answer if isinstance(answer, list) else [answer])]


@pytest.mark.reported("W20")
@pytest.mark.parametrize("id", ["1", "007", "", 9007199254740993, 2**80, -(2**70), 0, -1, 1.5, 1.0, "日本", None])
async def test_an_id_comes_back_with_its_type_and_value(wire: Any, id: Any) -> None:  # noqa: A002
    async with wire(serve) as (raw, _):
        answer = await raw.ask(call(id, params={"a": 1}))
    assert answer == {"jsonrpc": "2.0", "id": id, "result": {"a": 1}}
    assert type(answer["id"]) is type(id)


@pytest.mark.parametrize("id", [True, False, [], {}, [1]])
async def test_an_id_of_another_kind_is_an_invalid_request(wire: Any, id: Any) -> None:  # noqa: A002
    async with wire(serve) as (raw, _):
        assert codes(await raw.ask(call(id))) == [(None, -32600)]


@pytest.mark.parametrize("params", [None, 5, "text", True, [1]])
async def test_params_of_any_kind_reach_the_callback_which_may_refuse_them(wire: Any, params: Any) -> None:
    async with wire(serve) as (raw, _):
        assert (await raw.ask(call(1, params=params)))["result"] == params
        assert codes(await raw.ask(call(2, "object", params=params))) == [(2, -32602)]


@pytest.mark.reported("W23")
async def test_an_empty_batch_is_one_error(wire: Any) -> None:
    async with wire(serve) as (raw, _):
        assert codes(await raw.ask(b"[]\n")) == [(None, -32600)]


@pytest.mark.reported("W23")
async def test_members_of_a_batch_that_are_no_objects_get_an_error_each(wire: Any) -> None:
    async with wire(serve) as (raw, _):
        answer = await raw.ask([None])
        assert isinstance(answer, list)
        assert codes(answer) == [(None, -32600)]
        assert codes(await raw.ask([1, 2, []])) == [(None, -32600)] * 3


@pytest.mark.reported("W23")
async def test_a_batch_answers_its_calls_in_one_array_and_its_notifications_not_at_all(wire: Any) -> None:
    heard: list[Any] = []
    note = {"jsonrpc": "2.0", "method": "note", "params": [1]}
    async with wire(serve, on_notification=lambda method, params: heard.append((method, params))) as (raw, _):
        assert await raw.ask([call(1, params=[]), note]) == [{"jsonrpc": "2.0", "id": 1, "result": []}]
        answer = await raw.ask([call(1, "none"), {"foo": 1}, call("a"), {"jsonrpc": "2.0", "method": 1, "id": 3}, note])
        assert sorted(codes([item for item in answer if "error" in item]), key=str) == [
            (1, -32601),
            (3, -32600),
            (None, -32600),
        ]
        assert [item["result"] for item in answer if "result" in item] == [None]
        await raw.send([note, note])
        assert (await raw.ask(call(9)))["id"] == 9
    assert heard == [("note", [1])] * 4


async def test_a_batch_of_too_many_members_is_refused_as_a_whole(wire: Any) -> None:
    async with wire(serve) as (raw, _):
        assert codes(await raw.ask([1] * (MAX_BATCH_MEMBERS + 1))) == [(None, -32600)]


async def test_the_answers_of_a_batch_together_keep_to_the_limit(wire: Any) -> None:
    async with wire(serve, limits=Limits(max_message_bytes=2000)) as (raw, _):
        answer = await raw.ask([call(number, params="x" * 400) for number in range(4)])
        assert sorted(item["id"] for item in answer) == [0, 1, 2, 3]
        assert len(json.dumps(answer, separators=(",", ":"))) <= 2000
        await raw.send([call(1, params="x" * 900), call(2, params="x" * 900)])
        kinds = {item["id"]: "result" in item for item in await raw.receive()}
        assert sorted(kinds) == [1, 2]


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ({"id": 1, "method": "echo"}, 1),
        ({"jsonrpc": "1.0", "id": "a", "method": "echo"}, "a"),
        ({"jsonrpc": 2.0, "id": 1, "method": "echo"}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": None}, 1),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({}, None),
        ({"jsonrpc": "2.0", "method": 7}, None),
        ("text", None),
        (5, None),
        (None, None),
    ],
)
async def test_a_wrong_envelope_is_an_invalid_request(wire: Any, message: Any, id: Any) -> None:  # noqa: A002
    async with wire(serve) as (raw, _):
        await raw.send(call(0))
        await raw.receive()
        assert codes(await raw.ask(message)) == [(id, -32600)]
        assert (await raw.ask(call(2)))["id"] == 2


@pytest.mark.parametrize(
    "text",
    [
        b'{"jsonrpc":"2.0","id":1,"method":',
        b"{broken",
        b"{}}",
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1e400}',
        b'{"a":"\xff"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\\ud800"}',
        b'{"a":"\x01"}',
        b"[" * 100_000,
        b'{"a":' * (MAX_NESTING + 1) + b"1" + b"}" * (MAX_NESTING + 1),
        b"[" * (MAX_NESTING + 1) + b"]" * (MAX_NESTING + 1),
        b'{"a":' + b"1" * 5000 + b"}",
    ],
    ids=lambda text: text[:24].decode("latin-1"),
)
async def test_broken_json_is_a_parse_error_and_the_connection_lives_on(wire: Any, text: bytes) -> None:
    async with wire(serve) as (raw, _):
        assert codes(await raw.ask(text + b"\n")) == [(None, -32700)]
        assert (await raw.ask(call(2)))["id"] == 2


async def test_nesting_up_to_the_limit_is_served(wire: Any) -> None:
    params: Any = 1
    for _ in range(MAX_NESTING - 1):
        params = [params]
    async with wire(serve) as (raw, _):
        assert (await raw.ask(call(1, params=params)))["result"] == params


async def test_the_first_byte_chooses_the_framing_of_the_answers(wire: Any) -> None:
    async with wire(serve, framing="headers") as (raw, _):
        assert (await raw.ask(call(1)))["id"] == 1
    async with wire(serve) as (raw, _):
        await raw.send(b'{"jsonrpc":"2.0","id":1,"method":"echo","params":"a\xe2\x80\xa8b"}\n')
        assert await raw.stream.receive() == '{"jsonrpc":"2.0","id":1,"result":"a\u2028b"}\n'.encode()


async def test_a_first_line_of_neither_framing_is_answered_and_the_next_one_decides(wire: Any) -> None:
    async with wire(serve) as (raw, _):
        assert codes(await raw.ask(b"hello\n")) == [(None, -32700)]
        assert (await raw.ask(call(1)))["id"] == 1


BODY = b'{"jsonrpc":"2.0","id":1,"method":"echo"}'


@pytest.mark.reported("W06", "W07")
@pytest.mark.parametrize(
    "block",
    [
        b"content-length:   40\r\n\r\n",
        b"CONTENT-LENGTH:40\r\n\r\n",
        b"Content-Length \t:\t40 \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 40\r\n\r\n",
        b"Content-Length: 40\r\nContent-Type: x\r\nX-Other:\r\n\r\n",
        b"Content-Length: 40\n\n",
        b"Content-Length: 40\r\nContent-Length: 40\r\n\r\n",
        b"\r\n\r\nContent-Length: 040\r\n\r\n",
    ],
)
async def test_a_header_block_is_read_with_tolerance(wire: Any, block: bytes) -> None:
    async with wire(serve, framing="headers") as (raw, _):
        for _ in range(2):
            assert (await raw.ask(block + BODY))["id"] == 1


@pytest.mark.parametrize(
    "block",
    [
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 4_0\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 40\r\nContent-Length: 41\r\n\r\n",
        b"Content-Length: " + b"9" * 400 + b"\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"no header\r\n\r\n",
        b"X: " + b"y" * 10_000 + b"\r\n\r\n",
        b"X: y\r\n" * 5000 + b"\r\n",
    ],
    ids=lambda block: block[:30].decode(),
)
@pytest.mark.parametrize("body", [b"", BODY])
async def test_a_broken_header_block_is_one_parse_error_and_the_connection_lives_on(
    wire: Any, block: bytes, body: bytes
) -> None:
    async with wire(serve, framing="headers") as (raw, _):
        assert (await raw.ask(call(0)))["id"] == 0
        assert codes(await raw.ask(block + body)) == [(None, -32700)]
        assert (await raw.ask(call(2)))["id"] == 2


async def test_endless_headers_are_not_kept(wire: Any) -> None:
    async with wire(serve, framing="headers") as (raw, server):
        assert (await raw.ask(call(0)))["id"] == 0
        assert codes(await raw.ask(b"X" * 70_000)) == [(None, -32700)]
        for _ in range(50):
            await raw.send(b"X" * 70_000)
        assert (await raw.ask(b"\r\n", call(2)))["id"] == 2
        assert len(server._reader._line) < 1000


@pytest.mark.parametrize("framing", ["lines", "headers"])
async def test_an_oversized_request_is_refused_once_with_its_id_and_not_kept(wire: Any, framing: Any) -> None:
    async with wire(serve, framing=framing, limits=Limits(max_message_bytes=10_000)) as (raw, server):
        answer = await raw.ask(call("big", params="x" * 300_000))
        assert codes(answer) == [("big", -32011)]
        assert answer["error"]["data"] == {"maxMessageBytes": 10_000}
        assert (await raw.ask(call(2)))["id"] == 2
        assert sum(map(len, server._reader._parts)) == 0


async def test_a_huge_announced_length_is_refused_before_its_body_comes(wire: Any) -> None:
    async with wire(serve, framing="headers") as (raw, _):
        assert codes(await raw.ask(b"Content-Length: 99999999999\r\n\r\n")) == [(None, -32011)]


async def test_a_line_without_end_is_refused_at_the_limit(wire: Any) -> None:
    async with wire(serve, limits=Limits(max_message_bytes=10_000)) as (raw, _):
        await raw.send(b'{"jsonrpc":"2.0","id":"7","x":"')
        for _ in range(5):
            await raw.send(b"y" * 50_000)
        assert codes(await raw.receive()) == [("7", -32011)]
        assert (await raw.ask(b'"}\n', call(2)))["id"] == 2


class Gate:
    """Requests that wait, and may refuse to be cancelled."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.go = anyio.Event()
        self.canceled = 0

    async def __call__(self, request: Request) -> Any:
        if request.method == "echo":
            return request.params
        self.started.set()
        try:
            await self.go.wait()
        except BaseException:
            self.canceled += 1
            if request.method != "stubborn":
                raise
            with anyio.CancelScope(shield=True):
                await self.go.wait()
        if request.method == "failing":
            raise ValueError("after all")
        return "done"


def cancel(id: Any) -> dict[str, Any]:  # noqa: A002
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}


@pytest.mark.reported("W25")
@pytest.mark.parametrize("id", [7, "7", 7.5, 2**80])
async def test_a_cancelled_call_is_answered_exactly_once(wire: Any, id: Any) -> None:  # noqa: A002
    gate = Gate()
    async with wire(gate) as (raw, _):
        await raw.send(call(id, "slow"))
        await gate.started.wait()
        await raw.send(cancel(id), cancel(id))
        answer = await raw.receive()
        assert codes(answer) == [(id, -32800)]
        assert answer["error"]["data"]["errors"][0]["code"] == "Canceled"
        await raw.send(cancel(id))
        assert (await raw.ask(call(8)))["id"] == 8
    assert gate.canceled == 1


async def test_a_handler_that_swallows_its_cancel_is_answered_once_as_cancelled(wire: Any) -> None:
    gate = Gate()
    async with wire(gate) as (raw, server):
        await raw.send(call(1, "stubborn"))
        await gate.started.wait()
        await raw.send(cancel(1))
        assert (await raw.ask(call(2)))["id"] == 2
        assert server.running == 1
        gate.go.set()
        assert codes(await raw.receive()) == [(1, -32800)]
        assert (await raw.ask(call(3)))["id"] == 3


@pytest.mark.parametrize("method", ["slow", "failing"])
async def test_a_handler_that_finished_in_between_is_answered_once(wire: Any, method: str) -> None:
    gate = Gate()
    async with wire(gate, on_error=lambda error: None) as (raw, server):
        await raw.send(call(1, method))
        await gate.started.wait()
        gate.go.set()
        server.handle_notification("$/cancelRequest", {"id": 1})
        assert codes(await raw.receive()) == [(1, -32800)]
        assert (await raw.ask(call(3)))["id"] == 3


async def test_a_cancel_that_arrives_with_its_call_is_answered_once(wire: Any) -> None:
    gate = Gate()
    async with wire(gate) as (raw, _):
        await raw.send(json.dumps(call(1, "slow")).encode() + b"\n" + json.dumps(cancel(1)).encode() + b"\n")
        assert codes(await raw.receive()) == [(1, -32800)]
        assert (await raw.ask(call(3)))["id"] == 3


async def test_a_member_of_a_batch_can_be_cancelled(wire: Any) -> None:
    gate = Gate()
    async with wire(gate) as (raw, _):
        await raw.send([call(1, "slow"), call(2)])
        await gate.started.wait()
        await raw.send(cancel(1))
        answer = await raw.receive()
        assert sorted((item["id"], "error" in item) for item in answer) == [(1, True), (2, False)]


async def test_a_callback_with_a_scope_of_its_own_is_cancelled_through_it(wire: Any) -> None:
    started, cleaned = anyio.Event(), anyio.Event()

    async def careful(request: Request) -> Any:
        if request.method == "echo":
            return None
        with anyio.CancelScope() as scope:
            request.on_cancel = scope.cancel
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.lowlevel.checkpoint()
                    cleaned.set()
        return "cleaned up"

    async with wire(careful) as (raw, _):
        await raw.send(call(1, "x"))
        await started.wait()
        await raw.send(cancel(1))
        assert codes(await raw.receive()) == [(1, -32800)]
        assert cleaned.is_set()


@pytest.mark.parametrize("params", [None, {}, {"id": None}, {"id": 99}, {"id": [1]}, [1], 5])
async def test_a_cancel_of_nothing_is_ignored(wire: Any, params: Any) -> None:
    async with wire(serve) as (raw, _):
        await raw.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params})
        assert (await raw.ask(call(1)))["id"] == 1


async def test_an_id_that_is_in_use_is_refused(wire: Any) -> None:
    gate = Gate()
    async with wire(gate) as (raw, _):
        await raw.send(call(1, "slow"))
        await gate.started.wait()
        assert codes(await raw.ask(call(1))) == [(1, -32600)]
        assert (await raw.ask(call(1.0)))["result"] is None
        assert (await raw.ask(call("1")))["result"] is None
        gate.go.set()
        assert (await raw.receive())["result"] == "done"
        assert (await raw.ask(call(1, params=[5])))["result"] == [5]


async def test_a_server_without_a_callback_knows_no_method(wire: Any) -> None:
    async with wire(None) as (raw, _):
        assert codes(await raw.ask(call(1))) == [(1, -32601)]
        await raw.send({"jsonrpc": "2.0", "method": "note"})
        assert (await raw.ask(call(2)))["id"] == 2


async def test_answers_to_no_call_are_reported_and_not_answered(wire: Any) -> None:
    violations: list[str] = []
    async with wire(serve, on_violation=violations.append) as (raw, _):
        await raw.send({"jsonrpc": "2.0", "id": 5, "result": 1}, {"jsonrpc": "2.0", "id": None, "error": {"code": 1}})
        await raw.send([{"jsonrpc": "2.0", "id": "x", "result": 1}])
        assert (await raw.ask(call(1)))["id"] == 1
    assert len(violations) == 3


async def test_a_client_reports_stray_lines_with_their_first_bytes_and_goes_on(wire: Any) -> None:
    from extensor.rpc.framing import write_frame

    violations: list[str] = []
    async with wire(serve, role="client", on_violation=violations.append) as (raw, client):
        client._framing = client._reader.framing = "lines"
        async with anyio.create_task_group() as group:
            answers: list[Any] = []

            async def ask() -> None:
                answers.append(await client.call("x"))

            group.start_soon(ask)
            assert (await raw.receive())["method"] == "x"
            await raw.send(b"Warning: something is deprecated\n", b"5\n", b"[1]\n", b"{}\n")
            await raw.send(write_frame(b'{"jsonrpc":"2.0","id":1,"result":"ok"}', "lines"))
    assert answers == ["ok"]
    assert len(violations) == 4
    assert "Warning: something is deprecated" in violations[0]


@pytest.mark.parametrize("error", [{"code": -1, "message": "m"}, "text", 5, {}, {"code": "x", "message": 5}, []])
async def test_an_error_answer_of_any_shape_fails_its_call(wire: Any, error: Any) -> None:
    from extensor.errors import RpcError

    async with wire(serve) as (raw, server):
        await raw.ask(call(1))
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                with pytest.raises(RpcError):
                    await server.call("x")

            group.start_soon(ask)
            message = await raw.receive()
            await raw.send({"jsonrpc": "2.0", "id": message["id"], "error": error})


async def test_a_flood_of_garbage_ends_with_a_working_connection(wire: Any) -> None:
    async with wire(serve) as (raw, _), anyio.create_task_group() as group:
        await raw.ask(call(0))

        async def flood() -> None:
            for _ in range(5):
                await raw.send(b"{]\n" * 1000)
            await raw.send(call("last"))

        group.start_soon(flood)
        count = 0
        while (answer := await raw.receive())["id"] != "last":
            assert codes(answer) == [(None, -32700)]
            count += 1
        assert count == 5000


async def test_what_a_server_says_before_the_first_byte_waits_for_the_framing(wire: Any) -> None:
    async with wire(serve, framing="headers") as (raw, server):
        await server.notify("$/log", {"message": "hello"})
        await raw.send(call(1))
        assert [(await raw.receive()).get("method"), (await raw.receive()).get("id")] == ["$/log", 1]


async def test_the_sent_callback_comes_after_the_answer_left(wire: Any) -> None:
    sent: list[int] = []
    async with wire(serve, on_sent=lambda: sent.append(1)) as (raw, _):
        await raw.ask(call(1))
        await raw.ask(call(2))
        while len(sent) < 2:
            await anyio.lowlevel.checkpoint()


async def test_an_unknown_engine_is_refused_by_name() -> None:
    from extensor.rpc import Peer, memory_pair

    with pytest.raises(ValueError, match="'own' or 'jsonrpcserver'"):
        Peer(memory_pair()[0], engine="other")


@pytest.mark.parametrize(
    "block",
    [
        b"X-Foo: bar\r\n\r\n",
        b"Content-Length: abc\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 3\r\n\r\n",
    ],
)
async def test_a_first_block_of_headers_is_answered_in_headers_however_wrong_it_is(wire: Any, block: bytes) -> None:
    async with wire(serve, framing="headers") as (raw, _):
        assert codes(await raw.ask(block)) == [(None, -32700)]
        assert (await raw.ask(call(1)))["id"] == 1
