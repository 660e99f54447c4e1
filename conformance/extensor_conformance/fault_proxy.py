"""A proxy on loopback between the provider and its backend, which fails on demand (``--faults proxy``)."""

import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from extensor.contract import Json, JsonObject

KINDS = frozenset({"throttle", "transient", "denied", "half-create", "delete-fails", "raise", "slow"})
"""The kinds of faults that a backend's answers can make."""

_TIMEOUT_SECONDS = 30.0
_WRITES = ("POST", "PUT", "PATCH")
_OWN = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})


class FaultProxy:
    """Hands requests on to `upstream` and its answers back, until it is told to fail. Serves from its own threads."""

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self._lock = threading.Lock()
        self._fault: JsonObject = {}
        self._writes = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="fault proxy", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """What the provider is given in place of its backend's address."""
        return f"http://127.0.0.1:{self._server.server_port}{self._upstream.path}"

    def fail(self, fault: JsonObject) -> None:
        """From now on: ``{"fault": kind, "times"?: n, "seconds"?: s}``; ``{}`` for no more."""
        with self._lock:
            self._fault = dict(fault)
            self._writes = 0

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def decide(self, method: str) -> tuple[int, dict[str, str], bytes] | None:
        """The answer that is made up for a request, or ``None`` when it is handed on. May wait first."""
        with self._lock:
            kind = self._fault.get("fault")
            if kind is None or not self._counts(str(kind), method):
                return None
            times = self._fault.get("times")
            if isinstance(times, int):
                self._fault = {**self._fault, "times": times - 1} if times > 1 else {}
            seconds = self._fault.get("seconds", 2.0)
        match kind:
            case "throttle":
                return 429, {"Retry-After": "1"}, b"{}"
            case "transient":
                return 503, {"Retry-After": "1"}, b"{}"
            case "denied":
                return 403, {}, b"{}"
            case "raise":
                return 200, {}, b"\xff\x00 no answer that anybody expects"
            case "slow":
                threading.Event().wait(float(seconds))
                return None
            case _:
                return 500, {}, b"{}"

    def _counts(self, kind: str, method: str) -> bool:
        """Whether this request is one that the fault is about."""
        if kind == "delete-fails":
            return method == "DELETE"
        if kind == "half-create":
            self._writes += method in _WRITES
            return method in _WRITES and self._writes > 1
        return True

    def forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """The backend's own answer; 502 when there is none."""
        kind = HTTPSConnection if self._upstream.scheme == "https" else HTTPConnection
        link = kind(self._upstream.netloc, timeout=_TIMEOUT_SECONDS)
        try:
            link.request(method, path, body or None, headers)
            answer = link.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in _OWN}
            return answer.status, kept, answer.read()
        except (OSError, HTTPException) as error:
            return 502, {}, str(error).encode()
        finally:
            link.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                made = proxy.decide(self.command)
                if made is None:
                    kept = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
                    made = proxy.forward(self.command, self.path, kept, body)
                status, headers, content = made
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any  # noqa: N815

            def log_message(self, format: str, *args: Json) -> None:  # noqa: A002
                """Nothing is printed."""

        return Handler
