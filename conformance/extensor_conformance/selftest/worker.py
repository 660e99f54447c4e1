"""A process of the kit that plays turns of the bed, one after the other: a turn a line in, what came of it a line out.

Processes, since the kit keeps a processor busy by itself; it ends with its input, and so with whoever started it.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

from extensor.contract import JsonObject
from extensor_conformance.selftest.model import Turn

_END_SECONDS = 20.0


class Worker:
    """One such process, started when it is first needed and again when it has ended."""

    def __init__(self, bed: Path) -> None:
        self._bed = bed
        self._process: subprocess.Popen[str] | None = None

    def play(self, name: str, number: int, seed: int) -> Turn:
        """One program on one seed, which is the `number`-th; a trouble when the process ends over it."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"name": name, "number": number, "seed": seed}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            code = process.wait(_END_SECONDS)
            self.close()
            return Turn(seed, trouble=f"the kit's process ended with {code}")
        found: JsonObject = json.loads(line)
        return Turn(found["seed"], tuple(found["seen"]), found["trouble"], found["runs"], found["seconds"])

    def interrupt(self) -> None:
        """From another thread: let the turn that is played end early."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.communicate(timeout=_END_SECONDS)
        except BrokenPipeError:
            return
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            # In a session of its own: Ctrl-C is for the process that waits, which passes it on.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "extensor_conformance.selftest.worker", str(self._bed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
        return self._process


def main() -> None:
    """Serve until the input ends or an interrupt comes."""
    from dataclasses import asdict

    from extensor_conformance.selftest.bed import read_bed
    from extensor_conformance.selftest.playing import play_turn

    bed = read_bed(Path(sys.argv[1]))
    entries = {entry.name: entry for entry in bed.entries}
    try:
        for line in sys.stdin:
            task: JsonObject = json.loads(line)
            turn = play_turn(bed, entries[task["name"]], task["number"], task["seed"])
            sys.stdout.write(json.dumps(asdict(turn)) + "\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
