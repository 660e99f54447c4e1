"""The peer against its yardsticks, in one run: python benchmarks/rpc_bench.py [ROUNDS]

Ratios only. The variants run in turn, forwards and backwards, and each figure is a median over rounds.

- `round_trip`: p50 of a 1 KiB echo by one blocking client, a server command against an asyncio StreamReader echo.
- `throughput`: calls a second at 64 in flight, client and server in Python, each side parsing and serialising.
- `first_answer`: start of a server to its first answer, against a bare child that imports asyncio and answers one line.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve()
IN_FLIGHT = 64
WARM_UP = 200

Command = Sequence[str]


def payload(size: int = 1024) -> dict[str, object]:
    """A resource body whose request is about `size` bytes of JSON."""
    sku = {"name": "Standard_LRS", "tier": "Std"}
    cell = {"name": "storage", "sku": sku, "tags": ["a", "b"], "n": 12345, "on": True}
    cost = len(json.dumps(cell, separators=(",", ":"))) + 8
    return {"type": "box@1.0", "properties": {f"k{i:03}": cell for i in range(max(1, (size - 120) // cost))}}


def own_command(role: str, *args: str) -> list[str]:
    """How this file starts itself as one of its servers."""
    return [sys.executable, str(HERE), "--serve", role, *args]


ECHO_COMMAND = own_command("stream-reader")
"""The yardstick of `round_trip`: asyncio's StreamReader and StreamWriter giving each line back, without parsing it."""


# ---- round trip, the server varies ------------------------------------------


class BlockingClient:
    """Writes a request line and waits for the answer's line, with nothing in between."""

    def __init__(self, command: Command, line: bytes) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.write, self.read = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.line = line

    def once(self) -> None:
        """One round trip."""
        os.write(self.write, self.line)
        while not os.read(self.read, 65536).endswith(b"\n"):
            pass

    def p50(self, calls: int) -> float:
        """The median of `calls` round trips, in seconds."""
        times: list[float] = []
        for _ in range(calls):
            start = time.perf_counter()
            self.once()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def close(self) -> None:
        """End the server by ending its input."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait(10)


def request_line(method: str = "echo", params: object = None) -> bytes:
    """A request of about 1 KiB in lines framing."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": payload() if params is None else params}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def round_trip(
    command: Command,
    *,
    line: bytes | None = None,
    yardstick: Command = ECHO_COMMAND,
    rounds: int = 7,
    calls: int = 1500,
) -> float:
    """p50 of `command`'s 1 KiB round trip ÷ p50 of the yardstick's, the median over `rounds` runs in turn."""
    line = line or request_line()
    clients = [BlockingClient(command, line), BlockingClient(yardstick, line)]
    try:
        for client in clients:
            client.p50(WARM_UP)
        ratios: list[float] = []
        for number in range(rounds):
            order = clients if number % 2 == 0 else clients[::-1]
            times = {id(client): client.p50(calls) for client in order}
            ratios.append(times[id(clients[0])] / times[id(clients[1])])
        return statistics.median(ratios)
    finally:
        for client in clients:
            client.close()


def first_answer(
    command: Command, *, line: bytes | None = None, yardstick: Command | None = None, rounds: int = 7
) -> float:
    """Start to first answer of `command` ÷ the yardstick's (a bare asyncio child), the median over `rounds` in turn."""
    line = line or request_line()
    yardstick = yardstick or own_command("bare-asyncio")

    def once(cmd: Command) -> float:
        start = time.perf_counter()
        client = BlockingClient(cmd, line)
        client.once()
        elapsed = time.perf_counter() - start
        client.close()
        return elapsed

    once(command), once(yardstick)
    ratios: list[float] = []
    for number in range(rounds):
        order = (command, yardstick) if number % 2 == 0 else (yardstick, command)
        times = [once(cmd) for cmd in order]
        ratios.append(times[0] / times[1] if number % 2 == 0 else times[1] / times[0])
    return statistics.median(ratios)


# ---- whole stacks, 64 in flight ----------------------------------------------


async def calls_a_second(call: Callable[[], object], calls: int) -> float:
    """How many calls a second `IN_FLIGHT` workers get through."""
    left = calls

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await call()  # type: ignore[misc]

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return calls / (time.perf_counter() - start)


async def peer_rate(command: Command, calls: int, *, method: str = "echo", params: object = None) -> float:
    """Calls a second of a `Peer` client over a child's pipes."""
    from extensor.rpc import Peer, fd_stream

    # Started before the clock runs, so that it may block.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: ASYNC220
    assert process.stdin is not None
    assert process.stdout is not None
    body = payload() if params is None else params
    peer = Peer(fd_stream(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())), framing="lines")
    process.stdin.close()
    process.stdout.close()
    running = asyncio.create_task(peer.run())
    try:
        assert await peer.call(method, body) is not None
        await calls_a_second(lambda: peer.call(method, body), WARM_UP)
        return await calls_a_second(lambda: peer.call(method, body), calls)
    finally:
        await peer.aclose()
        await running
        process.wait(10)


def _to_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


