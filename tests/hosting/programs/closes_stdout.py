"""Closes its stdout on save and runs on."""

import os
import signal

from wire import say, serve


def save(params, call):
    say("no more from me")
    os.close(1)
    while True:
        signal.pause()


serve({"resource/save": save})
