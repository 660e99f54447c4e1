"""Texts for generated bodies: plain and awkward ones, names that are fresh, canaries, and what a pattern asks for."""

import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from extensor_conformance.draw import Draw, load_characters
from extensor_conformance.names import TOKEN_LENGTH

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

WORDS = (
    "alpha", "bravo", "cedar", "delta", "ember", "fjord", "grove", "harbor",
    "island", "juniper", "kelp", "lagoon", "meadow", "north", "orchard", "pebble",
)  # fmt: skip
AWKWARD = (
    "naïve café",
    "日本語のテキスト",
    "emoji 😀 and 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "double \" single ' back\\slash / slash",
    "line one\nline two",
    "tab\there",
    " blanks around ",
    "{braces} [brackets] ${dollar} %percent%",
    "null",
    "true",
    "0",
    "e\u0301 is two characters",
    "separators \u2028 and \u2029",
    "<tag attribute='x'>&amp;</tag>",
    "עברית مرحبا",
    "[reference('app').id]",
    "$unknown",
)
"""Texts that are lost or changed when somebody quotes, trims, normalises or decodes where nobody should."""

_LONGEST_EDGE = 400
_TRIES = 8
_HEX = "0123456789abcdef"
_DIGITS = "23456789"
_LOWER = "abcdefghijkmnpqrstuvwxyz"


class Bounds(NamedTuple):
    """What a text has to keep; lengths count code points."""

    low: int = 0
    high: int | None = None
    pattern: re.Pattern[str] | None = None

    def fits(self, text: str) -> bool:
        """Whether a text keeps them."""
        if len(text) < self.low or (self.high is not None and len(text) > self.high):
            return False
        return self.pattern is None or self.pattern.search(text) is not None

    def cut(self, text: str) -> str:
        """A text made long or short enough; the pattern is not looked at."""
        if len(text) < self.low:
            text += "x" * (self.low - len(text))
        return text if self.high is None else text[: self.high]


def any_text(draw: Draw, bounds: Bounds) -> str:
    """A valid text without a meaning: words mostly, awkward ones, and those at the edge of a bound."""
    if bounds.pattern is not None:
        return matching(draw, bounds)
    style = draw.integer(0, 7)
    if style == 7 and bounds.high is not None and bounds.high <= _LONGEST_EDGE:
        return draw.choice(WORDS).ljust(bounds.high, "x")[: bounds.high]
    if style == 6 and bounds.low > 0:
        return bounds.cut(draw.choice(WORDS)[: bounds.low])
    if style == 5:
        return bounds.cut(_wide(draw))
    if style == 4:
        return bounds.cut(draw.choice(AWKWARD))
    if style >= 2:
        return bounds.cut(f"{draw.choice(WORDS)} {draw.choice(WORDS)}, {draw.integer(0, 999)}")
    return bounds.cut(draw.choice(WORDS))


def matching(draw: Draw, bounds: Bounds) -> str:
    """A text that keeps its pattern. An example for which none is found is given up."""
    from hypothesis import assume

    assert bounds.pattern is not None
    for _ in range(_TRIES):
        for text in _trimmed(draw(_of_pattern(bounds.pattern)), bounds):
            if bounds.fits(text):
                return text
    assume(False)
    raise AssertionError("assume has raised")


def _trimmed(text: str, bounds: Bounds) -> Iterator[str]:
    yield text.rstrip("\n")
    yield text
    yield bounds.cut(text)


def name(draw: Draw, bounds: Bounds) -> str:
    """A text that holds a fresh token, wherever bounds and pattern leave room for one."""
    for frame in _plain_frames(draw.names.prefix, bounds):
        if frame.always_fits(bounds):
            return frame.filled(draw)
    if bounds.pattern is None:
        return draw.names.token(max(1, bounds.high or 1))
    text = ""
    for _ in range(_TRIES):
        text = matching(draw, bounds)
        for frame in _frames_in(text):
            if frame.always_fits(bounds):
                return frame.filled(draw)
    return text


def canary(draw: Draw, bounds: Bounds) -> str:
    """A text that holds a canary; any valid text where bounds and pattern leave no room for one."""
    text = draw.canaries.fresh()
    for made in (text, bounds.cut(text), f"Aa1!{text}", f"{text}Aa1!"):
        if text in made and bounds.fits(made):
            return made
    if bounds.pattern is None:
        return any_text(draw, bounds)
    sample = matching(draw, bounds)
    for index in range(len(sample) + 1):
        made = f"{sample[:index]}{text}{sample[index:]}"
        if bounds.fits(made):
            return made
    return sample


