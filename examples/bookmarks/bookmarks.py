"""Bookmarks, a JSON file each: every kind of property, a configuration, errors, and a preview of its own."""

import re
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import BaseModel, Field

from extensor import (
    Context,
    Identifier,
    Immutable,
    InvalidProperty,
    Preview,
    Properties,
    Provider,
    ReadOnly,
    ResourceHandler,
    Secret,
    WriteOnly,
    is_unknown,
    run,
)


class Config(BaseModel):
    """The configuration block of the extension."""

    folder: str = Field(description="the folder that holds the bookmarks")


class Bookmark(Properties):
    """A named place on the web."""

    name: Identifier[str] = Field(pattern="^[a-z0-9-]{1,60}$", description="what it is called")
    url: str
    owner: Immutable[str] = "nobody"
    tags: list[str] = Field(default_factory=list)
    pin: Secret[WriteOnly[str | None]] = None
    host: ReadOnly[str | None] = None


provider = Provider("bookmarks", "1.0.0", config=Config)


@provider.resource("bookmark@1.0")
class BookmarkHandler(ResourceHandler[Bookmark, Config]):
    """Plain functions, which run in worker threads. With a file for each bookmark none needs a lock."""

    def save(self, ctx: Context[Config], desired: Bookmark) -> Bookmark:
        bookmark = self._merged(ctx, desired)
        bookmark.host = host_of(bookmark.url)
        file = self._file(ctx, bookmark)
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as beside:
            beside.write(bookmark.model_dump_json(indent=2, exclude={"pin"}))
        Path(beside.name).replace(file)  # in one step: who reads meanwhile, or after a crash, finds the old or the new
        return bookmark

    def preview_save(self, ctx: Context[Config], desired: Bookmark) -> Preview[Bookmark]:
        bookmark = self._merged(ctx, desired)
        if is_unknown(bookmark.url):  # it comes from a resource that is not deployed yet
            bookmark.host = None
            return Preview(properties=bookmark, unknown=("host",))
        bookmark.host = host_of(bookmark.url)
        return Preview(properties=bookmark)

    def get(self, ctx: Context[Config], wanted: Bookmark) -> Bookmark | None:
        try:
            return Bookmark.model_validate_json(self._file(ctx, wanted).read_bytes())
        except FileNotFoundError:
            return None

    def delete(self, ctx: Context[Config], wanted: Bookmark) -> None:
        self._file(ctx, wanted).unlink(missing_ok=True)

    def _merged(self, ctx: Context[Config], desired: Bookmark) -> Bookmark:
        """What is stored with what was given put over it: a property that is absent stays as it is."""
        current = self.get(ctx, desired)
        return desired.over(current) if current else desired

    def _file(self, ctx: Context[Config], bookmark: Bookmark) -> Path:
        return Path(ctx.config.folder) / f"{bookmark.name}.json"


def host_of(url: str) -> str:
    match = re.match(r"https?://([^/]+)", url)
    if match is None:
        raise InvalidProperty("url", "expected an address such as https://example.org/")
    return match[1]


if __name__ == "__main__":
    run(provider)
