"""Masking: secret values never reach a log, an error, a state file or a report (P-SECRET-*)."""

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from extensor.contract.json import Json
from extensor.contract.paths import format_path

MASK = "***"
SHORTEST_SECRET = 4
"""Shorter values are masked where a type marks them, but not searched for in text: they would mask everything."""
_FEW = 64
"""As many spellings are looked for one by one; more by how they begin, so that the cost does not grow with them."""


class Redactor:
    """Masks known secret values wherever they occur in text or data, also escaped, quoted, URL-quoted or in base64."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._needles: set[str] = set()
        self._by_beginning: dict[str, list[str]] = {}
        self._secrets: set[str] = set()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Learn a secret value."""
        if secret in self._secrets or len(secret) < SHORTEST_SECRET:
            return
        self._secrets.add(secret)
        for needle in _spellings(secret):
            if needle not in self._needles:
                self._needles.add(needle)
                alike = self._by_beginning.setdefault(needle[:SHORTEST_SECRET], [])
                alike.append(needle)
                alike.sort(key=len, reverse=True)

    @property
    def knows_any(self) -> bool:
        """Whether there is a secret to mask."""
        return bool(self._needles)

    def learn(self, value: Json) -> None:
        """Learn every text inside a secret value."""
        for text in _texts(value):
            self.add(text)

    def text(self, text: str) -> str:
        """The text with each secret replaced by ``***``."""
        if len(self._needles) <= _FEW and not any(needle in text for needle in self._needles):
            return text
        found: list[str] = []
        after = at = 0
        while at <= len(text) - SHORTEST_SECRET:
            for needle in self._by_beginning.get(text[at : at + SHORTEST_SECRET], ()):
                if text.startswith(needle, at):
                    found += text[after:at], MASK
                    after = at = at + len(needle)
                    break
            else:
                at += 1
        return "".join((*found, text[after:])) if found else text

    def finds(self, text: str, least: int = SHORTEST_SECRET) -> bool:
        """Whether a secret that is spelled with at least so many characters stands in a text."""
        return any(
            len(needle) >= least and text.startswith(needle, at)
            for at in range(len(text) - least + 1)
            for needle in self._by_beginning.get(text[at : at + SHORTEST_SECRET], ())
        )

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
    """The ways in which a text stands inside other texts: JSON, JSON in JSON, paths, expressions, `repr`, URLs."""
    yield secret
    for in_ascii in (True, False):
        inner = json.dumps(secret, ensure_ascii=in_ascii)[1:-1]
        yield inner
        yield json.dumps(inner, ensure_ascii=in_ascii)[1:-1]
    yield format_path((secret,)).removeprefix("$.").removeprefix("$['").removesuffix("']")
    yield secret.replace("'", "''")
    yield repr(secret)[1:-1]
    raw = secret.encode("utf-8", "surrogatepass")
    yield quote(raw, safe="")
    yield quote(raw)
    yield quote_plus(raw)
    yield base64.b64encode(raw).decode()
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
