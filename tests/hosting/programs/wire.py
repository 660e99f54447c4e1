"""The least that a provider needs: JSON lines in, JSON lines out. No SDK, so that the host is judged by strangers."""

import json
import sys
import threading

HANDSHAKE = {
    "protocolVersion": "1",
    "provider": {"name": "stranger", "version": "1.2.0"},
    "capabilities": {"cancel": True, "progress": True, "batch": True},
    "limits": {"maxMessageBytes": 16777216, "maxConcurrentRequests": 256},
}
NOTHING = object()
"""A handler's result when no answer is to be sent."""
_lock = threading.Lock()


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


def failed(code, message, **more):
    return Refused(-32010, message, {"errors": [{"code": code, "message": message}], "transient": False} | more)


def send(message):
    with _lock:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()


def say(text):
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def answer(call, result):
    send({"jsonrpc": "2.0", "id": call, "result": result})


def resource(properties):
    return {"properties": properties, "identifiers": {"name": properties.get("name")}}


def serve(methods, *, handshake=HANDSHAKE, on_message=None):
    """Answer line by line until the input ends. A method gets the params and the request's id."""
    known = {"provider/ping": lambda params, call: {}} | methods
    if handshake is not None:
        known.setdefault("provider/initialize", lambda params, call: handshake)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if on_message is not None:
            on_message(message)
        if "id" not in message or "method" not in message:
            continue
        method = known.get(message["method"])
        try:
            if method is None:
                raise Refused(-32601, f"no method {message['method']}")
            result = method(message.get("params"), message["id"])
        except Refused as refused:
            send({"jsonrpc": "2.0", "id": message["id"], "error": refused.error})
        else:
            if result is not NOTHING:
                answer(message["id"], result)
