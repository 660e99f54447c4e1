"""Keeps notes in the state file; a note named "fatal" ends the process."""

import json
import os
import sys
from pathlib import Path

from wire import failed, resource, serve

state = Path(sys.argv[1])


def load():
    return json.loads(state.read_text()) if state.exists() else {}


def save(params, call):
    name = params["properties"]["name"]
    if name == "fatal":
        os._exit(3)
    state.write_text(json.dumps(load() | {name: params["properties"]}))
    return resource(params["properties"])


def get(params, call):
    note = load().get(params["properties"]["name"])
    if note is None:
        raise failed("ResourceNotFound", "there is no such note")
    return resource(note)


serve({"resource/save": save, "resource/get": get})
