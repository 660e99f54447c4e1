"""Where a socket listens: `unix:PATH` or `tcp:127.0.0.1:PORT`, and the care a socket file needs (P-CONN-07)."""

import os
import socket
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from extensor.errors import ConnectionFailed

UNIX_PATH_LIMIT = 107 if sys.platform.startswith("linux") else 103
"""Bytes in the path of a Unix socket (`sun_path` without its end mark)."""


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A socket file."""

    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A port on the loopback interface; port 0 lets the system choose."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"tcp:[{self.host}]:{self.port}" if ":" in self.host else f"tcp:{self.host}:{self.port}"


def parse_address(text: str) -> UnixAddress | TcpAddress:
    """Read an address. Raises `ConnectionFailed` for another form, a path too long, or TCP beyond loopback."""
    kind, _, rest = text.partition(":")
    if kind == "unix" and rest:
        check_unix_path(rest)
        return UnixAddress(rest)
    if kind == "tcp":
        host, _, port = rest.rpartition(":")
        host = host.strip("[]")
        if not (port.isascii() and port.isdigit()) or int(port) > 65535:
            raise ConnectionFailed(f"{text!r} names no port; write tcp:127.0.0.1:PORT")
        if not _is_loopback(host):
            raise ConnectionFailed(f"{text!r} is not on the loopback interface; write tcp:127.0.0.1:{port}")
        return TcpAddress("127.0.0.1" if host == "localhost" else host, int(port))
    raise ConnectionFailed(f"{text!r} is no address; write unix:PATH or tcp:127.0.0.1:PORT")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_unix_path(path: str) -> None:
    """Raise `ConnectionFailed` for a path that no socket can have, naming path, length and limit."""
    length = len(os.fsencode(path))
    if length > UNIX_PATH_LIMIT:
        raise ConnectionFailed(
            f"the socket path {path} is {length} bytes long, the limit is {UNIX_PATH_LIMIT}; choose a shorter folder"
        )


def bind_unix(address: UnixAddress) -> socket.socket:
    """A listening, non-blocking socket of mode 0600 in a directory only its owner may enter, made if it is missing.

    A socket that a dead process left is replaced. Raises `ConnectionFailed` for a directory that others may enter, a
    live socket, or a file that is none.
    """
    path = Path(address.path)
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise ConnectionFailed(
            f"others may enter {folder} (mode {stat.S_IMODE(status.st_mode):04o}); "
            f"a socket needs a folder of its owner's alone: mkdir -m 700 FOLDER"
        )
    _clear_stale(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.setblocking(False)
        listener.bind(address.path)
        path.chmod(0o600)
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise ConnectionFailed(f"cannot listen on {address}: {error.strerror or error}") from error
    return listener


def _clear_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConnectionFailed(f"{path} exists and is no socket; remove it or choose another path")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            pass
        except OSError:
            with suppress(FileNotFoundError):
                path.unlink()
            return
    raise ConnectionFailed(f"{path} is in use by a process that listens there")


def bind_tcp(address: TcpAddress) -> tuple[socket.socket, TcpAddress]:
    """A listening, non-blocking socket and the address it got. Raises `ConnectionFailed`."""
    listener = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise ConnectionFailed(f"cannot listen on {address}: {error.strerror or error}") from error
    return listener, TcpAddress(address.host, listener.getsockname()[1])
