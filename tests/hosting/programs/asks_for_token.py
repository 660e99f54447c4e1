"""Asks its host for a token before it answers a save, and answers with the host's reply as text."""

import json

from wire import NOTHING, answer, resource, say, send, serve

asked = {}


def save(params, call):
    asked["t1"] = (call, params["properties"])
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
        call, properties = asked.pop(message["id"])
        text = json.dumps(message.get("result") or message.get("error"))
        say(f"I got {text}")
        answer(call, resource(properties | {"text": text}))


serve({"resource/save": save}, on_message=on_message)
