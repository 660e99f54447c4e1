"""Starts a child that holds all three pipes and sleeps, writes its id to the file in the argument. Dies at once on save."""

import os
import subprocess
import sys
from pathlib import Path

from wire import serve

child = subprocess.Popen(
    [sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"],
    stdin=0,
    stdout=1,
    stderr=2,
)
Path(sys.argv[1]).write_text(str(child.pid))


def save(params, id):
    print("leaving my child alone", file=sys.stderr, flush=True)
    os._exit(4)


serve({"resource/save": save})
