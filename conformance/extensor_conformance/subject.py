"""Who is judged: a command that starts a provider, or the address of one that runs."""

import secrets
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from extensor.contract.handshake import TOKEN_VARIABLE
from extensor.hosting.environment import environment
from extensor.hosting.launch import find

ADDRESS = "{address}"
"""Stands in a command for the address at which the provider is to listen."""


@dataclass(frozen=True, slots=True)
class Subject:
    """How to start or reach the provider.

    - `command` alone: stdio.
    - `address` alone (``unix:PATH``, ``tcp:127.0.0.1:PORT``): a provider that runs already; it is never stopped.
    - both: the kit starts the command, in which ``{address}`` is replaced, and connects to it.
      ``unix:`` and ``tcp:`` without more let the kit choose the place.
    """

    command: tuple[str, ...] = ()
    address: str | None = None
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to what is allowed of this process's environment."""
    token: str | None = None
    """What `provider/initialize` presents; made by the kit for a provider that it starts on TCP."""

    @classmethod
    def of_command(
        cls,
        command: str | Sequence[str],
        *,
        cwd: Path | None = None,
        address: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> "Subject":
        """From a command line or its parts. Raises `ProviderNotFound`."""
        return cls(find("the provider", command=command, cwd=cwd).argv, address, cwd, env or {})

    @classmethod
    def of_app(cls, app: str, *, cwd: Path | None = None) -> "Subject":
        """From ``module:attribute`` of a provider written with the SDK, started in a process of its own."""
        return cls((sys.executable, "-m", "extensor.authoring", app), cwd=cwd)

    @property
    def owned(self) -> bool:
        """Whether the kit starts the process, and so may restart and end it."""
        return bool(self.command)

    @property
    def wire(self) -> str:
        """``stdio``, ``unix`` or ``tcp``."""
        return "stdio" if self.address is None else self.address.partition(":")[0]

    @property
    def title(self) -> str:
        """The command line, quoted as a shell wants it, or the address."""
        return shlex.join(self.command) if self.command else str(self.address)

    def environment(self) -> dict[str, str]:
        """The environment of the provider's process."""
        added = dict(self.env)
        if self.token is not None:
            added[TOKEN_VARIABLE] = self.token
        return environment(added)

    def placed(self, folder: Callable[[], Path]) -> "Subject":
        """The same with an own address and token where the kit is to choose them; each call chooses anew.

        `folder` makes a folder that only this user may enter, for a socket file.
        """
        if not self.owned or self.address is None:
            return self
        address, token = self.address, self.token
        if address == "unix:":
            address = f"unix:{folder() / 'provider.sock'}"
        elif address == "tcp:":
            address = f"tcp:127.0.0.1:{_free_port()}"
        if address.startswith("tcp:") and token is None:
            token = secrets.token_urlsafe(24)
        command = tuple(part.replace(ADDRESS, address) for part in self.command)
        return replace(self, command=command, address=address, token=token)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
