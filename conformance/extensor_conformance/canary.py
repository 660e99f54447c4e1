"""Secret values that can be found again in any spelling, and their masking.

A canary is a text that contains the run's marker. So one small set of needles, made once for a run, finds every canary
of the run in any text, however many there were.
"""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

from extensor.contract.redaction import MASK, SHORTEST_SECRET

CANARY = re.compile(r"cnry[0-9a-f]{8}(?:z\d+)?")
"""The canaries of any run, as a run's marker and its canaries are made."""


def spellings(secret: str) -> frozenset[bytes]:
    """The forms under which a secret may leak, as bytes to look for.

    Raw, JSON-escaped, URL-quoted, hexadecimal, and base64 in each of the three positions it may have inside a longer
    text (without the characters that its neighbours decide).
    """
    raw = secret.encode("utf-8", "surrogatepass")
    found = {
        raw,
        json.dumps(secret)[1:-1].encode(),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"),
        quote(raw, safe="").encode(),
        raw.hex().encode(),
        raw.hex().upper().encode(),
    }
    for shift in range(3):
        inner = base64.b64encode(b"\0" * shift + raw)
        start = (0, 2, 3)[shift]
        end = len(inner.rstrip(b"=")) - (1 if (shift + len(raw)) % 3 else 0)
        cut = inner[start:end]
        if len(cut) >= 2 * SHORTEST_SECRET:
            found |= {cut, cut.translate(bytes.maketrans(b"+/", b"-_"))}
    return frozenset(item for item in found if len(item) >= SHORTEST_SECRET)


class Needles:
    """Finds any of several secrets in any spelling, with one pass over the text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: tuple[str, ...] = ()
        self._pattern: re.Pattern[bytes] | None = None
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """Look for these as well; texts shorter than four characters are not looked for."""
        known = dict.fromkeys((*self._secrets, *(item for item in secrets if len(item) >= SHORTEST_SECRET)))
        if len(known) == len(self._secrets):
            return
        self._secrets = tuple(known)
        needles = sorted({form for item in known for form in spellings(item)}, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(re.escape(needle) for needle in needles))

    def found_in(self, data: bytes) -> bytes | None:
        """The first spelling that occurs in `data`, or ``None``."""
        match = self._pattern.search(data) if self._pattern else None
        return match.group() if match else None

    def mask(self, data: bytes) -> bytes:
        """The data with each occurrence replaced by ``***``."""
        return self._pattern.sub(MASK.encode(), data) if self._pattern else data

    def mask_text(self, text: str) -> str:
        """The text with each occurrence replaced by ``***``."""
        if self._pattern is None:
            return text
        return self.mask(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


class Canaries:
    """Makes the run's canaries."""

    def __init__(self, marker: str) -> None:
        self.marker = marker
        """In every canary of the run; letters and digits."""
        self.needles = Needles([marker])
        self._count = 0

    def fresh(self) -> str:
        """A new canary: letters and digits, 16 to 24 characters."""
        self._count += 1
        return f"{self.marker}z{self._count}"
