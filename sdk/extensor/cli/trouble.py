"""What stops a command, as a list of faults for people and for programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from extensor.cli.exits import Exit

if TYPE_CHECKING:
    from extensor.contract.faults import Fault


class Trouble(Exception):
    """A command cannot go on: every fault found, under one headline. `code` is the exit code it leads to.

    `hint` is a last line for people: what to try.
    """

    def __init__(
        self, headline: str, faults: "Iterable[Fault]" = (), *, code: Exit = Exit.FAILED, hint: str = ""
    ) -> None:
        self.headline = headline
        self.faults = tuple(faults)
        self.code = code
        self.hint = hint
        super().__init__(headline)


def trouble(
    message: str, *, code: str = "InvalidRequest", path: str | None = None, exit_code: Exit = Exit.FAILED
) -> Trouble:
    """A `Trouble` of one fault, whose message is the headline too."""
    from extensor.contract.faults import Fault

    return Trouble(message, (Fault(code, message, path),), code=exit_code)
