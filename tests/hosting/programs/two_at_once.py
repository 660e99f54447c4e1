"""Takes two calls at once, and answers them when both are there or nothing more comes; says how many were running."""

import threading

from wire import HANDSHAKE, NOTHING, answer, resource, serve

waiting = []
lock = threading.Lock()


def answer_all():
    with lock:
        calls, waiting[:] = waiting[:], []
    for call, properties in calls:
        answer(call, resource(properties | {"running": len(calls)}))


def save(params, call):
    with lock:
        waiting.append((call, params["properties"]))
    threading.Timer(0.2, answer_all).start()
    return NOTHING


serve(
    {"resource/save": save},
    handshake=HANDSHAKE | {"limits": {"maxMessageBytes": 1 << 20, "maxConcurrentRequests": 2}},
)
