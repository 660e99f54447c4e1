"""JSON-RPC 2.0 between two peers over any byte stream: framing, transports, dispatch, cancel, limits; no verbs."""

from extensor.rpc.framing import Framing
from extensor.rpc.peer import Peer
from extensor.rpc.requests import MessageId, Request, RpcFailure, Serve
from extensor.rpc.streams import ByteStream
from extensor.rpc.transports import connect_tcp, connect_unix, fd_stream, listen, memory_pair

__all__ = [
    "ByteStream",
    "Framing",
    "MessageId",
    "Peer",
    "Request",
    "RpcFailure",
    "Serve",
    "connect_tcp",
    "connect_unix",
    "fd_stream",
    "listen",
    "memory_pair",
]
