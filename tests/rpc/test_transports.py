"""Descriptors of every kind, and sockets with the care they need."""

import os
import socket
import stat
from pathlib import Path
from typing import Any

import anyio
import pytest

from extensor.errors import ConnectionFailed, ConnectionLost
from extensor.rpc import ByteStream, Peer, Request, connect_tcp, connect_unix, fd_stream, listen
from extensor.rpc.addresses import UNIX_PATH_LIMIT, parse_address
from extensor.rpc.streams import READ_SIZE

pytestmark = pytest.mark.anyio

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}\n'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":[1]}\n'


async def echo(request: Request) -> Any:
    return request.params


async def never(stream: ByteStream) -> None:
    await anyio.sleep_forever()


async def test_bytes_arrive_in_order_and_at_most_a_read_at_a_time(link: Any) -> None:
    data = os.urandom(700_000)
    with anyio.fail_after(10):
        async with link() as (one, other), anyio.create_task_group() as group:
            group.start_soon(one.send, data)
            received = b""
            while len(received) < len(data):
                part = await other.receive()
                assert 0 < len(part) <= READ_SIZE
                received += part
            assert received == data
            await one.aclose()
            assert await other.receive() == b""
            await other.aclose()
            assert await other.receive() == b""
            with pytest.raises(ConnectionLost):
                await other.send(b"x")


async def flood(stream: ByteStream) -> None:
    for _ in range(100):
        await stream.send(b"x" * 100_000)


async def test_a_writer_learns_that_nobody_reads(link: Any) -> None:
    with anyio.fail_after(10):
        async with link() as (one, other):
            await other.aclose()
            with pytest.raises(ConnectionLost):
                await flood(one)
            await one.aclose()


async def test_a_waiting_reader_ends_when_its_own_end_closes(link: Any) -> None:
    with anyio.fail_after(10):
        async with link() as (one, other):
            parts: list[bytes] = []

            async def receive() -> None:
                parts.append(await one.receive())

            async with anyio.create_task_group() as group:
                group.start_soon(receive)
                await anyio.wait_all_tasks_blocked()
                await one.aclose()
            assert parts == [b""]
            await other.aclose()


async def test_a_request_from_a_file_is_answered_into_a_file(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(REQUEST)
    read = os.open(source, os.O_RDONLY)
    write = os.open(target, os.O_WRONLY | os.O_CREAT)
    with anyio.fail_after(5):
        await Peer(fd_stream(read, write), echo).run()
    assert target.read_bytes() == ANSWER


async def test_the_null_device_is_an_input_that_has_ended() -> None:
    with anyio.fail_after(5):
        await Peer(fd_stream(os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)), echo).run()


async def test_a_request_without_its_line_end_is_answered_at_the_end_of_input(tmp_path: Path) -> None:
    (there, write), (read, back) = os.pipe(), os.pipe()
    os.write(write, REQUEST.rstrip())
    os.close(write)
    with anyio.fail_after(5):
        await Peer(fd_stream(there, back), echo).run()
    assert os.read(read, 1000) == ANSWER
    os.close(read)


async def test_descriptors_that_are_not_ours_stay_open_and_become_blocking_again() -> None:
    read, write = os.pipe()
    stream = fd_stream(read, write, close_fds=False)
    with anyio.fail_after(5):
        await stream.send(b"x")
        assert await stream.receive() == b"x"
    await stream.aclose()
    assert os.get_blocking(read)
    assert os.get_blocking(write)
    os.close(read)
    os.close(write)


async def test_a_unix_socket_is_for_its_owner_alone_and_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "s"
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            assert await group.start(listen, f"unix:{path}", never) == f"unix:{path}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            with pytest.raises(ConnectionFailed, match="in use"):
                await listen(f"unix:{path}", never)
            group.cancel_scope.cancel()
    assert not path.exists()


async def test_a_socket_in_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(ConnectionFailed, match="mode 0755"):
        await listen(f"unix:{folder / 's'}", never)


async def test_the_socket_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            await group.start(listen, f"unix:{path}", never)
            await (await connect_unix(str(path))).aclose()
            group.cancel_scope.cancel()


async def test_a_file_that_is_no_socket_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("mine")
    with pytest.raises(ConnectionFailed, match="is no socket"):
        await listen(f"unix:{path}", never)
    assert path.read_text() == "mine"


@pytest.mark.reported("W30")
async def test_a_socket_path_too_long_is_refused_with_path_length_and_limit(tmp_path: Path) -> None:
    path = str(tmp_path / ("x" * 150))
    for attempt in (listen(f"unix:{path}", never), connect_unix(path)):
        with pytest.raises(ConnectionFailed) as caught:
            await attempt
        for part in (path, str(len(path)), str(UNIX_PATH_LIMIT)):
            assert part in str(caught.value)


async def test_a_path_of_exactly_the_limit_works(tmp_path: Path) -> None:
    start = str(tmp_path) + "/"
    if len(start) >= UNIX_PATH_LIMIT:
        pytest.skip("the temporary folder's own path is too long here")
    path = start + "x" * (UNIX_PATH_LIMIT - len(start))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            await group.start(listen, f"unix:{path}", never)
            await (await connect_unix(path)).aclose()
            group.cancel_scope.cancel()


@pytest.mark.parametrize("address", ["tcp:0.0.0.0:0", "tcp:192.0.2.1:80", "tcp:example.com:80", "tcp:[::]:0"])
async def test_tcp_beyond_loopback_is_refused(address: str) -> None:
    with pytest.raises(ConnectionFailed, match="loopback"):
        await listen(address, never)


@pytest.mark.parametrize(
    "address", ["", "unix:", "tcp:127.0.0.1", "tcp:127.0.0.1:x", "tcp:127.0.0.1:70000", "http://x"]
)
async def test_what_is_no_address_is_refused_with_the_forms_there_are(address: str) -> None:
    with pytest.raises(ConnectionFailed, match="write "):
        await listen(address, never)


async def test_addresses_read_as_they_are_written() -> None:
    for text in ("tcp:127.0.0.1:80", "tcp:[::1]:80", "unix:/x/y z"):
        assert str(parse_address(text)) == text
    assert str(parse_address("tcp:localhost:1")) == "tcp:127.0.0.1:1"


async def test_connecting_to_nobody_says_so(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with anyio.fail_after(5):
        with pytest.raises(ConnectionFailed, match=f"127.0.0.1:{port}"):
            await connect_tcp("127.0.0.1", port)
        with pytest.raises(ConnectionFailed, match="absent"):
            await connect_unix(str(tmp_path / "absent"))


async def test_several_connections_are_served_at_once(tmp_path: Path) -> None:
    async def serve(stream: ByteStream) -> None:
        await Peer(stream, echo, end_grace=0).run()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            address = await group.start(listen, "tcp:127.0.0.1:0", serve)
            clients = [
                Peer(await connect_tcp("127.0.0.1", int(address.rpartition(":")[2])), framing="lines") for _ in range(5)
            ]
            for client in clients:
                group.start_soon(client.run)
            for number, client in enumerate(clients):
                assert await client.call("echo", number) == number
            for client in clients:
                await client.aclose()
            group.cancel_scope.cancel()
