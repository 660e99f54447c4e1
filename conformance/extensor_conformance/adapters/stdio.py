"""The default wire: the provider's own standard input and output."""

import os

from extensor_conformance.adapters.base import Feature
from extensor_conformance.adapters.jsonrpc import JsonRpcConnection
from extensor_conformance.adapters.link import Link
from extensor_conformance.adapters.opening import Opening
from extensor_conformance.adapters.process import Process
from extensor_conformance.adapters.rpc_adapter import JsonRpcAdapter


class StdioAdapter(JsonRpcAdapter):
    """JSON-RPC over the pipes of a process that the kit starts."""

    name = "stdio"
    features = frozenset(Feature) - {Feature.SOCKET, Feature.TOKEN}

    def connect(self, wanted: Opening) -> JsonRpcConnection:
        """See `JsonRpcAdapter.connect`. The handshake is what is waited for, not the start."""
        child_in, ours_out = os.pipe()
        ours_in, child_out = os.pipe()
        ours_err, child_err = os.pipe()
        try:
            process = Process.start(wanted.subject, stdin=child_in, stdout=child_out, stderr=child_err)
        except BaseException:
            for fd in (ours_out, ours_in, ours_err):
                os.close(fd)
            raise
        finally:
            for fd in (child_in, child_out, child_err):
                os.close(fd)
        wanted.watch.event(f"started {wanted.subject.title}", wanted.name, f"pid {process.pid}")
        return JsonRpcConnection(wanted, Link(ours_in, ours_out), process=process, stderr_fd=ours_err)
