"""Names that cannot collide: each holds a token of the run, which a rerun or a replay replaces by another."""

import itertools
import random
import re
import secrets
import threading
from collections import deque
from collections.abc import Iterable

_LETTERS = "abcdefghijkmnpqrstuvwxyz"
_ALPHABET = _LETTERS + "23456789"
TOKEN_LENGTH = 9
"""Characters of a token: lower-case letters and digits, a letter first."""
_HEX = "abcdef"
_HEX_TEXT = frozenset("0123456789abcdef")
_REMEMBERED = 10_000
_TRIES = 100


class Names:
    """Gives tokens, each once, different from those of every other run and worker; each worker has its own.

    A name is anything that contains a token in its lower-case, upper-case or capitalised form. `renamed` replaces all
    of them, so that names that were related (a prefix, another letter case) stay related.
    """

    def __init__(self, salt: str | None = None, prefix: str = "") -> None:
        self.salt = salt if salt is not None else secrets.token_hex(8)
        self.prefix = prefix
        """Put before each token by `fresh`, where length and pattern allow."""
        self._random = random.Random(self.salt)  # noqa: S311 - names, not secrets
        self._short: set[str] = set()
        self._lock = threading.Lock()
        self._ring: deque[str] = deque(maxlen=1000)
        self._numbers = itertools.count(self._random.randrange(10**8, 9 * 10**8), 7)

    def token(self, length: int = TOKEN_LENGTH, *, alphabet: str = _ALPHABET) -> str:
        """A new token; shorter ones are more likely to meet a stranger's."""
        first = [char for char in alphabet if char.isalpha()] or list(alphabet)
        with self._lock:
            text = ""
            for _ in range(_TRIES):
                text = self._random.choice(first) + "".join(self._random.choices(alphabet, k=length - 1))
                if self._new(text):
                    break
            self._ring.append(text)
            return text

    def number(self) -> int:
        """A new whole number of nine digits that serves as a token."""
        with self._lock:
            value = next(self._numbers)
            self._ring.append(str(value))
            return value

    def between(self, low: int | None, high: int | None) -> int:
        """A whole number within bounds, included: a token when they leave room for nine digits, else any."""
        if (low is None or low <= 10**8) and (high is None or high >= 10**9 - 1):
            return self.number()
        start = low if low is not None else min(0, (high or 0) - 10**6)
        with self._lock:
            return self._random.randint(start, high if high is not None else start + 10**6)

    def fresh(self) -> str:
        """A new name: prefix and token."""
        return f"{self.prefix}{self.token()}"

    def taken(self) -> tuple[str, ...]:
        """The tokens given since the last call, for the case that is being planned."""
        with self._lock:
            taken = tuple(self._ring)
            self._ring.clear()
            return taken

    def like(self, token: str) -> str:
        """A new token of the same length whose characters are of the same classes."""
        with self._lock:
            if token.isdecimal() and len(token) == 9:
                return str(next(self._numbers))
            text = token
            letters = _HEX if _HEX_TEXT.issuperset(token.lower()) else _LETTERS
            for _ in range(_TRIES):
                text = "".join(self._another(char, letters) for char in token)
                if text != token and self._new(text):
                    break
            return text

    def _new(self, text: str) -> bool:
        """Whether a token was not given before; long ones never meet, the shortest may have to."""
        if not 4 <= len(text) < 8:
            return True
        if text in self._short:
            return False
        if len(self._short) < _REMEMBERED:
            self._short.add(text)
        return True

    def _another(self, char: str, letters: str) -> str:
        if char.isdecimal():
            return self._random.choice("23456789")
        if char.isalpha():
            new = self._random.choice(letters)
            return new.upper() if char.isupper() else new
        return char


def renamed(text: str, mapping: Iterable[tuple[str, str]]) -> str:
    """`text` with each old token replaced by its new one, in lower, upper and capitalised form."""
    table: dict[str, str] = {}
    for old, new in mapping:
        for change in (str.swapcase, str.upper, str.capitalize, str.lower, str):
            table[change(old)] = change(new)
    if not table:
        return text
    pattern = re.compile("|".join(re.escape(old) for old in sorted(table, key=len, reverse=True)))
    return pattern.sub(lambda match: table[match.group()], text)
