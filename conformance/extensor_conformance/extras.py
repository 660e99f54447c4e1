"""What the kit needs beyond the SDK, and how to get it."""

from importlib.util import find_spec


def missing_extra() -> str | None:
    """Why no inputs can be made here, with the way out; ``None`` when all is there."""
    if find_spec("hypothesis") is not None:
        return None
    return "the kit makes its inputs with hypothesis, which is not installed: pip install 'extensor[conformance]'"
