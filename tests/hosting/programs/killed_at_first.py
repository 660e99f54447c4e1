"""Is killed before it greets, the first `--times` times; the file `--count` has a character for each start."""

import argparse
import os
import signal
from pathlib import Path

from wire import serve

arguments = argparse.ArgumentParser()
arguments.add_argument("--count", type=Path)
arguments.add_argument("--times", type=int)
arguments.add_argument("--signal", type=int, default=signal.SIGKILL)
options = arguments.parse_args()
with options.count.open("a") as file:
    file.write("x")
if len(options.count.read_text()) <= options.times:
    os.kill(os.getpid(), options.signal)
serve({})
