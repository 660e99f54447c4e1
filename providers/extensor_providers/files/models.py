"""The properties of the types, and what they mean as bytes and modes."""

import base64
import binascii
import hashlib
import re

from pydantic import Field

from extensor import Identifier, InvalidProperty, OperationFailed, Properties, ReadOnly, Unknown, is_unknown
from extensor_providers.files.reading import SHOWN_BYTES

MODE_PATTERN = "^[0-7]{4}$"
_OWNER_READS = re.compile("[0-7][4-7][0-7]{2}")
_OWNER_ENTERS = re.compile("[0-7][57][0-7]{2}")


class Config(Properties):
    """Where the files lie."""

    root: str = Field(
        min_length=1,
        description=(
            "The folder that every path is relative to and that nothing leaves. A relative root starts at the "
            "template's folder. The first save makes it where it is missing; no delete removes it."
        ),
    )


class File(Properties):
    """A regular file. Exactly one of `content` and `contentBase64` says what is in it."""

    path: Identifier[str] = Field(
        min_length=1,
        description="Relative to the root, names joined by single slashes. Folders on the way are made.",
    )
    content: str | None = Field(default=None, description="The text, written as UTF-8 without any other change.")
    content_base64: str | None = Field(
        default=None,
        alias="contentBase64",
        description=(
            "The bytes, in base64, for what is no text. Answers show bytes that are UTF-8 under 'content' and all "
            "others here; above 1 MiB they show neither, only 'sha256' and 'size'."
        ),
    )
    mode: str = Field(
        default="0644",
        pattern=MODE_PATTERN,
        description=(
            "Four octal digits; its owner must be able to read the file. When absent, a new file gets '0644' and one "
            "that is there keeps its mode."
        ),
    )
    sha256: ReadOnly[str | None] = Field(default=None, description="SHA-256 of the bytes, 64 lower-case hex digits.")
    size: ReadOnly[int | None] = Field(default=None, description="Number of bytes.")


class Directory(Properties):
    """A directory itself, without what is in it: deleting it needs it to be empty."""

    path: Identifier[str] = Field(
        min_length=1,
        description="Relative to the root, names joined by single slashes. Folders on the way are made.",
    )
    mode: str = Field(
        default="0755",
        pattern=MODE_PATTERN,
        description=(
            "Four octal digits; its owner must be able to list and enter the directory. When absent, a new directory "
            "gets '0755' and one that is there keeps its mode."
        ),
    )


def file_mode(text: str) -> int:
    """The mode bits. Raises `InvalidProperty` for a file that could be written once and never read again."""
    if not _OWNER_READS.fullmatch(text):
        raise InvalidProperty("mode", f"a file of mode {text!r} could not be read by its owner; use '0400' or wider")
    return int(text, 8)


def directory_mode(text: str) -> int:
    """The mode bits. Raises `InvalidProperty` for a directory that its owner could not use."""
    if not _OWNER_ENTERS.fullmatch(text):
        raise InvalidProperty(
            "mode", f"a directory of mode {text!r} could not be used by its owner; use '0500' or wider"
        )
    return int(text, 8)


def file_keeping_mode(desired: File, current: int | None) -> File:
    """With the mode that is there, when none was given and the owner can read the file with it."""
    if "mode" in desired.model_fields_set or current is None or not _OWNER_READS.fullmatch(mode_text(current)):
        return desired
    return desired.model_copy(update={"mode": mode_text(current)})


def directory_keeping_mode(desired: Directory, current: int | None) -> Directory:
    """With the mode that is there, when none was given and the owner can use the directory with it."""
    if "mode" in desired.model_fields_set or current is None or not _OWNER_ENTERS.fullmatch(mode_text(current)):
        return desired
    return desired.model_copy(update={"mode": mode_text(current)})


def mode_text(mode: int) -> str:
    """Mode bits as four octal digits."""
    return f"{mode:04o}"


def content_of(file: File) -> bytes | None:
    """The bytes a file is to hold, ``None`` while they are not known.

    Raises `InvalidProperty` for text that has no UTF-8 form and for what is no base64, `OperationFailed` with
    ``MissingProperty`` or ``InvalidProperty`` unless exactly one of both properties is given.
    """
    if is_unknown(file.content) or is_unknown(file.content_base64):
        return None
    if file.content is not None and file.content_base64 is not None:
        raise InvalidProperty("contentBase64", "content and contentBase64 are both given; leave one of them out")
    if file.content is not None:
        try:
            return file.content.encode()
        except UnicodeEncodeError:
            raise InvalidProperty(
                "content", "holds half a surrogate pair, which is no text; use contentBase64"
            ) from None
    if file.content_base64 is not None:
        try:
            return base64.b64decode(file.content_base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidProperty("contentBase64", f"is no base64: {error}") from None
    raise OperationFailed(
        "a file needs its content: give content, which may be '', or contentBase64",
        code="MissingProperty",
        path="$.properties.content",
    )


def shown_file(path: str, content: bytes, mode: str) -> File:
    """A file with known content as every answer shows it."""
    return File(path=path, mode=mode, sha256=hashlib.sha256(content).hexdigest(), size=len(content), **shown(content))


def unknown_file(desired: File) -> File:
    """A file as a preview shows it whose content is not known yet."""
    # Whether bytes are shown as text or in base64 is decided by the bytes.
    content = Unknown() if desired.content is None else desired.content
    return desired.model_copy(update={"content": content, "sha256": Unknown(), "size": Unknown()})


def shown(content: bytes | None) -> dict[str, str]:
    """The property that shows these bytes, by field name; none for what is too large."""
    if content is None or len(content) > SHOWN_BYTES:
        return {}
    try:
        return {"content": content.decode()}
    except UnicodeDecodeError:
        return {"content_base64": base64.b64encode(content).decode()}
