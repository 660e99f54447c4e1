"""Looks into the folder in which plain.py and truth.py keep their objects, and changes it behind their backs.

    probe.py DIR exists|list|mutate|remove    the question as JSON on the input, the answer on the output

Imports as little as it can: the kit starts it once for each question.
"""

# ruff: noqa: PTH105, PTH108, PTH112, PTH118, PTH123, PTH208
import hashlib
import json
import os
import sys


def file_of(*key):
    """The name of an object's file: the providers' own rule."""
    return hashlib.sha256(json.dumps(list(key)).encode()).hexdigest()[:40] + ".json"


def read(place):
    try:
        with open(place, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def write(place, body):
    with open(f"{place}.new", "w", encoding="utf-8") as file:
        json.dump(body, file)
    os.replace(f"{place}.new", place)


def names(folder, type_):
    """Of all objects of a type, a double counted beside its twin."""
    found = [name for name in os.listdir(folder) if name.endswith(".json")] if os.path.isdir(folder) else []
    bodies = [(name, read(os.path.join(folder, name))) for name in found]
    kept = [(name, body["name"]) for name, body in bodies if body is not None]
    return [name for file, name in kept if file in (file_of(type_, name), file_of(type_, name, "double"))]


def answer(folder, verb):
    question = json.load(sys.stdin)
    type_ = question["type"].lower()
    if verb == "list":
        return {"objects": [{"name": name} for name in names(folder, type_)]}
    place = os.path.join(folder, file_of(type_, question["identifiers"].get("name")))
    found = read(place)
    if verb == "exists":
        return {"exists": found is not None}
    if verb == "mutate":
        write(place, {**found, **question["change"]})
    elif found is not None:
        os.unlink(place)
    return {}


if __name__ == "__main__":
    json.dump(answer(sys.argv[1], sys.argv[2]), sys.stdout)
