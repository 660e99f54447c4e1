"""Lines on stderr: the provider's log, which a host drains and keeps."""

import sys


def write(level: str, message: str) -> None:
    """Add a message to the log, each line marked with the level. Never raises: a host may have closed the pipe."""
    text = "".join(f"{level}: {line}\n" for line in message.splitlines() or ("",))
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return
