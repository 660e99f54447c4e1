"""Every wait of this room, by name, in seconds. No call has a limit that is not given with it."""

from dataclasses import dataclass

GREETING = 30.0
"""From the start of a provider's process to its answer to `provider/initialize`."""

CONNECTING = 10.0
"""Until a socket of a running provider accepts."""

DESCRIBING = 60.0
"""For the answers about types, which can be megabytes."""

PINGING = 5.0
"""For the answer to `provider/ping`, which a provider gives while operations run."""

ANSWER_GRACE = 1.0
"""How much longer than a call's deadline its answer is waited for, so that the provider can say what happened."""

FAREWELL = 0.5
"""For the other half of an end: the exit after the stream's end, or the stream's end after the exit.

What is pending fails within this time of the first half, so within a second.
"""

LOOK = 15.0
"""What a `get` that looks after an unclear save may take at least. It is the only wait beyond a `perform`'s budget."""


@dataclass(frozen=True, slots=True)
class StopLadder:
    """How long each step of a stop waits for the process to be gone; the total is their sum."""

    after_close: float = 5.0
    """After its input was closed; a provider exits within this time (protocol, Life)."""
    after_terminate: float = 2.0
    """After SIGTERM to its process group."""
    after_kill: float = 1.0
    """After SIGKILL to its process group; only a process that the kernel cannot end outlives it."""

    @property
    def total(self) -> float:
        """The longest that a stop takes."""
        return self.after_close + self.after_terminate + self.after_kill


FAILED_START = StopLadder(after_close=0.5, after_terminate=0.5, after_kill=1.0)
"""For a process that could not be greeted: it has done no work that would need time to end."""
