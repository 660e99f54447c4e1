"""A provider for the command line's tests. It keeps its resources as JSON files in the working directory."""

import json
from pathlib import Path

from pydantic import Field

from extensor import (
    Context,
    Identifier,
    OperationFailed,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    SaveContext,
    Secret,
    Throttled,
)
from extensor.contract import Fault


class Note(Properties):
    name: Identifier[str] = Field(pattern="^[a-z0-9-]+$")
    text: str = ""
    key: Secret[str | None] = None
    words: ReadOnly[int | None] = None


class Config(Properties):
    token: Secret[str | None] = None


provider = Provider("notes", "1.2.0", config=Config)


def read(name: str) -> Note | None:
    file = Path(f"{name}.note.json")
    return Note(**json.loads(file.read_text("utf-8"))) if file.exists() else None


def write(note: Note) -> Note:
    body = {"name": note.name, "text": note.text, "key": note.key, "words": len(note.text.split())}
    Path(f"{note.name}.note.json").write_text(json.dumps(body), "utf-8")
    return Note(**body)


class Notes(ResourceHandler[Note, Config]):
    async def get(self, ctx: Context[Config], wanted: Note) -> Note | None:
        return read(wanted.name)

    def delete(self, ctx: SaveContext[Config], wanted: Note) -> None:
        Path(f"{wanted.name}.note.json").unlink(missing_ok=True)


@provider.resource("note@1.0")
class Plain(Notes):
    async def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        current = read(desired.name)
        ctx.progress("writing", 50)
        return write(desired.over(current) if current else desired)


@provider.resource("gate@1.0")
class Gate(Notes):
    """A save that begins when someone opens the FIFO ``NAME.fifo`` to write, and ends when that writer closes it."""

    def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        Path(f"{desired.name}.fifo").read_text("utf-8")
        return write(desired)


@provider.resource("slow-preview@1.0")
class SlowPreview(Gate):
    """A preview that begins and ends as a gate's save does."""

    def preview_save(self, ctx: Context[Config], desired: Note) -> Note:
        Path(f"{desired.name}.fifo").read_text("utf-8")
        return desired


@provider.resource("refused@1.0")
class Refused(Notes):
    """A save that always fails with two faults, one of them of the provider's own kind."""

    async def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        raise OperationFailed.many(
            [
                Fault("QuotaSpent", f"no room for {desired.text!r}", "$.properties.text"),
                Fault("InvalidProperty", "too short\nby far", "$.properties.name"),
            ]
        )


@provider.resource("busy@1.0")
class Busy(Notes):
    """A save that asks once for another try."""

    def save(self, ctx: SaveContext[Config], desired: Note) -> Note:
        mark = Path(f"{desired.name}.tried")
        if not mark.exists():
            mark.touch()
            raise Throttled("one at a time, please", retry_after=0.01)
        return write(desired)


class Number(Properties):
    name: Identifier[str]
    value: int
    more: list[int] = []


@provider.resource("number@1.0")
class Numbers(ResourceHandler[Number, Config]):
    def save(self, ctx: SaveContext[Config], desired: Number) -> Number:
        Path(f"{desired.name}.number").write_text(f"{desired.value} {desired.more}", "utf-8")
        return desired


class Thing(Properties):
    name: Identifier[str]
    labels: dict[str, str] | None = None
    rules: list[dict[str, str]] = []
    size: int | None = None


@provider.resource("thing@1.0")
class Things(ResourceHandler[Thing, Config]):
    """Its preview is the one that is made for it."""

    def get(self, ctx: Context[Config], wanted: Thing) -> Thing | None:
        file = Path(f"{wanted.name}.thing.json")
        return Thing(**json.loads(file.read_text("utf-8"))) if file.exists() else None

    def save(self, ctx: SaveContext[Config], desired: Thing) -> Thing:
        current = self.get(ctx, desired)
        saved = desired.over(current) if current else desired
        Path(f"{desired.name}.thing.json").write_text(json.dumps(saved.model_dump()), "utf-8")
        return saved


if __name__ == "__main__":
    provider.run()
