"""The plain provider, odd and still honest, one switch each.

    odd.py [--store DIR] [--mutant NAME]

H2 answers out of order, H4 adds members of its own to results and errors, H5 takes a while for everything, H8 refuses
saves side by side of one object with a mark to try again, H10 tells that what is to be deleted was absent already, H11
starts an operation in its backend for everything and asks until it is over, H12 shares its store with strangers who
make and remove objects all the time.
"""

import itertools
import json
import random
import threading

import plain
from plain import Refused, fault, wrong

_serve, _save, _delete = plain.serve, plain.save, plain.delete
_preview, _get = plain.preview_save, plain.get
_send = plain.Client.send
BUSY = set()
GUARD = threading.Lock()


def pause(seconds):
    """Let time pass."""
    threading.Event().wait(seconds)


def serve(method, params, request):
    """As in the plain one, later or with more in it."""
    if wrong("H2"):
        pause(random.random() * 0.02)
    if wrong("H5") and method.startswith("resource/"):
        pause(0.03)
    answer = _serve(method, params, request)
    if wrong("H4") and method.startswith("resource/"):
        answer["etag"] = f'"{random.randrange(10**6)}"'
        answer["x-trace"] = {"hops": [1, 2]}
    return answer


def send(self, value):
    """As in the plain one, with more in errors."""
    if wrong("H4") and isinstance(value, dict) and isinstance(value.get("error", {}).get("data"), dict):
        value["error"]["data"]["documentation"] = "errors#17"
    _send(self, value)


def save(key, name, body, given, request):
    """As in the plain one; H8 serves one save of an object at a time."""
    if not wrong("H8"):
        return _save(key, name, body, given, request)
    with GUARD:
        if key in BUSY:
            raise Refused(fault("Conflict", "another save is under way"), transient=True, retryAfterSeconds=1)
        BUSY.add(key)
    try:
        return _save(key, name, body, given, request)
    finally:
        BUSY.discard(key)


def delete(key, name, body, given, request):
    """As in the plain one; H10 tells what it found."""
    absent = plain.STORE.read(key) is None
    answer = _delete(key, name, body, given, request)
    return {**answer, "outcome": "already absent" if absent else "deleted"} if wrong("H10") else answer


class Operation:
    """What a backend does on its own: it takes the work, and does it a little later unless it is called off first."""

    def __init__(self, work):
        self.work, self.over = work, threading.Event()
        self.off, self.guard = False, threading.Lock()
        self.answer = self.error = None
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        """Do the work, and keep what comes of it."""
        pause(0.02)
        with self.guard:
            if not self.off:
                try:
                    self.answer = self.work()
                except Exception as error:
                    self.error = error
        self.over.set()

    def call_off(self):
        """Whether it is not done and never will be."""
        with self.guard:
            self.off = self.answer is None and self.error is None
        return self.off


def polled(verb):
    """A verb whose operation is asked for its state until it is over."""

    def serve_polled(key, name, body, given, request):
        operation = Operation(lambda: verb(key, name, body, given, request))
        while not operation.over.wait(0.005):
            try:
                request.wait(0)
            except Refused:
                if operation.call_off():
                    raise
        if operation.error is not None:
            raise operation.error
        return operation.answer

    return serve_polled


def strangers():
    """Make and remove objects that nobody asked about."""
    for number in itertools.count():
        key = json.dumps(["box@1.0", f"stranger-{number % 5}"])
        plain.STORE.write(key, {"name": f"stranger-{number % 5}", "size": number % 100, "touched": "long ago"})
        pause(0.01)
        plain.STORE.remove(key)


plain.serve, plain.save, plain.delete = serve, save, delete
plain.Client.send = send
if wrong("H11"):
    plain.save, plain.preview_save, plain.get, plain.delete = map(polled, (save, _preview, _get, delete))

if __name__ == "__main__":
    if wrong("H12"):
        threading.Thread(target=strangers, daemon=True).start()
    plain.main()
