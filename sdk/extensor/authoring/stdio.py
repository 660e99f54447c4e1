"""The pipe to the host, taken before author code can touch it (rule 7 of the architecture)."""

import fcntl
import os
import sys
from contextlib import suppress
from typing import NamedTuple

_FIRST_PRIVATE_FD = 10
"""Above what a shell or a careless child closes or reuses."""


class Wire(NamedTuple):
    """Descriptors that this process alone knows: children do not inherit them."""

    read_fd: int
    write_fd: int


def claim_stdio() -> Wire:
    """Private copies of the standard descriptors 0 and 1, which from now on are the null device and stderr.

    Whatever prints, in Python, in C or in a child, then shows in the log, and whatever reads finds the end.
    """
    null = os.open(os.devnull, os.O_RDWR)
    read_fd, write_fd = _private(0, null), _private(1, null)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed
        os.dup2(null, 1)
    os.dup2(null, 0)
    os.close(null)
    os.register_at_fork(after_in_child=lambda: _let_go(read_fd, write_fd))
    before, sys.stdout = sys.stdout, sys.stderr
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: the process was started without a stdout
        before.flush()  # what was printed before now goes to stderr, not onto the wire
    return Wire(read_fd, write_fd)


def _let_go(*fds: int) -> None:
    """In a process that author code forked: the wire is its parent's, and ends when that ends."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd in fds:
        with suppress(OSError):  # closed by now
            os.dup2(null, fd, inheritable=False)
    os.close(null)


def _private(fd: int, otherwise: int) -> int:
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE_FD)
    except OSError:  # the process was started without it
        return fcntl.fcntl(otherwise, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE_FD)


def silence_stderr() -> None:
    """Let the interpreter's last flush succeed when the host has closed its end."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)
