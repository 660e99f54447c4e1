"""The two words of ``-p NAME=VALUE``."""

from typing import NamedTuple


class Assignment(NamedTuple):
    """One ``-p``, split at its first ``=``."""

    name: str
    text: str


def split_assignment(argument: str) -> Assignment:
    """Read ``NAME=VALUE``. Raises `ValueError` with the expected form."""
    name, equals, text = argument.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"a parameter is given as NAME=VALUE, this is {argument.partition('=')[0]!r}")
    return Assignment(name.strip(), text)
