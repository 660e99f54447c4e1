"""Finding the name someone meant."""

from collections.abc import Iterable


def nearest(given: str, names: Iterable[str]) -> str | None:
    """The name most like the given one, a mere difference in case first; ``None`` when none is near."""
    known = list(names)
    folded = given.casefold()
    for name in known:
        if name.casefold() == folded:
            return name
    from difflib import get_close_matches  # costs more to import than the rest of this room

    lower = {name.casefold(): name for name in known}
    close = get_close_matches(folded[:200], lower, 1, 0.6)
    return lower[close[0]] if close else None
