"""Ignores the end of its input and SIGTERM."""

import signal

from wire import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve({})
while True:
    signal.pause()
