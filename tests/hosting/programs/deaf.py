"""Greets, and reads nothing more."""

import signal
import sys

from wire import HANDSHAKE, answer

sys.stdin.buffer.raw.read(65536)
answer(1, HANDSHAKE)
while True:
    signal.pause()
