"""Asks its host for a token before it answers a save, and answers with the host's reply as text."""

import json
import sys
import threading

from wire import NOTHING, answer, resource, send, serve

asked = {}


def save(params, id):
    asked["t1"] = (id, params["properties"])
    send(
        {
            "jsonrpc": "2.0",
            "id": "t1",
            "method": "host/acquireToken",
            "params": {"scopes": ["all"], "forceRefresh": True},
        }
    )
    return NOTHING


def on_message(message):
    if message.get("id") in asked and "method" not in message:
        id, properties = asked.pop(message["id"])
        text = json.dumps(message.get("result") or message.get("error"))
        print(f"I got {text}", file=sys.stderr, flush=True)
        answer(id, resource(properties | {"text": text}))


assert threading.active_count() == 1
serve({"resource/save": save}, on_message=on_message)
