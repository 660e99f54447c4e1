"""Files that a person names on the command line: read whole, bounded, with a remedy for what they turn out to be."""

from pathlib import Path

from extensor.cli.trouble import trouble

LARGEST_INPUT_BYTES = 64 * 1024 * 1024
"""A larger template or parameter file is refused unread: nothing that people write comes near."""


def read_bytes(path: Path, what: str) -> bytes:
    """A file's bytes. Raises `Trouble` that says what the path is instead of a readable file."""
    try:
        if path.is_dir():
            inside = path / "main.json"
            hint = f"; name the file in it: {inside}" if inside.is_file() else ""
            raise trouble(f"{path} is a folder, not a {what}{hint}", code="InvalidInput")
        with path.open("rb") as file:
            content = file.read(LARGEST_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise trouble(f"there is no {what} {path}{_nearby(path)}", code="InputNotFound") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise trouble(f"{what} {path} cannot be read: {reason}", code="InvalidInput") from None
    if len(content) > LARGEST_INPUT_BYTES:
        raise trouble(f"{what} {path} is larger than {LARGEST_INPUT_BYTES // 1024 // 1024} MiB", code="InvalidInput")
    return content


def read_document(path: Path, what: str) -> bytes:
    """A file's bytes, which should be JSON. Raises `Trouble` for what is surely none, and for what is none at all."""
    content = read_bytes(path, what)
    if not content.strip():
        raise trouble(f"{what} {path} is empty", code="InvalidInput")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise trouble(f"{what} {path} is UTF-16 text; save it as UTF-8", code="InvalidInput")
    return content


def refuse_bicep(path: Path) -> None:
    """Raise `Trouble` with the way out for a file in the Bicep language."""
    if path.suffix.lower() not in (".bicep", ".bicepparam"):
        return
    command, made = (
        ("build", path.with_suffix(".json"))
        if path.suffix.lower() == ".bicep"
        else ("build-params", path.with_suffix(".parameters.json"))
    )
    raise trouble(
        f"{path} is Bicep source, and extensor reads compiled JSON only for now: "
        f"run 'bicep {command} {path} --outfile {made}' and give {made} instead",
        code="BicepNotCompiled",
    )


def _nearby(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"; there is no folder {folder} either"
    found = sorted(item.name for item in folder.glob("*.json"))[:5]
    return f"; {folder} has {', '.join(found)}" if found else ""
