"""The provider's process from the kit's side: started in a session of its own, waited for, signalled, looked into."""

import os
import select
import subprocess
import time
from pathlib import Path
from signal import Signals

from extensor.errors import StartFailed
from extensor_conformance.subject import Subject

MAX_STDERR = 64 * 1024
_LADDER_SECONDS = (2.0, 1.0, 2.0)


class Process:
    """One process, not reaped before `close`, so that its id cannot come to mean another."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._code: int | None = None

    @classmethod
    def start(cls, subject: Subject, *, stdin: int, stdout: int, stderr: int) -> "Process":
        """Start the subject's command. Raises `StartFailed` when the system refuses."""
        try:
            return cls(
                subprocess.Popen(
                    subject.command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=subject.cwd,
                    env=subject.environment(),
                    start_new_session=True,
                )
            )
        except (OSError, ValueError) as error:
            raise StartFailed(f"the provider could not be started: {subject.title}: {error}") from error

    @property
    def pid(self) -> int:
        """Its id, which is that of its group and session too."""
        return self._popen.pid

    def wait(self, timeout: float) -> int | None:
        """The exit code, negative for a signal; ``None`` when it still runs after that many seconds."""
        if self._code is not None:
            return self._code
        deadline = time.monotonic() + timeout
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # other systems, old kernels
            while self._look() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            return self._look()
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            poll.poll(max(0.0, timeout) * 1000)
        finally:
            os.close(pidfd)
        return self._look()

    def _look(self) -> int | None:
        """The exit code, without reaping."""
        if self._code is None:
            try:
                found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:  # reaped by `close`
                return self._popen.returncode
            if found is not None:
                self._code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        return self._code

    def signal(self, which: Signals) -> None:
        """To the process alone; nothing happens when it has gone."""
        if self._popen.returncode is None:
            try:
                os.kill(self.pid, which)
            except ProcessLookupError:
                return

    def close(self, *, patient: bool = True, listens: bool = False) -> None:
        """End the whole group by the ladder wait, terminate, kill, and reap.

        `patient` begins with the wait; one that `listens` on a socket does not end by itself, so for it the ladder
        begins with terminate.
        """
        if self._popen.returncode is not None:
            return
        if patient and (listens or self.wait(_LADDER_SECONDS[0]) is None):
            self._signal_group(Signals.SIGTERM)
            self.wait(_LADDER_SECONDS[1])
        self._signal_group(Signals.SIGKILL)
        try:
            self._popen.wait(_LADDER_SECONDS[2])
        except subprocess.TimeoutExpired:
            return  # stuck in the kernel: nothing more that we may do

    def children(self) -> list[int]:
        """Processes of its group or session that are left, itself excluded."""
        return [pid for pid in _members(self.pid) if pid != self.pid]

    def _signal_group(self, which: Signals) -> None:
        try:
            os.killpg(self.pid, which)
        except (ProcessLookupError, PermissionError):
            return


def _members(leader: int) -> list[int]:
    proc = Path("/proc")
    if not proc.is_dir():
        listed = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=False
        )
        rows = [line.split() for line in listed.stdout.splitlines()]
        return [int(row[0]) for row in rows if len(row) == 3 and int(row[1]) == leader and not row[2].startswith("Z")]
    found: list[int] = []
    for place in proc.iterdir():
        if place.name.isdigit():
            try:
                text = (place / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # gone in between
                continue
            state, _parent, group, session = text.rpartition(")")[2].split()[:4]
            if leader in (int(group), int(session)) and state not in "ZX":
                found.append(int(place.name))
    return found
