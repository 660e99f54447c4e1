"""Starts a child that holds all three pipes, writes its id to the file in the argument, and dies at once on save."""

import os
import subprocess
import sys
from pathlib import Path

from wire import say, serve

child = subprocess.Popen(
    [sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"],
    stdin=0,
    stdout=1,
    stderr=2,
)
Path(sys.argv[1]).write_text(str(child.pid))


def save(params, call):
    say("leaving my child alone")
    os._exit(4)


serve({"resource/save": save})
