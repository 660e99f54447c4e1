import subprocess
import sys
from pathlib import Path


def test_the_engine_in_miniature_saves_what_it_previewed(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, project / "examples/host.py"], capture_output=True, text=True, timeout=60, check=True
    )
    would_be, is_ = done.stdout.splitlines()
    assert would_be.removeprefix("would be ") == is_.removeprefix("is       ")
    assert "'size': 6" in is_
