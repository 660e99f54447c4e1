"""Writes 2,000 lines to stderr before it reads, and 2,000 more for each call; the first argument is put in each line."""

import sys

from wire import resource, serve


def flood(word):
    for number in range(2000):
        print(f"{word} line {number} {'x' * 100}", file=sys.stderr)
    sys.stderr.flush()


def save(params, id):
    flood("save")
    return resource(params["properties"])


flood("start")
serve({"resource/save": save})
