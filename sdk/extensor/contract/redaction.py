"""Masking: secret values never reach a log, an error, a state file or a report (P-SECRET-*)."""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from extensor.contract.json import Json

MASK = "***"
SHORTEST_SECRET = 4
"""Shorter values are masked where a type marks them, but not searched for in text: they would mask everything."""


class Redactor:
    """Masks known secret values wherever they occur in text or data, also JSON-escaped, URL-quoted or in base64."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._needles: list[str] = []
        self._secrets: set[str] = set()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Learn a secret value."""
        if secret in self._secrets or len(secret) < SHORTEST_SECRET:
            return
        self._secrets.add(secret)
        self._needles = sorted(
            {needle for known in self._secrets for needle in _spellings(known)}, key=len, reverse=True
        )

    def learn(self, value: Json) -> None:
        """Learn every text inside a secret value."""
        for text in _texts(value):
            self.add(text)

    def text(self, text: str) -> str:
        """The text with each secret replaced by ``***``."""
        for needle in self._needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text

    def data(self, value: Json) -> Json:
        """A copy of a JSON value with secrets masked in its texts and names."""
        if not self._needles:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.data(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _spellings(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="")
    raw = secret.encode("utf-8", "surrogatepass")
    yield base64.b64encode(raw).decode()
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