async def grpc_rate(calls: int) -> float:
    """Calls a second of a gRPC aio client over a Unix socket, bodies as JSON text."""
    import grpc.aio

    with tempfile.TemporaryDirectory(prefix="b") as folder:
        address = f"unix:{folder}/s"
        process = subprocess.Popen(own_command("grpc", address), stdout=subprocess.PIPE)  # noqa: ASYNC220
        assert process.stdout is not None
        process.stdout.readline()
        try:
            async with grpc.aio.insecure_channel(address) as channel:
                call = channel.unary_unary(
                    "/bench.Echo/Echo", request_serializer=_to_json, response_deserializer=json.loads
                )
                body = payload()
                await calls_a_second(lambda: call(body), WARM_UP)
                return await calls_a_second(lambda: call(body), calls)
        finally:
            process.terminate()
            process.wait(10)
            process.stdout.close()


def throughput(
    command: Command, *, method: str = "echo", params: object = None, rounds: int = 5, calls: int = 4000
) -> float:
    """Calls a second through `Peer` to `command` ÷ gRPC aio with JSON, 64 in flight, median over `rounds` in turn."""
    ratios: list[float] = []
    for number in range(rounds):
        if number % 2 == 0:
            ours = asyncio.run(peer_rate(command, calls, method=method, params=params))
            theirs = asyncio.run(grpc_rate(calls // 2))
        else:
            theirs = asyncio.run(grpc_rate(calls // 2))
            ours = asyncio.run(peer_rate(command, calls, method=method, params=params))
        ratios.append(ours / theirs)
    return statistics.median(ratios)


# ---- dispatch alone ---------------------------------------------------------------


def dispatch_cost(rounds: int = 7, calls: int = 2000) -> dict[str, float]:
    """One dispatch through each engine ÷ one through our own, no I/O and no JSON; jsonrpcserver also as it comes."""
    from jsonrpcserver import Success, async_dispatch

    from extensor.rpc import Request
    from extensor.rpc.engine import OwnEngine, envelope_fault
    from extensor.rpc.engine_jsonrpcserver import JsonRpcServerEngine

    message = {"jsonrpc": "2.0", "id": 1, "method": "echo", "params": payload(100)}
    text = json.dumps(message)

    async def serve(request: Request) -> object:
        return request.params

    async def method(**params: object) -> object:
        return Success(params)

    def through(engine: OwnEngine | JsonRpcServerEngine) -> Callable[[], object]:
        def once() -> object:
            assert envelope_fault(message) is None
            request = Request(1, "echo", message["params"], None, False)  # type: ignore[arg-type]
            return engine.dispatch(request, serve, print)

        return once

    cases: dict[str, Callable[[], object]] = {
        "own": through(OwnEngine()),
        "jsonrpcserver engine": through(JsonRpcServerEngine()),
        "jsonrpcserver as it comes": lambda: async_dispatch(text, {"echo": method}),
    }

    async def measure() -> dict[str, float]:
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(rounds):
            for name in list(cases)[:: 1 if number % 2 == 0 else -1]:
                start = time.perf_counter()
                for _ in range(calls):
                    await cases[name]()  # type: ignore[misc]
                times[name].append(time.perf_counter() - start)
        return {name: min(taken) / min(times["own"]) for name, taken in times.items()}

    return asyncio.run(measure())


# ---- servers -------------------------------------------------------------------


async def _serve_peer(engine: str | None = None) -> None:
    from extensor.rpc import Peer, Request, fd_stream

    async def serve(request: Request) -> object:
        return request.params

    await Peer(fd_stream(0, 1), serve, engine=engine).run()


async def _serve_stream_reader() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(0, "rb", 0))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(1, "wb", 0))
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()


async def _serve_grpc(address: str) -> None:
    import grpc.aio

    async def echo(body: object, _context: object) -> object:
        return body

    method = grpc.unary_unary_rpc_method_handler(echo, request_deserializer=json.loads, response_serializer=_to_json)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Echo": method}),))
    server.add_insecure_port(address)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


async def _serve_bare() -> None:
    sys.stdout.buffer.write(sys.stdin.buffer.readline())
    sys.stdout.buffer.flush()


def _serve(role: str, *args: str) -> None:
    if role == "peer-pydantic":
        import pydantic_core as _  # noqa: F401
    if role == "peer-jsonrpcserver":
        asyncio.run(_serve_peer("jsonrpcserver"))
    elif role.startswith("peer"):
        asyncio.run(_serve_peer())
    elif role == "stream-reader":
        asyncio.run(_serve_stream_reader())
    elif role == "grpc":
        asyncio.run(_serve_grpc(*args))
    elif role == "bare-asyncio":
        asyncio.run(_serve_bare())
    else:
        raise SystemExit(f"no server {role!r}")


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    peers = ("peer", "peer-pydantic")
    rows = [
        (
            f"1 KiB round trip, {role} / asyncio StreamReader echo",
            round_trip(own_command(role), rounds=rounds),
            "<= 1.3",
        )
        for role in (*peers, "peer-jsonrpcserver")
    ]
    start = first_answer(own_command("peer"), rounds=rounds)
    rows.append(("start to first answer, peer / bare asyncio child", start, "<= 1.3"))
    rows += [
        (f"64 in flight, {role} / gRPC aio with JSON", throughput(own_command(role), rounds=rounds), ">= 3")
        for role in peers
    ]
    rows += [(f"one dispatch, {name} / own", ratio, "") for name, ratio in dispatch_cost().items() if name != "own"]
    for name, ratio, goal in rows:
        print(f"{name:<64} {ratio:6.2f}  {goal}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _serve(*sys.argv[2:])
    else:
        main()
