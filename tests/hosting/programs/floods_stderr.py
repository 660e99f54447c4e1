"""Writes 2,000 lines to stderr before it reads, and 2,000 more for each call."""

import sys

from wire import resource, serve


def flood(word):
    for number in range(2000):
        sys.stderr.write(f"{word} line {number} {'x' * 100}\n")
    sys.stderr.flush()


def save(params, call):
    flood("save")
    return resource(params["properties"])


flood("start")
serve({"resource/save": save})
