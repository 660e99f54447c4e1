"""Resource paths: relative, canonical, and safe to walk one name at a time."""

from extensor import InvalidProperty

TEMP_PREFIX = ".extensor-"
TEMP_SUFFIX = ".tmp"

_LONGEST_NAME = 255
_LONGEST_PATH = 4096


def parse_path(text: str) -> tuple[str, ...]:
    """The names that a resource's `path` consists of, outermost first; never empty.

    One place has one spelling, because the path is the resource's identity: names joined by single slashes, without
    ``.`` and ``..``. Raises `InvalidProperty` at ``$.properties.path`` with the remedy.
    """
    if fault := _fault(text):
        raise InvalidProperty("path", fault)
    return tuple(text.split("/"))


def is_temporary(name: str) -> bool:
    """Whether a directory entry is one of this provider's unfinished writes."""
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def _fault(text: str) -> str | None:
    if not text:
        return "the path is empty; name a place below the root, such as 'site/index.html'"
    if text.startswith("/"):
        return "the path is absolute; write it relative to the root, without the leading slash"
    if text.endswith("/"):
        return "the path ends with a slash; leave it out, a directory's path has none either"
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return "the path holds a control character (NUL, line break, tab or the like)"
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        return "the path holds half a surrogate pair, which is no text"
    if len(encoded) > _LONGEST_PATH:
        return f"the path is {len(encoded)} bytes long, more than {_LONGEST_PATH}"
    for name in text.split("/"):
        if not name:
            return "the path holds two slashes in a row; write one"
        if name in {".", ".."}:
            return f"the path holds the name {name!r}; write the place itself, relative to the root"
        if len(name.encode()) > _LONGEST_NAME:
            return f"a name in the path is {len(name.encode())} bytes long, more than {_LONGEST_NAME}"
        if is_temporary(name):
            return f"names like {TEMP_PREFIX}*{TEMP_SUFFIX} are this provider's own, for unfinished writes"
    return None
