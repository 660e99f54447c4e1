"""Keeps notes in the file of `--state`; `--version` is its own; each message it gets goes to `--journal`."""

import argparse
import json
from pathlib import Path

from wire import HANDSHAKE, failed, resource, say, serve

arguments = argparse.ArgumentParser()
arguments.add_argument("--state", type=Path)
arguments.add_argument("--version", default="1.2.0")
arguments.add_argument("--journal", type=Path)
options = arguments.parse_args()


def load():
    return json.loads(options.state.read_text()) if options.state and options.state.exists() else {}


def save(params, call):
    notes = load()
    notes[params["properties"]["name"]] = params["properties"]
    if options.state:
        options.state.write_text(json.dumps(notes))
    return resource(params["properties"] | {"words": len(params["properties"].get("text", "").split())})


def get(params, call):
    note = load().get(params["properties"]["name"])
    if note is None:
        raise failed("ResourceNotFound", "there is no such note")
    return resource(note)


def delete(params, call):
    return {"properties": None, "identifiers": {"name": params["properties"]["name"]}}


def preview(params, call):
    return resource(params["properties"]) | {"metadata": {"calculated": ["$.properties.words"]}}


def journal(message):
    if options.journal:
        with options.journal.open("a") as file:
            file.write(json.dumps(message) + "\n")


say("notes are served")
serve(
    {
        "resource/save": save,
        "resource/get": get,
        "resource/delete": delete,
        "resource/previewSave": preview,
        "provider/listTypes": lambda params, call: {
            "types": [{"type": "note@1.0", "operations": ["save", "previewSave", "get", "delete", "dance"]}]
        },
    },
    handshake=HANDSHAKE | {"provider": {"name": "notes", "version": options.version}},
    on_message=journal,
)
