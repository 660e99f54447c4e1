"""Type strings and versions: ``files:file@1.0``, ``1.4.0`` (P-TYPE-*, P-VERSION-*)."""

import re

from extensor.contract.value import value

_TYPE = re.compile(r"(?:(?P<provider>[^:@/\s][^:@\s]*):)?(?P<name>[^:@\s]+)@(?P<version>[^:@\s]+)\Z")
_VERSION = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?\Z")


@value
class TypeName:
    """A resource type's name. Names compare without case, versions exactly."""

    name: str
    version: str
    provider: str | None = None

    @classmethod
    def parse(cls, text: str) -> "TypeName":
        """Read ``[provider:]name@version``. Raises `ValueError` with the expected form."""
        match = _TYPE.match(text)
        if match is None:
            raise ValueError(f"a resource type is written name@version, this is {text!r}")
        return cls(match["name"], match["version"], match["provider"])

    @property
    def key(self) -> str:
        """What two spellings of the same type share."""
        return f"{self.name.lower()}@{self.version}"

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def serves(own: str, asked: str) -> bool:
    """Whether a provider of version `own` may serve a request for `asked`: same major version, equal or greater.

    Semantic Versioning 2.0 precedence, missing parts are zero; versions that are no such thing must be equal.
    """
    have, want = _precedence(own), _precedence(asked)
    if have is None or want is None:
        return own == asked
    return have[0] == want[0] and have >= want


def _precedence(version: str) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]] | None:
    match = _VERSION.match(version)
    if match is None:
        return None
    major, minor, patch, pre = match.groups()
    if pre is None:
        marks: tuple[tuple[int, int, str], ...] = ((2, 0, ""),)  # a release comes after each of its pre-releases
    else:
        marks = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre.split("."))
    return int(major), int(minor or 0), int(patch or 0), marks
