"""Closes its stdout on save and runs on."""

import os
import signal
import sys

from wire import serve


def save(params, id):
    print("no more from me", file=sys.stderr, flush=True)
    os.close(1)
    while True:
        signal.pause()


serve({"resource/save": save})
