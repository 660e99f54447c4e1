"""One behaviour, whatever the transport, the framing and the event loop."""

from typing import Any

import anyio
import pytest

from extensor.contract import Limits, RpcCode
from extensor.errors import CallTimedOut, ConnectionLost, RpcError
from extensor.rpc import Request, RpcFailure

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


async def echo(request: Request) -> Any:
    return request.params


class Slow:
    """A callback whose requests wait until they are let go."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.canceled = anyio.Event()
        self.go = anyio.Event()

    async def __call__(self, request: Request) -> Any:
        if request.method != "slow":
            return request.params
        self.started.set()
        try:
            await self.go.wait()
        except BaseException:
            self.canceled.set()
            raise
        return "done"


@pytest.mark.parametrize("params", [{"a": "naïve 日本 🚀\u2028\r\n"}, [1, 2], None, 7, "text", 2**80, -0.5, {"": []}])
async def test_a_call_returns_what_the_callback_returned(peers: Any, params: Any) -> None:
    async with peers(echo) as (client, _):
        assert await client.call("echo", params) == params


async def test_an_error_answer_is_raised_with_its_code_message_and_data(peers: Any) -> None:
    async def refuse(request: Request) -> Any:
        raise RpcFailure(RpcCode.INVALID_PARAMS, "params must be an object", {"got": request.params})

    async with peers(refuse) as (client, _):
        with pytest.raises(RpcError) as caught:
            await client.call("x", 5)
    assert (caught.value.code, caught.value.message, caught.value.data) == (
        -32602,
        "params must be an object",
        {"got": 5},
    )


async def test_an_unexpected_exception_is_told_to_the_owner_and_not_to_the_peer(peers: Any) -> None:
    seen: list[Exception] = []

    async def fail(request: Request) -> Any:
        raise ValueError("the secret is 12345")

    async with peers(fail, server={"on_error": seen.append}) as (client, _):
        with pytest.raises(RpcError) as caught:
            await client.call("x")
    assert caught.value.code == RpcCode.INTERNAL_ERROR
    assert "12345" not in str(caught.value) + repr(caught.value.data)
    assert [str(error) for error in seen] == ["the secret is 12345"]


async def test_a_result_without_json_is_an_internal_error(peers: Any) -> None:
    seen: list[Exception] = []

    async def odd(request: Request) -> Any:
        return {"x": float("nan")} if request.params else object()

    async with peers(odd, server={"on_error": seen.append}) as (client, _):
        for params in (0, 1):
            with pytest.raises(RpcError) as caught:
                await client.call("x", params)
            assert caught.value.code == RpcCode.INTERNAL_ERROR
    assert len(seen) == 2


async def test_a_server_can_call_its_caller_while_it_serves(peers: Any) -> None:
    async def token(request: Request) -> Any:
        return {"token": request.params["scopes"][0]}

    async def serve(request: Request) -> Any:
        return await request.peer.call("host/acquireToken", {"scopes": ["s"]})

    async with peers(serve, client={"serve": token}) as (client, _):
        assert await client.call("x") == {"token": "s"}


async def test_many_calls_at_once_each_get_their_own_answer(peers: Any) -> None:
    async with peers(echo) as (client, _):

        async def one(number: int) -> None:
            assert await client.call("echo", [number, "x" * number]) == [number, "x" * number]

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(one, number)
        assert client.pending == 0


@pytest.mark.reported("W26")
async def test_a_call_that_times_out_is_cancelled_at_the_other_side(peers: Any) -> None:
    slow = Slow()
    violations: list[str] = []
    async with peers(slow, client={"on_violation": violations.append}) as (client, server):
        with pytest.raises(CallTimedOut):
            await client.call("slow", timeout=0.01)
        await slow.canceled.wait()
        assert await client.call("echo", 1) == 1
        assert server.running == 0
    assert violations == []


async def test_a_caller_that_is_cancelled_cancels_its_call_at_the_other_side(peers: Any) -> None:
    slow = Slow()
    violations: list[str] = []
    async with peers(slow, client={"on_violation": violations.append}) as (client, _):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call, "slow")
            await slow.started.wait()
            group.cancel_scope.cancel()
        await slow.canceled.wait()
        assert await client.call("echo", 1) == 1
    assert violations == []


async def test_a_large_answer_arrives_and_one_above_the_limit_is_one_error(peers: Any) -> None:
    async def text(request: Request) -> Any:
        return "x" * request.params

    limits = Limits(max_message_bytes=6 * MIB)
    async with peers(text, server={"limits": limits}, client={"limits": limits}) as (client, _):
        assert len(await client.call("text", 5 * MIB)) == 5 * MIB
        with pytest.raises(RpcError) as caught:
            await client.call("text", 6 * MIB)
        assert caught.value.code == RpcCode.MESSAGE_TOO_LARGE
        assert await client.call("text", 3) == "xxx"


@pytest.mark.reported("W12")
async def test_the_limit_is_exact_to_the_byte(peers: Any) -> None:
    limits = Limits(max_message_bytes=1000)
    call = len('{"jsonrpc":"2.0","method":"echo","params":"","id":1}')
    async with peers(echo, server={"limits": limits}) as (client, _):
        assert len(await client.call("echo", "x" * (1000 - call))) == 1000 - call
        with pytest.raises(RpcError) as caught:
            await client.call("echo", "x" * (1001 - call), timeout=5)
        assert caught.value.code == RpcCode.MESSAGE_TOO_LARGE
        assert await client.call("echo", 1) == 1


async def test_an_answer_above_the_callers_limit_fails_only_its_call(peers: Any) -> None:
    async def text(request: Request) -> Any:
        return "x" * request.params

    async with peers(text, client={"limits": Limits(max_message_bytes=MIB)}) as (client, _):
        with pytest.raises(RpcError) as caught:
            await client.call("text", 2 * MIB)
        assert caught.value.code == RpcCode.MESSAGE_TOO_LARGE
        assert await client.call("text", 3) == "xxx"


async def test_calls_in_flight_fail_when_the_stream_ends(peers: Any) -> None:
    slow = Slow()
    failed: list[Exception] = []
    async with peers(slow) as (client, server):

        async def call() -> None:
            with pytest.raises(ConnectionLost) as caught:
                await client.call("slow")
            failed.append(caught.value)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(call)
            await slow.started.wait()
            await server.aclose()
        assert len({id(error) for error in failed}) == 3
        with pytest.raises(ConnectionLost):
            await client.call("echo")
        with pytest.raises(ConnectionLost):
            await client.notify("note")


async def test_an_owner_that_keeps_the_pending_calls_fails_them_itself(peers: Any) -> None:
    slow = Slow()
    async with peers(slow, client={"keep_pending": True}) as (client, server), anyio.create_task_group() as group:

        async def call() -> None:
            with pytest.raises(RuntimeError, match="exit code 3"):
                await client.call("slow")

        group.start_soon(call)
        await slow.started.wait()
        await server.aclose()
        assert client.pending == 1
        client.fail_pending(RuntimeError("exit code 3"))


async def test_the_end_of_the_connection_cancels_what_is_being_served(peers: Any) -> None:
    slow = Slow()
    async with peers(slow) as (client, _), anyio.create_task_group() as group:

        async def call() -> None:
            with pytest.raises(ConnectionLost):
                await client.call("slow")

        group.start_soon(call)
        await slow.started.wait()
        await client.aclose()
        await slow.canceled.wait()


async def test_notifications_arrive_in_order_and_get_no_answer(peers: Any) -> None:
    heard: list[tuple[str, Any]] = []
    violations: list[str] = []
    server = {"on_notification": lambda method, params: heard.append((method, params))}
    async with peers(echo, server=server, client={"on_violation": violations.append}) as (client, _):
        for number in range(50):
            await client.notify("$/progress", number)
        assert await client.call("echo", 1) == 1
    assert heard == [("$/progress", number) for number in range(50)]
    assert violations == []


async def test_a_notification_may_be_handled_by_a_coroutine(peers: Any) -> None:
    heard = anyio.Event()
    seen: list[Exception] = []

    async def handle(method: str, params: Any) -> None:
        await anyio.lowlevel.checkpoint()
        heard.set()
        raise ValueError(method)

    async with peers(echo, server={"on_notification": handle, "on_error": seen.append}) as (client, _):
        await client.notify("$/log", {})
        await heard.wait()
        assert await client.call("echo", 1) == 1
    assert [str(error) for error in seen] == ["$/log"]


async def test_the_end_of_the_connection_cancels_what_handles_a_notification(peers: Any) -> None:
    slow = Slow()

    async def handle(method: str, params: Any) -> None:
        slow.started.set()
        try:
            await anyio.sleep_forever()
        finally:
            slow.canceled.set()

    async with peers(echo, server={"on_notification": handle}) as (client, server):
        await client.notify("$/log", {})
        await slow.started.wait()
        await server.aclose()
        await slow.canceled.wait()


async def test_requests_beyond_the_limit_are_refused_as_transient_and_ping_still_answers(peers: Any) -> None:
    slow = Slow()
    async with (
        peers(slow, server={"limits": Limits(max_concurrent_requests=2)}) as (client, server),
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.call, "slow")
        await slow.started.wait()
        assert await client.call("ping", {}) == {}
        group.start_soon(client.call, "slow")
        while server.running < 2:
            await anyio.lowlevel.checkpoint()
        with pytest.raises(RpcError) as caught:
            await client.call("ping")
        assert caught.value.code == RpcCode.OPERATION_FAILED
        assert caught.value.data["errors"][0]["code"] == "Throttled"
        assert caught.value.data["transient"] is True
        slow.go.set()


async def test_a_drain_refuses_new_requests_and_waits_for_running_ones(peers: Any) -> None:
    slow = Slow()
    async with peers(slow) as (client, server):
        results: list[Any] = []

        async def call() -> None:
            results.append(await client.call("slow"))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await slow.started.wait()
            group.start_soon(server.drain, 5)
            await anyio.lowlevel.checkpoint()
            with pytest.raises(RpcError) as caught:
                await client.call("echo")
            assert caught.value.data["errors"][0]["code"] == "Unavailable"
            assert caught.value.data["transient"] is True
            slow.go.set()
        assert results == ["done"]


async def test_a_drain_cancels_at_its_deadline_and_the_request_that_asked_for_it_is_answered(peers: Any) -> None:
    slow = Slow()

    async def serve(request: Request) -> Any:
        if request.method == "shutdown":
            await request.peer.drain(0.01, besides=request)
            return {}
        return await slow(request)

    async with peers(serve) as (client, _), anyio.create_task_group() as group:

        async def call() -> None:
            with pytest.raises(RpcError) as caught:
                await client.call("slow")
            assert caught.value.code == RpcCode.CANCELED
            assert caught.value.data["errors"][0]["code"] == "Canceled"

        group.start_soon(call)
        await slow.started.wait()
        assert await client.call("shutdown") == {}


async def test_a_client_that_closes_at_once_leaves_the_server_no_trouble(peers: Any) -> None:
    seen: list[Exception] = []
    slow = Slow()
    async with peers(slow, server={"on_error": seen.append}) as (client, server):
        await client.notify("slow")
        await slow.started.wait()
        await client.aclose()
        await client.aclose()
        slow.go.set()
        while server.running:
            await anyio.lowlevel.checkpoint()
    assert seen == []


async def test_a_peer_whose_run_is_cancelled_cancels_its_requests_and_closes(link: Any, framing: Any) -> None:
    from extensor.rpc import Peer

    slow = Slow()
    with anyio.fail_after(5):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing=framing)
            group.start_soon(client.run)
            async with anyio.create_task_group() as inner:
                inner.start_soon(Peer(near, slow).run)
                await client.notify("slow")
                await slow.started.wait()
                inner.cancel_scope.cancel()
            assert slow.canceled.is_set()
            with pytest.raises(ConnectionLost):
                await client.call("slow", timeout=5)


async def test_answers_to_a_slow_reader_do_not_pile_up(peers: Any, link: Any, framing: Any) -> None:
    from extensor.rpc import Peer
    from extensor.rpc.framing import write_frame
    from extensor.rpc.outbox import HIGH_WATER_BYTES

    most = 0
    block = b"x" * 100_000

    async def serve(request: Request) -> Any:
        nonlocal most
        most = max(most, server.queued)
        return request.params

    with anyio.fail_after(20):
        async with link() as (near, far), anyio.create_task_group() as group:
            server = Peer(near, serve, end_grace=0)
            group.start_soon(server.run)

            async def flood() -> None:
                for number in range(200):
                    body = b'{"jsonrpc":"2.0","id":%d,"method":"m","params":"%b"}' % (number, block)
                    await far.send(write_frame(body, framing))

            group.start_soon(flood)
            while server.queued <= HIGH_WATER_BYTES // 2:
                await anyio.lowlevel.checkpoint()
            received = 0
            while received < 200 * len(block):
                received += len(await far.receive())
            await far.aclose()
    assert most <= 3 * HIGH_WATER_BYTES


@pytest.mark.parametrize("at_once", [True, False])
async def test_requests_are_not_taken_while_large_answers_wait_for_a_slow_reader(
    link: Any, framing: Any, at_once: bool
) -> None:
    from extensor.rpc import Peer
    from extensor.rpc.framing import write_frame
    from extensor.rpc.requests import JsonText

    begun = 0
    large = b'"' + b"x" * 3 * MIB + b'"'

    async def serve(request: Request) -> Any:
        nonlocal begun
        begun += 1
        if not at_once:
            await anyio.lowlevel.checkpoint()
        return JsonText(large)

    with anyio.fail_after(20):
        async with link() as (near, far), anyio.create_task_group() as group:
            server = Peer(near, serve, end_grace=0)
            group.start_soon(server.run)

            async def flood() -> None:
                for number in range(20):
                    params = b"y" * 200_000
                    body = b'{"jsonrpc":"2.0","id":%d,"method":"m","params":"%b"}' % (number, params)
                    await far.send(write_frame(body, framing))

            group.start_soon(flood)
            while not server.queued:
                await anyio.lowlevel.checkpoint()
            for _ in range(1000):
                await anyio.lowlevel.checkpoint()
            assert begun <= 4
            received = 0
            while received < 20 * len(large):
                received += len(await far.receive())
            assert begun == 20
            await far.aclose()


async def test_a_canceled_answer_carries_what_the_request_left_behind(peers: Any) -> None:
    started = anyio.Event()

    async def save(request: Request) -> Any:
        request.left_behind = lambda: {"identifiers": {"name": "half"}}
        started.set()
        await anyio.sleep_forever()

    refused: list[RpcError] = []

    async def call(client: Any) -> None:
        with pytest.raises(RpcError) as caught:
            await client.call("save")
        refused.append(caught.value)

    async with peers(save) as (client, _), anyio.create_task_group() as group:
        group.start_soon(call, client)
        await started.wait()
        await client.notify("$/cancelRequest", {"id": 1})
        while not refused:
            await anyio.lowlevel.checkpoint()
    assert refused[0].code == RpcCode.CANCELED
    assert refused[0].data["errors"][0]["code"] == "Canceled"
    assert refused[0].data["resource"] == {"identifiers": {"name": "half"}}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_request_that_cancels_itself_is_answered_and_its_id_is_free_again(peers: Any, at_once: bool) -> None:
    import asyncio

    told: list[Exception] = []

    def hear(error: Exception) -> dict[str, Any]:
        told.append(error)
        return {"errors": [{"code": "InternalError", "message": "see the log"}], "transient": False}

    async def serve(request: Request) -> Any:
        request.left_behind = lambda: {"identifiers": {"name": "half"}}
        if not at_once:
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.cancel()
        await asyncio.sleep(60)

    async with peers(serve, server={"on_error": hear}) as (client, server):
        with pytest.raises(RpcError) as caught:
            await client.call("save")
        assert caught.value.code == RpcCode.INTERNAL_ERROR
        assert caught.value.data["resource"] == {"identifiers": {"name": "half"}}
        assert server.running == 0
    assert [str(error) for error in told] == ["what serves save canceled itself"]


async def test_the_time_of_a_call_includes_its_wait_for_a_peer_that_does_not_read(link: Any, framing: Any) -> None:
    from extensor.rpc import Peer
    from extensor.rpc.outbox import HIGH_WATER_BYTES

    with anyio.fail_after(10):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing=framing)
            group.start_soon(client.run)

            async def fill() -> None:
                while True:
                    await client.notify("fill", "x" * (HIGH_WATER_BYTES // 2))

            group.start_soon(fill)
            said = ""
            while "does not read" not in said:  # until then it was sent
                with pytest.raises(CallTimedOut) as caught:
                    await client.call("ping", timeout=0.01)
                said = str(caught.value)
            assert client.pending == 0
            group.cancel_scope.cancel()
            await near.aclose()


async def test_a_call_is_known_by_its_label_until_it_is_answered(peers: Any) -> None:
    slow = Slow()
    async with peers(slow) as (client, _):
        async with anyio.create_task_group() as group:

            async def call() -> None:
                assert await client.call("slow", label="the web server") == "done"

            group.start_soon(call)
            await slow.started.wait()
            assert client.label_of(1) == "the web server"
            assert [client.label_of(other) for other in (2, 1.0, True, "1", None)] == [None] * 5
            slow.go.set()
        assert client.label_of(1) is None
        slow.go = anyio.Event()
        with pytest.raises(CallTimedOut):
            await client.call("slow", label="again", timeout=0.01)
        assert client.label_of(2) is None


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_request_that_swallows_its_cancellation_does_not_hold_the_end_of_the_connection(
    link: Any, framing: Any
) -> None:
    import asyncio

    from extensor.rpc import Peer

    started, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    told: list[Exception] = []

    async def stubborn(request: Request) -> Any:
        started.set()
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue
        ended.set()

    with anyio.fail_after(10):
        async with link() as (near, far), anyio.create_task_group() as group:
            client = Peer(far, framing=framing)
            group.start_soon(client.run)
            server = Peer(near, stubborn, end_grace=0.0, on_error=told.append)
            async with anyio.create_task_group() as serving:
                serving.start_soon(server.run)
                await client.notify("wait")
                await started.wait()
                await client.aclose()
            assert not ended.is_set()
            assert [str(error) for error in told] == [
                "1 requests did not end when they were canceled, and were left behind"
            ]
            go.set()
            await ended.wait()