class _Frame(NamedTuple):
    """A text with a gap for a token."""

    before: str
    after: str
    length: int
    alphabet: str
    upper: bool = False

    def filled(self, draw: Draw) -> str:
        return self._with(draw.names.token(self.length, alphabet=self.alphabet))

    def _with(self, token: str) -> str:
        return f"{self.before}{token.upper() if self.upper else token}{self.after}"

    def always_fits(self, bounds: Bounds) -> bool:
        """Whether any token will do there, so that a rerun with another one means the same."""
        return all(bounds.fits(self._with(token)) for token in _samples(self.length, self.alphabet))


@lru_cache(128)
def _samples(length: int, alphabet: str) -> tuple[str, ...]:
    source = random.Random(f"{length}{alphabet}")  # noqa: S311 - fixed texts to try a pattern with
    letters = [char for char in alphabet if char.isalpha()] or list(alphabet)
    made = [source.choice(letters) + "".join(source.choices(alphabet, k=length - 1)) for _ in range(4)]
    return (*made, letters[0] * length, letters[-1] + alphabet[-1] * (length - 1))


def _plain_frames(prefix: str, bounds: Bounds) -> Iterator[_Frame]:
    alphabet = _LOWER + _DIGITS
    pad = "x" * max(0, bounds.low - TOKEN_LENGTH)
    yield _Frame(prefix, pad[len(prefix) :], TOKEN_LENGTH, alphabet)
    yield _Frame("", pad, TOKEN_LENGTH, alphabet)
    if bounds.pattern is not None:
        yield _Frame("", pad, TOKEN_LENGTH, alphabet, upper=True)
        yield _Frame("", pad, TOKEN_LENGTH, _LOWER)
        yield _Frame("", pad, TOKEN_LENGTH, _LOWER, upper=True)
        yield _Frame("/", pad, TOKEN_LENGTH, alphabet)
        if bounds.high is not None and 4 <= bounds.high < TOKEN_LENGTH:
            yield _Frame("", "", bounds.high, alphabet)
            yield _Frame("", "", bounds.high, _LOWER)


def _frames_in(text: str) -> Iterator[_Frame]:
    """Gaps that can be made in a text: in place of a run of letters and digits, the longest first, or between two."""
    runs = sorted(re.finditer(r"[A-Za-z0-9]+", text), key=lambda match: match.start() - match.end())
    for match in runs:
        length = min(match.end() - match.start(), 12)
        start = match.end() - length
        if length >= 3:
            for alphabet, upper in _ALPHABETS:
                yield _Frame(text[:start], text[match.end() :], length, alphabet, upper)
    for match in runs[:3]:
        for at in (match.end(), match.start()):
            for alphabet, upper in _ALPHABETS:
                yield _Frame(text[:at], text[at:], TOKEN_LENGTH, alphabet, upper)


_ALPHABETS = (
    (_LOWER + _DIGITS, False),
    (_LOWER, False),
    (_LOWER + _DIGITS, True),
    (_LOWER, True),
    (_HEX, False),
    (_HEX, True),
    (_DIGITS, False),
)


_PRINTABLE = "".join(map(chr, (*range(0x20, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x180))))
_WIDE = _PRINTABLE + "".join(map(chr, (*range(0x3B1, 0x3CA), *range(0x410, 0x450), *range(0x5D0, 0x5EB), 0x301, 0x308)))
_WIDER = _WIDE + "".join(map(chr, (*range(0x4E00, 0x4E80), *range(0x1F600, 0x1F640), *range(0x20000, 0x20040))))


def _wide(draw: Draw) -> str:
    """A text of any of these characters; one choice for all of them, since each costs, and Hypothesis's tables more."""
    source = random.Random(draw.integer(0, 2**32 - 1))  # noqa: S311 - no secret, and the same each time
    return "".join(source.choices(_WIDER, k=source.randint(0, 24)))


@lru_cache(512)
def _of_pattern(pattern: re.Pattern[str]) -> "SearchStrategy[str]":
    from hypothesis import strategies
    from hypothesis.errors import InvalidArgument

    load_characters()
    for made in (
        strategies.from_regex(pattern, fullmatch=True, alphabet=_PRINTABLE),
        strategies.from_regex(pattern, fullmatch=True),
        strategies.from_regex(pattern),
    ):
        try:
            made.validate()
        except InvalidArgument:
            continue
        return made
    return strategies.nothing()
