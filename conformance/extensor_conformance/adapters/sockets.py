"""Unix sockets and TCP on loopback: a provider that the kit starts there, or one that runs already."""

import os
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from extensor.errors import StartFailed
from extensor.rpc.addresses import UNIX_PATH_LIMIT, TcpAddress, UnixAddress, parse_address
from extensor_conformance.adapters.base import Feature
from extensor_conformance.adapters.jsonrpc import JsonRpcConnection
from extensor_conformance.adapters.link import Link
from extensor_conformance.adapters.opening import Opening
from extensor_conformance.adapters.process import Process
from extensor_conformance.adapters.rpc_adapter import JsonRpcAdapter
from extensor_conformance.subject import Subject

_CONNECT_SECONDS = 5.0
_ROOM_FOR_NAME = 20
"""Bytes of a path that a socket's own name may need."""


class SocketAdapter(JsonRpcAdapter):
    """JSON-RPC over a socket. `owned`: the kit starts the provider that listens there."""

    def __init__(self, name: str, owned: bool) -> None:
        self.name = name
        left_out = {Feature.STDOUT}
        if name != "tcp":
            left_out.add(Feature.TOKEN)
        if not owned:
            left_out.add(Feature.STDERR)
        self.features = frozenset(Feature) - left_out

    def connect(self, wanted: Opening) -> JsonRpcConnection:
        """See `JsonRpcAdapter.connect`."""
        folders: list[Path] = []

        def folder() -> Path:
            folders.append(_folder())
            return folders[-1]

        def tidy() -> None:
            for place in folders:
                shutil.rmtree(place, ignore_errors=True)

        placed = wanted.subject.placed(folder)
        wanted = replace(wanted, subject=placed)
        if not placed.owned:
            return self._connection(wanted, _connected(placed, wanted.start_timeout, None))
        reading, writing = os.pipe()
        with open(os.devnull, "rb") as null:  # noqa: PTH123 - a descriptor is what is needed
            try:
                process = Process.start(placed, stdin=null.fileno(), stdout=writing, stderr=writing)
            except BaseException:
                os.close(reading)
                tidy()
                raise
            finally:
                os.close(writing)
        wanted.watch.event(f"started {placed.title}", wanted.name, f"pid {process.pid}")
        try:
            sock = _connected(placed, wanted.start_timeout, process)
        except BaseException as error:
            process.close(patient=False)
            said = _rest(reading)
            os.close(reading)
            tidy()
            if isinstance(error, StartFailed):
                raise StartFailed(f"{error}{f'; it said: {said}' if said else ''}") from None
            raise
        return self._connection(wanted, sock, process, reading, on_close=tidy)

    def _connection(
        self,
        wanted: Opening,
        sock: socket.socket,
        process: Process | None = None,
        stderr_fd: int | None = None,
        owns_process: bool = True,
        on_close: Callable[[], None] | None = None,
    ) -> JsonRpcConnection:
        def another(name: str) -> JsonRpcConnection:
            again = _connected(wanted.subject, _CONNECT_SECONDS, process)
            return self._connection(replace(wanted, name=name), again, process, owns_process=False)

        return JsonRpcConnection(
            wanted,
            Link.of_socket(sock),
            process=process,
            stderr_fd=stderr_fd,
            open_another=another,
            owns_process=owns_process,
            on_close=on_close,
        )


def _folder() -> Path:
    """A folder of this user's alone, with a path that is short enough for a socket in it."""
    place = Path(tempfile.mkdtemp(prefix="conformance-"))
    if len(os.fsencode(place)) + _ROOM_FOR_NAME <= UNIX_PATH_LIMIT:
        return place
    place.rmdir()
    return Path(tempfile.mkdtemp(prefix="conformance-", dir="/tmp"))


def _connected(subject: Subject, timeout: float, process: Process | None) -> socket.socket:
    address = parse_address(str(subject.address))
    deadline = time.monotonic() + timeout
    pause = threading.Event()  # never set: a bounded wait between tries, since a listener gives no event
    while True:
        sock = _socket(address)
        sock.settimeout(max(0.05, deadline - time.monotonic()))
        try:
            sock.connect(address.path if isinstance(address, UnixAddress) else (address.host, address.port))
        except OSError as error:
            sock.close()
            code = process.wait(0) if process is not None else None
            if code is not None:
                raise StartFailed(
                    f"the provider ended with exit code {code} before it listened on {address}"
                ) from error
            if process is None or time.monotonic() >= deadline:
                raise StartFailed(f"nobody answers on {address} within {timeout:g} s: {error}") from error
            pause.wait(0.02)
        else:
            sock.setblocking(False)
            return sock


def _socket(address: UnixAddress | TcpAddress) -> socket.socket:
    if isinstance(address, UnixAddress):
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    return socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET, socket.SOCK_STREAM)


def _rest(fd: int) -> str:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    data = os.read(fd, 4096) if poll.poll(0) else b""
    return data.decode("utf-8", "backslashreplace").strip()
