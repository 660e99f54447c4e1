"""The provider: one resource type, ``note@1.0``, each note a text file in a folder.

Replace the files by whatever you manage. What stays: a model of the properties, and a handler with the four verbs.
"""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

from extensor import (
    Context,
    Identifier,
    Preview,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    SaveContext,
    is_unknown,
)
from pydantic import Field


class Config(Properties):
    """What a template says once for all resources, in its ``imports`` section."""

    folder: str = Field("notes", description="Where the notes are; a relative folder starts at the template's.")


class Note(Properties):
    """A note."""

    name: Identifier[Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$", max_length=64)]] = Field(
        description="What the note is called: small letters, digits and dashes."
    )
    text: str = Field("", description="What it says.")
    words: ReadOnly[int | None] = Field(None, description="How many words it has.")


provider = Provider("sample", "0.1.0", config=Config)


@provider.resource("note@1.0")
class NoteHandler(ResourceHandler[Note, Config]):
    """Plain functions: each call runs in a thread of its own. ``async def`` works as well."""

    def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        """Make it so; what `desired` does not say stays as it is."""
        note = self._merged(ctx, desired)
        file = self._file(ctx, note)
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=file.parent, delete=False) as beside:
            beside.write(note.text.encode("utf-8"))
        Path(beside.name).replace(file)  # in one step: who reads meanwhile finds the old note or the new one
        return self._seen(note.name, note.text)

    def preview_save(self, ctx: Context[Config], desired: Note) -> Preview[Note]:
        """What save would return; a text that is not known yet has a number of words that is not known either."""
        note = desired if is_unknown(desired.name) else self._merged(ctx, desired)
        if is_unknown(note.text):
            note.words = None
            return Preview(properties=note, unknown=("words",))
        note.words = len(note.text.split())
        return Preview(properties=note)

    def get(self, ctx: Context[Config], wanted: Note) -> Note | None:
        """What is there, or nothing."""
        try:
            text = self._file(ctx, wanted).read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        return self._seen(wanted.name, text)

    def delete(self, ctx: SaveContext[Config], wanted: Note) -> None:
        """Take it away; that it is gone already is fine."""
        self._file(ctx, wanted).unlink(missing_ok=True)

    def _merged(self, ctx: Context[Config], desired: Note) -> Note:
        current = self.get(ctx, desired)
        return desired.over(current) if current else desired

    def _file(self, ctx: Context[Config], note: Note) -> Path:
        return Path(ctx.config.folder) / f"{note.name}.txt"

    def _seen(self, name: str, text: str) -> Note:
        return Note(name=name, text=text, words=len(text.split()))
