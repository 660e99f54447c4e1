"""Prints a warning on stdout before the answer to each save; with the argument "only", instead of it."""

import sys

from wire import NOTHING, resource, serve


def save(params, call):
    sys.stdout.buffer.write(b"WARNING: libfoo is deprecated\n")
    sys.stdout.buffer.flush()
    return NOTHING if "only" in sys.argv else resource(params["properties"])


serve({"resource/save": save})
