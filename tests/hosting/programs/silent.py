"""Reads everything and answers nothing."""

import sys

print("I am thinking", file=sys.stderr, flush=True)
for _ in sys.stdin.buffer:
    pass
