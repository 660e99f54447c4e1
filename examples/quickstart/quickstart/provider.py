from pathlib import Path

from pydantic import Field

from extensor import Context, Identifier, Properties, Provider, ResourceHandler

provider = Provider("quickstart", "0.1.0")


class Note(Properties):
    name: Identifier[str] = Field(pattern="^[a-z0-9-]{1,60}$")
    text: str

    @property
    def file(self) -> Path:
        return Path(f"{self.name}.txt")


@provider.resource("note@1.0")
class NoteHandler(ResourceHandler[Note]):
    async def save(self, ctx: Context, desired: Note) -> Note:
        desired.file.write_bytes(desired.text.encode())
        return desired

    async def get(self, ctx: Context, wanted: Note) -> Note | None:
        return Note(name=wanted.name, text=wanted.file.read_bytes().decode()) if wanted.file.exists() else None

    async def delete(self, ctx: Context, wanted: Note) -> None:
        wanted.file.unlink(missing_ok=True)
