"""How the expression language says no, before the place in the document is known."""

from collections.abc import Iterable

_SHOWN = 160
"""Characters of an expression that a message shows."""


class Refusal(Exception):
    """An expression cannot be evaluated. `Scope` turns it into a `TemplateError` that names the place.

    The text never quotes a value: it may be a secret.
    """


def nearest(name: str, known: Iterable[str], *, noun: str = "known names") -> str:
    """A remedy for a wrong name: ``"did you mean 'x'?"``, else the names there are, cut to the first twelve."""
    from difflib import get_close_matches  # not needed where nothing is wrong

    names = list(known)
    if not names:
        return f"there are no {noun}"
    lowered = {one.lower(): one for one in names}
    close = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{lowered[close[0]]}'?"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"{noun}: {', '.join(names[:12])}{more}"


def shortened(text: str) -> str:
    """An expression as far as messages show it."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
