"""The default wire: the provider's own standard input and output."""

import os

from extensor_conformance.adapters.base import Feature
from extensor_conformance.adapters.framing import Framing
from extensor_conformance.adapters.jsonrpc import JsonRpcConnection
from extensor_conformance.adapters.process import Process
from extensor_conformance.subject import Subject
from extensor_conformance.watch import Watch

_FEATURES = frozenset(Feature) - {Feature.SOCKET, Feature.TOKEN}


class StdioAdapter:
    """JSON-RPC over the pipes of a process that the kit starts."""

    name = "stdio"
    features: frozenset[Feature] = _FEATURES

    def open(
        self,
        subject: Subject,
        watch: Watch,
        *,
        name: str = "1",
        start_timeout: float,
        framing: Framing = "lines",
    ) -> JsonRpcConnection:
        """See `Adapter.open`."""
        del start_timeout  # the handshake is what is waited for
        child_in, ours_out = os.pipe()
        ours_in, child_out = os.pipe()
        ours_err, child_err = os.pipe()
        try:
            process = Process.start(subject, stdin=child_in, stdout=child_out, stderr=child_err)
        except BaseException:
            for fd in (ours_out, ours_in, ours_err):
                os.close(fd)
            raise
        finally:
            for fd in (child_in, child_out, child_err):
                os.close(fd)
        watch.event(f"started {subject.title}", name, f"pid {process.pid}")
        return JsonRpcConnection(
            subject,
            watch,
            name=name,
            read_fd=ours_in,
            write_fd=ours_out,
            process=process,
            stderr_fd=ours_err,
            framing=framing,
        )
