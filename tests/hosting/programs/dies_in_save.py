"""Exits with 3 in the middle of the first N saves, with or without having done them; serves from its state otherwise.

Arguments: state file, N, "done" or "undone". A note named "patient" is never answered.
"""

import json
import os
import sys
from pathlib import Path

from wire import NOTHING, failed, resource, say, serve

state, deaths, done = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "done"


def load():
    return json.loads(state.read_text()) if state.exists() else {"died": 0, "calls": [], "notes": {}}


def store(world):
    state.write_text(json.dumps(world))


def save(params, call):
    world = load()
    name = params["properties"]["name"]
    if name == "patient":
        return NOTHING
    world["calls"].append("save")
    dying = world["died"] < deaths
    if done or not dying:
        world["notes"][name] = params["properties"]
    world["died"] += dying
    store(world)
    if dying:
        say(f"panic while saving {name}")
        os._exit(3)
    return resource(params["properties"])


def get(params, call):
    world = load()
    world["calls"].append("get")
    store(world)
    note = world["notes"].get(params["properties"]["name"])
    if note is None:
        raise failed("ResourceNotFound", "there is no such note")
    return resource(note | {"words": 3})


serve({"resource/save": save, "resource/get": get})
